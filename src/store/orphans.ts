import type { AssetId, IndexId, SegmentId } from "../ids.ts";
import type { IndexDb } from "./index-database/index-database.ts";
import { all, inList, sql, whereMissing } from "./sql.ts";

/** Lists the asset ids that an index has no row for. */
export async function listMissingAssets(
  db: D1Database,
  indexId: IndexId,
  ids: AssetId[],
): Promise<AssetId[]> {
  const row = sql`SELECT 1 FROM assets WHERE asset_id = value AND index_id = ${indexId}`;
  const rows = await all<{ id: AssetId }>(db, whereMissing(ids, row));
  return rows.map(({ id }) => id);
}

/** Lists those of some SHA-256 that an index has a file of. */
export async function listStoredHashes(
  db: D1Database,
  indexId: IndexId,
  hashes: string[],
): Promise<string[]> {
  const stored = sql`SELECT sha256 FROM assets
    WHERE index_id = ${indexId} AND sha256 ${inList(hashes)}`;
  const rows = await all<{ sha256: string }>(db, stored);
  return rows.map(({ sha256 }) => sha256);
}

/** Lists the segment ids that an index has no row for. */
export async function listUnknownSegments(db: IndexDb, ids: string[]): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    sql`SELECT segment_id AS id FROM segments WHERE segment_id ${inList(ids)}`,
  );
  const known = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}

/** Lists the first segment of each asset of an index, at most 1000, by asset creation. */
export async function listFirstSegments(db: IndexDb): Promise<SegmentId[]> {
  const rows = await db.all<{ id: SegmentId }>(
    sql`SELECT segment_id AS id FROM assets CROSS JOIN segments USING (asset_key)
      WHERE position = 0 ORDER BY substr(asset_id, 5) LIMIT 1000`,
  );
  return rows.map(({ id }) => id);
}
