import type { AccountId, IndexId } from "../ids.ts";
import type { AssetState, AssetType } from "../types.ts";

export interface Tally {
  indexId: IndexId;
  assetType: AssetType;
  state: AssetState;
  assets: number;
  segments: number;
  durationMs: number;
  sizeBytes: number;
}

const COLUMNS = `index_id AS indexId, asset_type AS assetType, state, assets, segments,
  duration_ms AS durationMs, size_bytes AS sizeBytes`;

/** What the assets of each of the account's indices add up to, by type and state. */
export async function listTallies(
  db: D1Database,
  accountId: AccountId,
  indexId?: IndexId,
): Promise<Tally[]> {
  const { results } = await db
    .prepare(
      `SELECT ${COLUMNS} FROM tallies JOIN indices USING (index_id, account_id)
       WHERE account_id = ?1 AND (?2 IS NULL OR index_id = ?2) AND deleted_at IS NULL`,
    )
    .bind(accountId, indexId ?? null)
    .all<Tally>();
  return results;
}

/** What the assets of an index add up to, as `tallies` has it. */
const ACTUAL = `SELECT account_id, index_id, asset_type, state, COUNT(*), SUM(segments), SUM(duration_ms), SUM(size_bytes)
  FROM assets WHERE index_id = ?1 GROUP BY account_id, index_id, asset_type, state`;
const KEPT = `SELECT account_id, index_id, asset_type, state, assets, segments, duration_ms, size_bytes
  FROM tallies WHERE index_id = ?1 AND (assets <> 0 OR segments <> 0 OR duration_ms <> 0 OR size_bytes <> 0)`;

/** Whether the tallies of an index are what its assets add up to. */
export async function areTalliesRight(db: D1Database, indexId: IndexId): Promise<boolean> {
  const wrong = await db
    .prepare(
      `SELECT COUNT(*) AS wrong FROM (
         SELECT * FROM (${ACTUAL} EXCEPT ${KEPT}) UNION ALL SELECT * FROM (${KEPT} EXCEPT ${ACTUAL})
       )`,
    )
    .bind(indexId)
    .first<number>("wrong");
  return wrong === 0;
}

/** Adds up what the assets of an index are. */
export async function recountTallies(db: D1Database, indexId: IndexId): Promise<void> {
  await db.batch([
    db.prepare("DELETE FROM tallies WHERE index_id = ?").bind(indexId),
    db.prepare(`INSERT INTO tallies ${ACTUAL}`).bind(indexId),
  ]);
}
