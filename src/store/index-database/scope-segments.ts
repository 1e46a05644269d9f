import type { SegmentId } from "../../ids.ts";
import type { Segment } from "../../types.ts";
import { inChunks, raw, sql } from "../sql.ts";
import { type AssetScope, isInScope } from "./asset-scope.ts";
import type { IndexDb } from "./index-database.ts";
import type { AssetTimeRangeMs } from "./segments.ts";

/**
 * Lists the ids of at most `limit` segments in a scope that don't match an FTS5 expression, of the
 * assets that became searchable last.
 */
export async function listNewestSegments(
  databases: readonly IndexDb[],
  scope: AssetScope,
  without: string | null,
  limit: number,
): Promise<SegmentId[]> {
  const condition =
    without === null
      ? raw("true")
      : sql`segment_key NOT IN (SELECT rowid FROM segment_fts WHERE segment_fts MATCH ${without})`;
  const statement = sql`SELECT segment_id AS segmentId, searchable_at AS searchableAt
    FROM (
      SELECT asset_key, searchable_at FROM assets WHERE ${isInScope(scope)}
      ORDER BY searchable_at DESC, asset_key DESC LIMIT ${limit}
    ) JOIN segments USING (asset_key)
    WHERE ${condition} ORDER BY searchable_at DESC, asset_key DESC, position LIMIT ${limit}`;
  const rows = await Promise.all(
    databases.map((db) => db.all<{ segmentId: SegmentId; searchableAt: number }>(statement)),
  );
  return rows
    .flat()
    .toSorted((a, b) => b.searchableAt - a.searchableAt)
    .slice(0, limit)
    .map(({ segmentId }) => segmentId);
}

/** A segment in time, in its asset. */
type SegmentTimes = Pick<Segment, "segmentId" | "assetId" | "startMs" | "endMs">;

/** Lists the segments that overlap or meet time ranges of their videos. */
export async function listSegmentTimes(
  databases: readonly IndexDb[],
  ranges: readonly AssetTimeRangeMs[],
): Promise<SegmentTimes[]> {
  const statements = inChunks([...ranges]).map(
    (chunk) => sql`SELECT DISTINCT segment_id AS segmentId, asset_id AS assetId,
        start_ms AS startMs, end_ms AS endMs
      FROM json_each(${chunk})
      JOIN assets ON asset_id = value ->> 'assetId' AND deleted_at IS NULL
      JOIN segments USING (asset_key)
      WHERE start_ms <= value ->> 'endMs' AND end_ms >= value ->> 'startMs'`,
  );
  if (statements.length === 0) return [];
  const found = await Promise.all(databases.map((db) => db.batch(statements)));
  return found.flat(2) as SegmentTimes[];
}
