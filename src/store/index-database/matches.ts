import type { AssetId, SegmentId, WatchId } from "../../ids.ts";
import type { AssetType } from "../../types.ts";
import { inChunks, inList, parseColumns, raw, sql } from "../sql.ts";
import { type AssetScope, isInScope } from "./asset-scope.ts";
import { allRows, type IndexDb } from "./index-database.ts";
import { ofAsset } from "./segments.ts";

/** What is stored of a match beside its score: JSON in the form of a search's hit. */
type MatchDetails = Record<string, unknown> & { duplicates: string[] };

export interface NewMatch {
  watchId: WatchId;
  segmentId: SegmentId;
  score: number;
  details: MatchDetails;
}

/** A stored match. Times are epoch ms, and of media in ms. */
export interface StoredMatch extends NewMatch {
  /** Grows with each match of the database. */
  matchKey: number;
  assetId: AssetId;
  assetType: AssetType;
  title: string;
  startMs: number | null;
  endMs: number | null;
  matchedAt: number;
}

const SELECT_MATCHES = raw(`SELECT match_key AS matchKey, watch_id AS watchId,
    matches.segment_id AS segmentId, asset_id AS assetId, asset_type AS assetType, title,
    start_ms AS startMs, end_ms AS endMs, score, details, matched_at AS matchedAt
  FROM matches JOIN segments USING (segment_key) JOIN assets USING (asset_key)`);

const toMatch = (row: StoredMatch): StoredMatch => parseColumns(row, ["details"]);

export async function putMatches(db: IndexDb, matches: readonly NewMatch[]): Promise<void> {
  const rows = matches.map(({ watchId, segmentId, score, details }) => {
    return [segmentId, watchId, score, JSON.stringify(details)];
  });
  for (const chunk of inChunks(rows)) {
    await db.batch([
      sql`INSERT OR IGNORE INTO matches
          (watch_id, segment_key, segment_id, score, details, matched_at)
        SELECT value ->> 1, segment_key, segment_id, value ->> 2, value ->> 3, ${Date.now()}
        FROM json_each(${chunk}) JOIN segments ON segment_id = value ->> 0`,
    ]);
  }
}

/** Returns the segments of an asset that have matched each watch, with their near-duplicates. */
export async function listMatched(db: IndexDb, assetId: AssetId) {
  const rows = await db.all<{ watchId: WatchId; segmentId: SegmentId; duplicates: string }>(
    sql`SELECT watch_id AS watchId, segment_id AS segmentId,
        details -> '$.duplicates' AS duplicates
      FROM matches WHERE segment_key IN (
        SELECT segment_key FROM segments WHERE ${ofAsset(assetId)})`,
  );
  const matched = new Map<WatchId, Set<string>>();
  for (const { watchId, segmentId, duplicates } of rows) {
    const ids = matched.get(watchId) ?? new Set();
    for (const id of [segmentId, ...(JSON.parse(duplicates) as string[])]) ids.add(id);
    matched.set(watchId, ids);
  }
  return matched;
}

export async function listMatchesSince(db: IndexDb, after: number, limit: number) {
  const rows = await db.all<StoredMatch>(
    sql`${SELECT_MATCHES} WHERE match_key > ${after} ORDER BY match_key LIMIT ${limit}`,
  );
  return rows.map(toMatch);
}

/** Lists the first matches of a watch behind a segment, of the newest assets first. */
export async function listMatches(
  databases: readonly IndexDb[],
  watchId: WatchId,
  after: string,
  limit: number,
): Promise<StoredMatch[]> {
  const statement = sql`${SELECT_MATCHES} WHERE watch_id = ${watchId}
    AND (${after} = '' OR matches.segment_id < ${after})
    ORDER BY matches.segment_id DESC LIMIT ${limit}`;
  const rows = await allRows<StoredMatch>(databases, statement);
  rows.sort((a, b) => (a.segmentId < b.segmentId ? 1 : -1));
  return rows.slice(0, limit).map(toMatch);
}

export async function countMatches(databases: readonly IndexDb[], watchIds: readonly WatchId[]) {
  const statement = sql`SELECT watch_id AS watchId, COUNT(*) AS count FROM matches
    WHERE watch_id ${inList(watchIds)} GROUP BY watch_id`;
  const counts = new Map<WatchId, number>();
  type Row = { watchId: WatchId; count: number };
  for (const { watchId, count } of await allRows<Row>(databases, statement)) {
    counts.set(watchId, count + (counts.get(watchId) ?? 0));
  }
  return counts;
}

export async function deleteMatches(databases: readonly IndexDb[], watchId: WatchId) {
  for (const db of databases) {
    await db.batch([sql`DELETE FROM matches WHERE watch_id = ${watchId}`]);
  }
}

/** Tests for each scope whether it includes an asset. */
export async function findScopesOf(db: IndexDb, assetId: AssetId, scopes: readonly AssetScope[]) {
  const statements = scopes.map(
    (scope) => sql`SELECT asset_id FROM assets
      WHERE asset_id = ${assetId} AND deleted_at IS NULL AND ${isInScope(scope)}`,
  );
  return (await db.batch(statements)).map((rows) => rows.length > 0);
}
