import { type ContentRef, listContentRefs } from "../store/assets.ts";
import { deleteArchive } from "../store/archive.ts";
import { deleteIndexRow } from "../store/indices.ts";
import { indexDatabase, indexDatabases } from "../store/index-database.ts";
import {
  archiveKey,
  assetPrefix,
  clipPrefix,
  deletePrefix,
  headObject,
  indexPrefix,
  uploadsPrefix,
} from "../store/object-keys.ts";
import { listOrphanAssets, markDeleted } from "../store/mirror.ts";
import { softDeleteAsset, deleteAssetRow } from "../store/deletions.ts";
import { deleteSegments, listSegments } from "../store/segments.ts";
import { removeUpload } from "../store/upload-objects.ts";
import { listIndexUploads } from "../store/upload-lists.ts";
import { vectorPair } from "../store/vector-pairs.ts";
import { deleteSegmentVectors } from "../store/vectors.ts";
import type { IndexRef } from "../types.ts";
import { deleteOrphanVectors } from "./orphan-vectors.ts";
import { probeImageModel } from "./image-model.ts";

const PAGE = 100;

/**
 * Deletes an asset's vectors and segments, its objects, and its row. Segments name their vectors,
 * and the row names the rest, so that an interrupted deletion can be repeated.
 */
export async function purgeAsset(env: Env, asset: ContentRef): Promise<void> {
  await softDeleteAsset(env, asset, Date.now());
  await deleteArchive(env.MEDIA, asset); // first: what has a record and no row is restored
  await purgeSegments(env, asset);
  await deletePrefix(env.MEDIA, assetPrefix(asset));
  await deleteAssetRow(env.DB, asset.assetId);
}

/** Deletes the segments of an asset with their vectors, page by page. */
async function purgeSegments(env: Env, asset: Omit<ContentRef, "accountId">): Promise<void> {
  const { assetId } = asset;
  const [db, vectors] = [indexDatabase(env, asset), vectorPair(env, asset)];
  for (let to = PAGE; ; to += PAGE) {
    const segments = await listSegments(db, assetId, 0, to);
    if (segments.length === 0) return;
    await deleteSegmentVectors(
      vectors,
      segments.map(({ segmentId }) => segmentId),
    );
    await deleteSegments(db, assetId, to);
  }
}

/**
 * Deletes the segments that an index's databases have of assets without a row. Leaves those with an
 * archive record, which restores the row.
 */
export async function purgeOrphanAssets(env: Env, index: IndexRef): Promise<void> {
  for (const shard of index.shards) {
    const db = indexDatabase(env, { ...index, ...shard });
    for (const assetId of await listOrphanAssets(env.DB, db)) {
      if (await headObject(env.MEDIA, archiveKey({ ...index, assetId }))) continue;
      await markDeleted(db, assetId, Date.now());
      await purgeSegments(env, { ...shard, indexId: index.indexId, assetId });
    }
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
    const assets = await listContentRefs(env.DB, index.indexId, PAGE);
    if (assets.length === 0) break;
    for (const asset of assets) await purgeAsset(env, asset);
    purgedCount += assets.length;
    await onProgress(purgedCount);
  }
  await deletePrefix(env.MEDIA, indexPrefix(index));
  await purgeOrphanAssets(env, index);
  await deleteOrphanVectors(env, index, await probeImageModel(env));
  for (const db of indexDatabases(env, index)) await db.close();
  await deletePrefix(env.MEDIA, indexPrefix(index)); // of late writes
  await deletePrefix(env.MEDIA, clipPrefix(index.indexId));
  await deletePrefix(env.MEDIA, uploadsPrefix(index.indexId));
  await deleteIndexRow(env.DB, index.indexId);
  return purgedCount;
}
