import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { LIFECYCLE } from "../config.ts";
import { failureOf } from "../errors.ts";
import type { AssetId } from "../ids.ts";
import { getArchive } from "../store/archive.ts";
import { getAsset } from "../store/d1/assets.ts";
import { insertStoredAsset } from "../store/d1/stored-assets.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { listDeleted, restoreFacts } from "../store/mirror.ts";
import { listMissingAssets, listStoredHashes } from "../store/orphans.ts";
import type { StoredArchive } from "../store/r2/archive-record.ts";
import { listStoredAssets } from "../store/r2/object-keys.ts";
import type { IndexRef } from "../types.ts";

/** Assets that an index has objects of in R2, and no row in D1. */
export interface UnrecordedAssets {
  /** Archive records of those whose row is lost: `LIFECYCLE.maxRestored` at most. */
  restorable: StoredArchive[];
  /**
   * They never had a row, or were deleted. All of them unless there are too many `restorable`.
   * Those whose record can't be read are in neither list: they stay as they are.
   */
  orphaned: AssetId[];
}

/**
 * Finds objects without a row. An asset is lost, and not deleted, if it has an archive record: a
 * deletion deletes that before anything else, and a row of the index's database says for a day what
 * was deleted. It isn't lost if the index has its bytes again.
 */
export async function findUnrecordedAssets(env: Env, index: IndexRef): Promise<UnrecordedAssets> {
  const found: UnrecordedAssets = { restorable: [], orphaned: [] };
  for await (const ids of listStoredAssets(env.MEDIA, index)) {
    const missing = await listMissingAssets(env.DB, index.indexId, ids);
    if (missing.length === 0) continue;
    const deleted = await listDeletedIds(env, index, missing);
    const records = await mapConcurrent(missing, CONNECTIONS, async (assetId) =>
      deleted.has(assetId) ? null : readRecord(env, { ...index, assetId }),
    );
    const hashes = records.flatMap((record) =>
      record === UNREADABLE ? [] : (record?.sha256 ?? []),
    );
    const present = new Set(await listStoredHashes(env.DB, index.indexId, hashes));
    for (const [i, record] of records.entries()) {
      if (record === UNREADABLE) continue;
      if (record && !present.has(record.sha256)) found.restorable.push(record);
      else found.orphaned.push(missing[i]!);
      if (found.restorable.length === LIFECYCLE.maxRestored) return found;
    }
  }
  return found;
}

const UNREADABLE = "unreadable";

async function readRecord(env: Env, asset: Omit<IndexRef, "shards"> & { assetId: AssetId }) {
  try {
    return await getArchive(env.MEDIA, asset);
  } catch (error) {
    if (failureOf(error).code === "conflict") return UNREADABLE;
    throw error;
  }
}

async function listDeletedIds(
  env: Env,
  index: IndexRef,
  assetIds: AssetId[],
): Promise<Set<AssetId>> {
  const databases = indexDatabases(env, index);
  const deleted = await Promise.all(databases.map((db) => listDeleted(db, assetIds)));
  return new Set(deleted.flat());
}

/** Inserts the rows of lost assets, and copies their facts to the index's database. */
export async function restoreAssets(
  env: Env,
  index: IndexRef,
  records: StoredArchive[],
): Promise<void> {
  for (const record of records) {
    const assetId = await insertStoredAsset(env.DB, index, record, Date.now());
    const asset = await getAsset(env.DB, assetId);
    if (asset) await restoreFacts(env, asset);
  }
}
