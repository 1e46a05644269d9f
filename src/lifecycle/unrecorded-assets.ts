import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import type { AssetId } from "../ids.ts";
import { getArchive } from "../store/archive.ts";
import type { StoredArchive } from "../store/archive-record.ts";
import { insertStoredAsset } from "../store/archived-rows.ts";
import { getAsset, getAssetByBytes } from "../store/assets.ts";
import { indexDatabases } from "../store/index-database.ts";
import { restoreFacts, wasDeleted } from "../store/mirror.ts";
import { listStoredAssets } from "../store/object-keys.ts";
import { listMissingAssets } from "../store/orphans.ts";
import type { IndexRef } from "../types.ts";
import { inBatches, type RepairContext } from "./repair-context.ts";

/** Assets that an index has objects of in R2, and no row in D1. */
export interface UnrecordedAssets {
  /** Their row is lost: the archive record restores it. */
  restorable: AssetId[];
  /** They never had a row, or were deleted. */
  orphaned: AssetId[];
}

/**
 * Finds objects without a row. An asset is lost, and not deleted, if it has an archive record: a
 * deletion deletes that before anything else, and a row of the index's database says for a day what
 * was deleted. It isn't lost if the index has its bytes again.
 */
export async function findUnrecordedAssets(env: Env, index: IndexRef): Promise<UnrecordedAssets> {
  const unrecorded: UnrecordedAssets = { restorable: [], orphaned: [] };
  for await (const ids of listStoredAssets(env.MEDIA, index)) {
    const missing = await listMissingAssets(env.DB, index.indexId, ids);
    await mapConcurrent(missing, CONNECTIONS, async (assetId) => {
      const isRestorable = (await getRestorableRecord(env, index, assetId)) !== null;
      unrecorded[isRestorable ? "restorable" : "orphaned"].push(assetId);
    });
  }
  return unrecorded;
}

async function getRestorableRecord(
  env: Env,
  index: IndexRef,
  assetId: AssetId,
): Promise<StoredArchive | null> {
  const record = await getArchive(env.MEDIA, { ...index, assetId });
  if (!record || (await getAssetByBytes(env.DB, index.indexId, record.sha256))) return null;
  const databases = indexDatabases(env, index);
  const deletions = await Promise.all(databases.map((db) => wasDeleted(db, assetId)));
  return deletions.includes(true) ? null : record;
}

/** Inserts the rows of lost assets, and copies their facts to the index's database. */
export async function restoreUnrecordedAssets(
  env: Env,
  index: IndexRef,
  checkpoint: RepairContext["checkpoint"],
): Promise<void> {
  const { restorable } = await findUnrecordedAssets(env, index);
  await inBatches(restorable, 1, checkpoint, async ([assetId]) => {
    const record = await getRestorableRecord(env, index, assetId!);
    if (!record) return;
    await insertStoredAsset(env.DB, index, record, Date.now());
    const asset = await getAsset(env.DB, assetId!);
    if (asset) await restoreFacts(env, asset);
  });
}
