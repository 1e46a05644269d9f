import { MAX_DESCRIPTION } from "../../description.ts";
import type { Failure } from "../../errors.ts";
import { type AssetId, type IndexId, isIdText, type SegmentId } from "../../ids.ts";
import type { TimeRangeMs } from "../../time-range.ts";
import type { Asset, Description, Segment } from "../../types.ts";
import {
  inChunks,
  inList,
  type Page,
  type PageRequest,
  parseColumns,
  raw,
  sql,
  type SqlFragment,
  toPage,
} from "../sql.ts";
import type { IndexDb } from "./index-database.ts";

/** Time of the keyframe of a segment of sound, which has none. */
export const NO_KEYFRAME_MS = -1;

/** SQL that tests whether a segment has a stored keyframe, with or without a description. */
export const HAS_KEYFRAME = `(segments.keyframe_ms >= 0 AND (segments.error IS NULL OR EXISTS (
    SELECT 1 FROM signatures
    WHERE signatures.segment_key = segments.segment_key AND signatures.frame_ms IS NULL
  )))`;

/** Selects a text of a segment. What was stored before there was a limit is cut to it. */
export const textOf = (column: string) => `substr(${column}, 1, ${MAX_DESCRIPTION.characters})`;
/** Selects a list of a segment. One that was stored before there was a limit is left out. */
export const listOf = (column: string) =>
  `IIF(length(${column}) > ${MAX_LIST_CHARACTERS}, '[]', ${column})`;
/** Characters of the JSON of `MAX_DESCRIPTION.items` boxes, whose labels are limited, too. */
const MAX_LIST_CHARACTERS = 250_000;

/** Columns of a `SegmentRow` but the asset's id, which isn't in the table `segments`. */
export const SEGMENT_COLUMNS = `segment_id AS segmentId, position, start_ms AS startMs,
  end_ms AS endMs, keyframe_ms AS keyframeMs, ${textOf("caption")} AS caption,
  caption_model AS captionModel, ${textOf("transcript")} AS transcript,
  ${textOf("on_screen_text")} AS onScreenText, ${listOf("labels")} AS labels,
  ${listOf("boxes")} AS boxes, error, described_at IS NOT NULL AS described,
  ${HAS_KEYFRAME} AS hasKeyframe`;

/** Tests for the segments of an asset. */
export const ofAsset = (assetId: AssetId) =>
  sql`asset_key = (SELECT asset_key FROM assets WHERE asset_id = ${assetId})`;

async function select(db: IndexDb, assetId: AssetId, condition: SqlFragment): Promise<Segment[]> {
  const rows = await db.allByPosition<SegmentRow>(
    (after) => sql`SELECT asset_id AS assetId, ${raw(SEGMENT_COLUMNS)}
      FROM segments JOIN assets USING (asset_key)
      WHERE asset_id = ${assetId} AND position > ${after} AND ${condition} ORDER BY position`,
  );
  return rows.map((row) => toSegment(db.indexId, row));
}

/** A segment before it is described. */
export type NewSegment = Pick<
  Segment,
  "segmentId" | "assetId" | "indexId" | "position" | "startMs" | "endMs" | "keyframeMs"
>;

/**
 * Inserts the segments of an asset. Existing segments keep their description; failed ones lose
 * their error, and will be described again. Those without a keyframe have nothing to describe.
 * Changes nothing if the asset's deletion has begun.
 */
export async function upsertSegments(
  db: IndexDb,
  { assetId, assetType }: Pick<Asset, "assetId" | "assetType">,
  segments: NewSegment[],
): Promise<void> {
  const asset = sql`INSERT OR IGNORE INTO assets (asset_id, asset_type)
    VALUES (${assetId}, ${assetType})`;
  const rows = segments.map(({ segmentId, position, startMs, endMs, keyframeMs }) => {
    return { segmentId, position, startMs, endMs, keyframeMs };
  });
  for (const chunk of inChunks(rows)) {
    await db.batch([
      asset,
      sql`INSERT INTO segments (segment_id, asset_key, position, start_ms, end_ms, keyframe_ms,
          described_at, vectors)
        SELECT value ->> 'segmentId', asset_key, value ->> 'position', value ->> 'startMs',
          value ->> 'endMs', value ->> 'keyframeMs',
          IIF(value ->> 'keyframeMs' < 0, ${Date.now()}, NULL), 0
        FROM assets, json_each(${chunk}) WHERE asset_id = ${assetId} AND deleted_at IS NULL
        ON CONFLICT (segment_id) DO UPDATE SET error = NULL,
          described_at = (CASE WHEN error IS NULL THEN described_at END)`,
    ]);
  }
}

