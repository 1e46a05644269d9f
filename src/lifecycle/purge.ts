import type { AssetId, IndexId } from "../ids.ts";
import { listAssetIds } from "../store/assets.ts";
import { deleteIndexRow } from "../store/indices.ts";
import { indexDatabase } from "../store/index-database.ts";
import {
  assetPrefix,
  clipPrefix,
  deletePrefix,
  indexPrefix,
  uploadsPrefix,
} from "../store/object-keys.ts";
import { listOrphanAssets, markDeleted } from "../store/mirror.ts";
import { softDeleteAsset, deleteAssetRow } from "../store/deletions.ts";
import { deleteSegments, listSegments } from "../store/segments.ts";
import { removeUpload } from "../store/upload-objects.ts";
import { listIndexUploads } from "../store/upload-lists.ts";
import { deleteSegmentVectors } from "../store/vectors.ts";
import type { IndexRef } from "../types.ts";
import { deleteOrphanVectors } from "./orphan-vectors.ts";
import { probeImageModel } from "./image-model.ts";

const PAGE = 100;

/**
 * Deletes an asset's vectors and segments, its objects, and its row. Segments name their vectors,
 * and the row names the rest, so that an interrupted deletion can be repeated.
 */
export async function purgeAsset(env: Env, index: IndexRef, assetId: AssetId): Promise<void> {
  await softDeleteAsset(env, { indexId: index.indexId, assetId }, Date.now());
  await purgeSegments(env, index, assetId);
  await deletePrefix(env.MEDIA, assetPrefix({ ...index, assetId }));
  await deleteAssetRow(env.DB, assetId);
}

/** Deletes the segments of an asset with their vectors, page by page. */
async function purgeSegments(
  env: Env,
  { indexId }: Pick<IndexRef, "indexId">,
  assetId: AssetId,
): Promise<void> {
  const db = indexDatabase(env, { indexId });
  for (let to = PAGE; ; to += PAGE) {
    const segments = await listSegments(db, assetId, 0, to);
    if (segments.length === 0) return;
    await deleteSegmentVectors(
      env,
      segments.map(({ segmentId }) => segmentId),
    );
    await deleteSegments(db, assetId, to);
  }
}

/** Deletes the segments that an index's database has of assets without a record. */
export async function purgeOrphanAssets(env: Env, indexId: IndexId): Promise<void> {
  const db = indexDatabase(env, { indexId });
  for (const assetId of await listOrphanAssets(env.DB, db)) {
    await markDeleted(db, assetId, Date.now());
    await purgeSegments(env, { indexId }, assetId);
  }
}

/**
 * Deletes an index, its uploads, its assets and its orphans. Calls `onProgress` with the number of
 * assets purged so far, and returns it. The index's row goes last, so that an interrupted deletion
 * can be repeated.
 */
export async function purgeIndex(
  env: Env,
  index: IndexRef,
  onProgress: (purgedCount: number) => Promise<unknown>,
): Promise<number> {
  let purgedCount = 0;
  for (;;) {
    const uploads = await listIndexUploads(env.DB, index.indexId, PAGE);
    if (uploads.length === 0) break;
    for (const upload of uploads) await removeUpload(env, upload);
  }
  for (;;) {
    const ids = await listAssetIds(env.DB, index.indexId, PAGE);
    if (ids.length === 0) break;
    for (const assetId of ids) await purgeAsset(env, index, assetId);
    purgedCount += ids.length;
    await onProgress(purgedCount);
  }
  await purgeOrphanAssets(env, index.indexId);
  await deleteOrphanVectors(env, index.indexId, await probeImageModel(env));
  await indexDatabase(env, index).close();
  await deletePrefix(env.MEDIA, indexPrefix(index));
  await deletePrefix(env.MEDIA, clipPrefix(index.indexId));
  await deletePrefix(env.MEDIA, uploadsPrefix(index.indexId));
  await deleteIndexRow(env.DB, index.indexId);
  return purgedCount;
}
