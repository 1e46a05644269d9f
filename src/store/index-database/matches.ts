import type { AssetId, SegmentId, WatchId } from "../../ids.ts";
import { type AssetType, type Segment } from "../../types.ts";
import { inChunks, inList, parseColumns, raw, sql } from "../sql.ts";
import { type AssetScope, isInScope } from "./asset-scope.ts";
import { KEYFRAME_HASHES, toKeyframeHash } from "./find-segments.ts";
import type { IndexDb } from "./index-database.ts";
import { ofAsset, SEGMENT_COLUMNS, type SegmentRow, toSegment } from "./segments.ts";

/** What is stored of a match beside its score: JSON in the form of a search's hit. */
type MatchDetails = Record<string, unknown> & { duplicates: string[] };

/** A match to store. */
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

/**
 * Replaces the matches of an asset that isn't searchable yet: they count when it is. Those of a
 * searchable asset count at once. A segment matches a watch once.
 */
export async function putMatches(
  db: IndexDb,
  assetId: AssetId,
  matches: readonly NewMatch[],
): Promise<void> {
  const rows = matches.map(({ watchId, segmentId, score, details }) => {
    return [segmentId, watchId, score, JSON.stringify(details)];
  });
  const segments = sql`SELECT segment_key FROM segments WHERE ${ofAsset(assetId)}`;
  await db.batch([
    sql`DELETE FROM new_matches WHERE segment_key IN (${segments})`,
    ...inChunks(rows).map(
      (chunk) => sql`INSERT OR REPLACE INTO new_matches
        SELECT segment_key, value ->> 1, value ->> 2, value ->> 3
        FROM json_each(${chunk}) JOIN segments ON segment_id = value ->> 0`,
    ),
    // Runs the trigger that moves the matches.
    sql`UPDATE assets SET searchable_at = searchable_at
      WHERE asset_id = ${assetId} AND searchable_at IS NOT NULL`,
  ]);
}

/** Returns the segments of an asset that have matched each watch, with their near-duplicates. */
export async function listMatched(
  db: IndexDb,
  assetId: AssetId,
): Promise<Map<WatchId, Set<string>>> {
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

/** Lists the matches of a database that came after one, in their order. */
export async function listMatchesSince(
  db: IndexDb,
  after: number,
  limit: number,
): Promise<StoredMatch[]> {
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
  const rows = await Promise.all(databases.map((db) => db.all<StoredMatch>(statement)));
  return rows
    .flat()
    .map(toMatch)
    .toSorted((a, b) => (a.segmentId < b.segmentId ? 1 : -1))
    .slice(0, limit);
}

/** Counts the matches of watches. */
export async function countMatches(
  databases: readonly IndexDb[],
  watchIds: readonly WatchId[],
): Promise<Map<WatchId, number>> {
  const statement = sql`SELECT watch_id AS watchId, COUNT(*) AS count FROM matches
    WHERE watch_id ${inList(watchIds)} GROUP BY watch_id`;
  const counts = new Map<WatchId, number>();
  for (const db of databases) {
    for (const { watchId, count } of await db.all<{ watchId: WatchId; count: number }>(statement)) {
      counts.set(watchId, count + (counts.get(watchId) ?? 0));
    }
  }
  return counts;
}

/** Deletes the matches of a watch. */
export async function deleteMatches(databases: readonly IndexDb[], watchId: WatchId) {
  for (const db of databases) {
    await db.batch([
      sql`DELETE FROM matches WHERE watch_id = ${watchId}`,
      sql`DELETE FROM new_matches WHERE watch_id = ${watchId}`,
    ]);
  }
}

/** A segment with what near-duplicates are compared by. */
export interface SegmentWithHash {
  segment: Segment;
  keyframeHash: number[] | null;
}

/** Lists an asset's segments, or those with some ids, with the hashes of their keyframes. */
export async function listSegmentsWithHashes(
  db: IndexDb,
  assetId: AssetId,
  ids: readonly SegmentId[] | null,
): Promise<SegmentWithHash[]> {
  const rows = await db.allByPosition<SegmentRow & { keyframeHashes: ArrayBuffer | null }>(
    (after) => sql`SELECT asset_id AS assetId, ${raw(SEGMENT_COLUMNS)}, ${raw(KEYFRAME_HASHES)}
      FROM segments JOIN assets USING (asset_key)
      WHERE asset_id = ${assetId} AND position > ${after}
        AND (${ids === null ? 1 : 0} OR segment_id ${inList(ids ?? [])})
      ORDER BY position`,
  );
  return rows.map(({ keyframeHashes, ...row }) => ({
    segment: toSegment(db.indexId, row),
    keyframeHash: toKeyframeHash(new Uint32Array(keyframeHashes ?? [])),
  }));
}

/** Counts those of some segments that have text. A caption by `labelModel` only lists labels. */
export async function countWithText(
  databases: readonly IndexDb[],
  ids: readonly SegmentId[],
  labelModel: string,
): Promise<number> {
  const counts = await Promise.all(
    databases.map((db) =>
      db.all<{ count: number }>(sql`SELECT COUNT(*) AS count FROM segments
        WHERE segment_id ${inList(ids)}
          AND (transcript <> '' OR on_screen_text <> ''
            OR caption <> '' AND caption_model IS NOT ${labelModel})`),
    ),
  );
  return counts.flat().reduce((sum, { count }) => sum + count, 0);
}

/** Tests for each scope whether it includes an asset, as it will be when it is searchable. */
export async function findScopesOf(
  db: IndexDb,
  assetId: AssetId,
  scopes: readonly AssetScope[],
): Promise<boolean[]> {
  const found = await db.batch(
    scopes.map((scope) => {
      return sql`SELECT asset_id AS assetId FROM assets
        WHERE asset_id = ${assetId} AND deleted_at IS NULL
          AND ${isInScope({ ...scope, readyBy: null })}`;
    }),
  );
  return found.map((rows) => rows.length > 0);
}