/** Lists the segments of an asset from position `from` to before `to`, in order. */
export function listSegments(
  db: IndexDb,
  assetId: AssetId,
  from = 0,
  to = Number.MAX_SAFE_INTEGER,
): Promise<Segment[]> {
  return select(db, assetId, sql`position >= ${from} AND position < ${to}`);
}

/** Lists the segments of an asset that have one of the ids, in order. */
export function listSegmentsById(
  db: IndexDb,
  assetId: AssetId,
  ids: readonly string[],
): Promise<Segment[]> {
  return select(db, assetId, sql`segment_id ${inList(ids)}`);
}

/**
 * Resolves the id of a segment or of an asset to segment ids, in order. Returns none if the index
 * has neither, or is deleting the asset.
 */
export async function listSegmentIds(
  databases: readonly IndexDb[],
  id: string,
): Promise<SegmentId[]> {
  if (!isIdText(["vid", "img", "seg"], id)) return [];
  const statement = sql`SELECT segment_id AS segmentId FROM segments JOIN assets USING (asset_key)
      WHERE asset_key IN (
          SELECT asset_key FROM assets WHERE asset_id = ${id}
          UNION ALL SELECT asset_key FROM segments WHERE segment_id = ${id}
        ) AND ${id} IN (asset_id, segment_id) AND deleted_at IS NULL ORDER BY position`;
  const rows = await Promise.all(
    databases.map((db) => db.all<{ segmentId: SegmentId }>(statement)),
  );
  return rows.flat().map(({ segmentId }) => segmentId);
}

/** Returns those of `ids` that name segments of the index which aren't being deleted. */
export async function listKnownSegments(
  databases: readonly IndexDb[],
  segmentIds: readonly string[],
): Promise<SegmentId[]> {
  const wellFormed = segmentIds.filter((id) => isIdText(["seg"], id));
  if (wellFormed.length === 0) return [];
  const statement = sql`SELECT segment_id AS segmentId FROM segments JOIN assets USING (asset_key)
    WHERE segment_id ${inList(wellFormed)} AND deleted_at IS NULL`;
  const rows = await Promise.all(
    databases.map((db) => db.all<{ segmentId: SegmentId }>(statement)),
  );
  return rows.flat().map(({ segmentId }) => segmentId);
}

/** A time range of an asset, in milliseconds. */
export interface AssetTimeRangeMs extends TimeRangeMs {
  assetId: AssetId;
}

/**
 * Finds, for each time range, the segment that overlaps it most, and the end of the asset. Null if
 * no segment overlaps.
 */
export async function listSegmentsAt(
  databases: readonly IndexDb[],
  ranges: AssetTimeRangeMs[],
): Promise<({ segmentId: SegmentId; assetEndMs: number } | null)[]> {
  if (ranges.length === 0) return [];
  const statements = ranges.map(
    ({ assetId, startMs, endMs }) => sql`SELECT segment_id AS segmentId,
          (SELECT MAX(end_ms) FROM segments WHERE ${ofAsset(assetId)}) AS assetEndMs
        FROM segments WHERE ${ofAsset(assetId)} AND start_ms < ${endMs} AND end_ms > ${startMs}
        ORDER BY MIN(end_ms, ${endMs}) - MAX(start_ms, ${startMs}) DESC, position LIMIT 1`,
  );
  const found = await Promise.all(databases.map((db) => db.batch(statements)));
  return ranges.map((_, i) => {
    const [row] = found.flatMap((matches) => matches[i]!);
    return (row as { segmentId: SegmentId; assetEndMs: number } | undefined) ?? null;
  });
}

/** Lists the segments of a video that overlap a time range, in order. */
export function listSegmentsWithin(
  db: IndexDb,
  { assetId, startMs, endMs }: AssetTimeRangeMs,
): Promise<Segment[]> {
  return select(db, assetId, sql`end_ms > ${startMs} AND start_ms < ${endMs}`);
}

