import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import type { AssetId } from "../ids.ts";
import {
  deleteAssetRows,
  listContentRefs,
  listOrphanAssets,
  markDeleted,
  softDeleteAssets,
} from "../store/asset-changes.ts";
import { deleteIndexRow } from "../store/d1/indices.ts";
import { listIndexUploads, removeUpload } from "../store/d1/uploads.ts";
import {
  type IndexDb,
  indexDatabase,
  indexDatabases,
} from "../store/index-database/index-database.ts";
import {
  deleteSegments,
  listSegmentIdsOf,
  listWrittenVectors,
} from "../store/index-database/segments.ts";
import {
  assetPrefix,
  clipPrefix,
  deletePrefix,
  indexPrefix,
  uploadsPrefix,
} from "../store/r2/object-keys.ts";
import { type VectorPair, vectorPair } from "../store/vectorize/vector-pairs.ts";
import { deleteVectorsOf } from "../store/vectorize/vectors.ts";
import type { ContentRef, IndexRef } from "../types.ts";
import type { Checkpoint } from "./slice.ts";

/** Assets, uploads and segments that are deleted together, between two checkpoints. */
const PAGE = { assets: 50, uploads: 50, segments: 250 } as const;

/** For the deletion of one asset, which no limit of the platform cuts off. */
const withoutCheckpoint: Checkpoint = async () => {};

/**
 * Deletes an asset's vectors and segments, its objects, and its row. Segments name their vectors,
 * and the row names the rest, so that an interrupted deletion can be repeated.
 */
export async function purgeAsset(env: Env, asset: ContentRef, checkpoint = withoutCheckpoint) {
  await purgeAssets(env, [asset], checkpoint);
}

/** Deletes assets of one index together, which takes as many queries of D1 as for one. */
async function purgeAssets(env: Env, assets: ContentRef[], checkpoint: Checkpoint): Promise<void> {
  await softDeleteAssets(env, assets, Date.now());
  for (const inShard of Map.groupBy(assets, ({ shard }) => shard).values()) {
    const [first] = inShard;
    const ids = inShard.map(({ assetId }) => assetId);
    await purgeSegments(indexDatabase(env, first!), vectorPair(env, first!), ids, checkpoint);
  }
  await mapConcurrent(assets, CONNECTIONS, (asset) => deletePrefix(env.MEDIA, assetPrefix(asset)));
  await deleteAssetRows(env.DB, assets);
}

async function purgeSegments(
  db: IndexDb,
  vectors: VectorPair,
  assetIds: AssetId[],
  checkpoint: Checkpoint,
): Promise<void> {
  for (;;) {
    const segmentIds = await listSegmentIdsOf(db, assetIds, PAGE.segments);
    if (segmentIds.length === 0) return;
    await deleteVectorsOf(vectors, await listWrittenVectors(db, segmentIds));
    await deleteSegments(db, segmentIds);
    if (segmentIds.length < PAGE.segments) return;
    await checkpoint();
  }
}

export async function purgeOrphanAssets(env: Env, index: IndexRef, checkpoint: Checkpoint) {
  for (const shard of index.shards) {
    const db = indexDatabase(env, { ...index, ...shard });
    for (const assetId of await listOrphanAssets(env.DB, db)) {
      await checkpoint();
      await markDeleted(db, assetId, Date.now());
      await purgeSegments(db, vectorPair(env, { ...index, ...shard }), [assetId], checkpoint);
    }
  }
}

/**
 * Deletes an index, its uploads, its assets and its orphans. Calls `onPurged` with the number of
 * assets of each page that is purged. The index's row goes last, so that an interrupted deletion
 * can be repeated. Throws `SlicePaused` if there is more to do.
 */
export async function purgeIndex(
  env: Env,
  index: IndexRef,
  onPurged: (count: number) => void,
  checkpoint: Checkpoint,
): Promise<void> {
  for (;;) {
    const uploads = await listIndexUploads(env.DB, index.indexId, PAGE.uploads);
    if (uploads.length === 0) break;
    for (const upload of uploads) await removeUpload(env, upload);
    await checkpoint();
  }
  for (;;) {
    const assets = await listContentRefs(env.DB, index.indexId, PAGE.assets);
    if (assets.length === 0) break;
    await purgeAssets(env, assets, checkpoint);
    onPurged(assets.length);
    await checkpoint();
  }
  await deletePrefix(env.MEDIA, indexPrefix(index), checkpoint);
  await purgeOrphanAssets(env, index, checkpoint);
  for (const db of indexDatabases(env, index)) await db.close();
  await deletePrefix(env.MEDIA, indexPrefix(index), checkpoint); // of late writes
  await deletePrefix(env.MEDIA, clipPrefix(index.indexId), checkpoint);
  await deletePrefix(env.MEDIA, uploadsPrefix(index.indexId), checkpoint);
  await deleteIndexRow(env.DB, index.indexId);
}
