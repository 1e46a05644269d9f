import type { AccountId, IndexId } from "../../ids.ts";
import type { AssetState, AssetType } from "../../types.ts";
import { all, batch, concat, firstValue, raw, sql, type SqlFragment } from "../sql.ts";

/** Sums over the assets of an index with one type and state. */
export interface Tally {
  indexId: IndexId;
  assetType: AssetType;
  state: AssetState;
  assets: number;
  segments: number;
  durationMs: number;
  sizeBytes: number;
}

const COLUMNS = raw(`index_id AS indexId, asset_type AS assetType, state, assets, segments,
  duration_ms AS durationMs, size_bytes AS sizeBytes`);

/** Lists the tallies of an account's indices, or of one of them. */
export async function listTallies(
  db: D1Database,
  accountId: AccountId,
  indexId?: IndexId,
): Promise<Tally[]> {
  return all<Tally>(
    db,
    sql`SELECT ${COLUMNS} FROM tallies JOIN indices USING (index_id, account_id)
      WHERE account_id = ${accountId} AND (${indexId ?? null} IS NULL
        OR index_id = ${indexId ?? null}) AND deleted_at IS NULL`,
  );
}

/** Condition for the tallies of an index, by their primary key. */
export function ofIndex(indexId: IndexId): SqlFragment {
  return sql`(tallies.account_id, tallies.index_id) IN (
    SELECT account_id, index_id FROM indices WHERE index_id = ${indexId})`;
}

/** Statement that counts the assets of an index with these types and states, as `total`. */
export function countAssets(indexId: IndexId, filters: readonly SqlFragment[]): SqlFragment {
  const isCounted = concat([ofIndex(indexId), ...filters], " AND ");
  return sql`SELECT SUM(assets) AS total FROM tallies WHERE ${isCounted}`;
}

/** Computes the tallies of an index from its assets. */
const computedTallies = (indexId: IndexId) =>
  sql`SELECT account_id, index_id, asset_type, state, COUNT(*), SUM(segments), SUM(duration_ms),
      SUM(size_bytes)
    FROM assets WHERE index_id = ${indexId} GROUP BY account_id, index_id, asset_type, state`;
const storedTallies = (indexId: IndexId) =>
  sql`SELECT account_id, index_id, asset_type, state, assets, segments, duration_ms, size_bytes
    FROM tallies WHERE ${ofIndex(indexId)}
      AND (assets <> 0 OR segments <> 0 OR duration_ms <> 0 OR size_bytes <> 0)`;

/** Whether the stored tallies of an index equal the ones computed from its assets. */
export async function areTalliesCorrect(db: D1Database, indexId: IndexId): Promise<boolean> {
  const [computed, stored] = [computedTallies(indexId), storedTallies(indexId)];
  const differences = await firstValue<number>(
    db,
    sql`SELECT COUNT(*) AS differences FROM (
      SELECT * FROM (${computed} EXCEPT ${stored})
      UNION ALL SELECT * FROM (${stored} EXCEPT ${computed})
    )`,
  );
  return differences === 0;
}

/** Replaces the tallies of an index by the ones computed from its assets. */
export async function recountTallies(db: D1Database, indexId: IndexId): Promise<void> {
  await batch(db, [
    sql`DELETE FROM tallies WHERE ${ofIndex(indexId)}`,
    sql`INSERT INTO tallies ${computedTallies(indexId)}`,
  ]);
}
