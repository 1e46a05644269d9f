import type { AssetState, AssetType } from "../types.ts";

export interface Tally {
  indexId: string;
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
  accountId: string,
  indexId?: string,
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