/** Lists a page of an asset's segments, in order. It ends early if these have much text. */
export async function pageSegments(
  db: IndexDb,
  assetId: AssetId,
  { limit, after }: PageRequest,
): Promise<Page<Segment>> {
  const [{ rows, cutAfter }, count] = await Promise.all([
    db.page<SegmentRow>(
      sql`SELECT asset_id AS assetId, ${raw(SEGMENT_COLUMNS)}
        FROM segments JOIN assets USING (asset_key)
        WHERE asset_id = ${assetId} AND position >
          COALESCE(
            (SELECT position FROM segments WHERE ${ofAsset(assetId)} AND segment_id = ${after}), -1
          )
        ORDER BY position LIMIT ${limit + 1}`,
    ),
    db.first<{ total: number }>(
      sql`SELECT COUNT(*) AS total FROM segments WHERE ${ofAsset(assetId)}`,
    ),
  ]);
  const segments = rows.map((row) => toSegment(db.indexId, row));
  const page = toPage(segments, count?.total ?? 0, limit, ({ segmentId }) => segmentId);
  return { ...page, next: page.next ?? cutAfter?.segmentId ?? null };
}

/** Writes what a model described, or why it couldn't, and a caption that no model wrote. */
export async function updateDescription(
  db: IndexDb,
  segmentId: SegmentId,
  outcome: Description | { error: Failure; caption?: string },
): Promise<void> {
  const empty = { model: null, caption: "", text: "", labels: [], boxes: [], error: null };
  const { error, ...description } = { ...empty, ...outcome };
  await db.batch([
    sql`UPDATE segments SET caption = ${description.caption},
        caption_model = ${description.model}, on_screen_text = ${description.text},
        labels = ${JSON.stringify(description.labels)},
        boxes = ${JSON.stringify(description.boxes)}, error = ${error && JSON.stringify(error)},
        described_at = ${Date.now()}
      WHERE segment_id = ${segmentId}`,
  ]);
}

/** Lists the ids of at most `limit` segments of assets. */
export async function listSegmentIdsOf(
  db: IndexDb,
  assetIds: AssetId[],
  limit: number,
): Promise<SegmentId[]> {
  const rows = await db.all<{ segmentId: SegmentId }>(
    sql`SELECT segment_id AS segmentId FROM segments
      WHERE asset_key IN (SELECT asset_key FROM assets WHERE asset_id ${inList(assetIds)})
      LIMIT ${limit}`,
  );
  return rows.map(({ segmentId }) => segmentId);
}

/** Deletes segments, and all rows that belong to them. */
export async function deleteSegments(db: IndexDb, segmentIds: SegmentId[]): Promise<void> {
  await db.batch([sql`DELETE FROM segments WHERE segment_id ${inList(segmentIds)}`]);
}

export interface SegmentSummary {
  total: number;
  /** Segments that have a keyframe or a transcript. */
  usable: number;
  /** Time of the first keyframe. */
  keyframeMs: number | null;
  errors: { code: Failure["code"]; count: number; first: string }[];
}

/** Summarises the descriptions and errors of an asset's segments. */
export async function summarizeSegments(db: IndexDb, assetId: AssetId): Promise<SegmentSummary> {
  const [counts, errors] = await db.batch([
    sql`SELECT COUNT(*) AS total,
        COUNT(*) FILTER (WHERE ${raw(HAS_KEYFRAME)} OR transcript <> '') AS usable,
        MIN(keyframe_ms) FILTER (WHERE ${raw(HAS_KEYFRAME)}) AS keyframeMs
      FROM segments WHERE ${ofAsset(assetId)}`,
    sql`SELECT error ->> 'code' AS code, COUNT(*) AS count, MIN(error ->> 'message') AS first
      FROM segments WHERE ${ofAsset(assetId)} AND error IS NOT NULL GROUP BY 1`,
  ]);
  const [summary] = counts as Omit<SegmentSummary, "errors">[];
  const none = { total: 0, usable: 0, keyframeMs: null };
  return { ...(summary ?? none), errors: errors as SegmentSummary["errors"] };
}

/** A segment as stored: SQLite has no booleans, and JSON is text. */
export type SegmentRow = Omit<Segment, "indexId" | "described" | "hasKeyframe"> & {
  described: number;
  hasKeyframe: number;
};

export function toSegment(indexId: IndexId, row: SegmentRow): Segment {
  return {
    ...parseColumns(row, ["labels", "boxes", "error"]),
    indexId,
    described: row.described === 1,
    hasKeyframe: row.hasKeyframe === 1,
  };
}
