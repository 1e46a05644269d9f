import type { AccountId, AssetId, IndexId } from "../ids.ts";
import { listAssetIds } from "../store/assets.ts";
import { deleteIndexRow } from "../store/indices.ts";
import {
  assetPrefix,
  clipPrefix,
  deletePrefix,
  indexPrefix,
  uploadsPrefix,
} from "../store/object-keys.ts";
import { deleteOrphanRows } from "../store/orphans.ts";
import { softDeleteAsset, deleteAssetRow } from "../store/deletions.ts";
import { listSegments } from "../store/segments.ts";
import { removeUpload } from "../store/upload-objects.ts";
import { listIndexUploads } from "../store/upload-lists.ts";
import { deleteSegmentVectors } from "../store/vectors.ts";
import { deleteOrphanVectors } from "./orphan-vectors.ts";
import { probeImageModel } from "./image-model.ts";

const PAGE = 100;

interface IndexRef {
  accountId: AccountId;
  indexId: IndexId;
}

/**
 * Deletes an asset's vectors, objects and rows, in this order. The rows name the rest and go last,
 * so that an interrupted deletion can be repeated.
 */
export async function purgeAsset(env: Env, index: IndexRef, assetId: AssetId): Promise<void> {
  await softDeleteAsset(env.DB, assetId, Date.now());
  for (let from = 0; ; from += PAGE) {
    const segments = await listSegments(env.DB, assetId, from, from + PAGE);
    if (segments.length === 0) break;
    await deleteSegmentVectors(
      env,
      segments.map(({ segmentId }) => segmentId),
    );
  }
  await deletePrefix(env.MEDIA, assetPrefix({ ...index, assetId }));
  await deleteAssetRow(env.DB, assetId);
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
  await deleteOrphanVectors(env, index.indexId, await probeImageModel(env));
  await deleteOrphanRows(env.DB, index.indexId);
  await deletePrefix(env.MEDIA, indexPrefix(index));
  await deletePrefix(env.MEDIA, clipPrefix(index.indexId));
  await deletePrefix(env.MEDIA, uploadsPrefix(index.indexId));
  await deleteIndexRow(env.DB, index.indexId);
  return purgedCount;
}
