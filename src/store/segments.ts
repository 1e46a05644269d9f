import type { Failure } from "../errors.ts";
import type { AssetId, IndexId, SegmentId } from "../ids.ts";
import type { TimeRangeMs } from "../time-range.ts";
import type { Description, Segment } from "../types.ts";
import {
  inChunks,
  inList,
  maxSegmentRowid,
  type Page,
  type PageRequest,
  parseColumns,
  prepare,
  raw,
  sql,
  toPage,
} from "./sql.ts";

/** SQL that tests whether a segment has a stored keyframe, with or without a description. */
export const HAS_KEYFRAME = `(segments.error IS NULL OR EXISTS (
    SELECT 1 FROM signatures
    WHERE signatures.segment_id = segments.segment_id AND signatures.frame_ms IS NULL
  ))`;

/** Columns of a `SegmentRow`. */
export const SEGMENT_COLUMNS = `segment_id AS segmentId, segments.asset_id AS assetId,
  segments.index_id AS indexId, position, start_ms AS startMs, end_ms AS endMs,
  segments.keyframe_ms AS keyframeMs, caption, caption_model AS captionModel, transcript,
  on_screen_text AS onScreenText, labels, boxes, error, described_at IS NOT NULL AS described,
  ${HAS_KEYFRAME} AS hasKeyframe`;

/** A segment before it is described. */
export type NewSegment = Pick<
  Segment,
  "segmentId" | "assetId" | "indexId" | "position" | "startMs" | "endMs" | "keyframeMs"
>;

/**
 * Inserts the segments of an asset. Existing segments keep their description; failed ones lose
 * their error, and will be described again.
 */
export async function upsertSegments(db: D1Database, segments: NewSegment[]): Promise<void> {
  for (let i = 0; i < segments.length; i += 200) {
    const rows = segments.slice(i, i + 200);
    const { indexId } = rows[0]!;
    await prepare(
      db,
      sql`INSERT INTO segments
          (rowid, segment_id, asset_id, index_id, position, start_ms, end_ms, keyframe_ms)
        SELECT ${maxSegmentRowid(indexId)} + 1 + key, value ->> 'segmentId', value ->> 'assetId',
          ${indexId}, value ->> 'position', value ->> 'startMs', value ->> 'endMs',
          value ->> 'keyframeMs'
        FROM json_each(${JSON.stringify(rows)}) WHERE true
        ON CONFLICT (segment_id) DO UPDATE SET error = NULL,
          described_at = CASE WHEN error IS NULL THEN described_at END`,
    ).run();
  }
}

/** Writes the transcripts of segments. */
export async function updateTranscripts(
  db: D1Database,
  segments: Pick<Segment, "segmentId" | "transcript">[],
): Promise<void> {
  const statement = db.prepare(
    `UPDATE segments SET transcript = value ->> 'transcript' FROM json_each(?)
     WHERE segment_id = value ->> 'segmentId'`,
  );
  for (const chunk of inChunks(segments)) await statement.bind(chunk).run();
}

/** Lists the segments of an asset from position `from` to before `to`, in order. */
export async function listSegments(
  db: D1Database,
  assetId: AssetId,
  from: number,
  to: number,
): Promise<Segment[]> {
  const { results } = await db
    .prepare(
      `SELECT ${SEGMENT_COLUMNS} FROM segments WHERE asset_id = ? AND position >= ? AND position < ?
       ORDER BY position`,
    )
    .bind(assetId, from, to)
    .all<SegmentRow>();
  return results.map(toSegment);
}

/** Lists the segments of an asset that have one of the ids, in order. */
export async function listSegmentsById(
  db: D1Database,
  assetId: AssetId,
  ids: string[],
): Promise<Segment[]> {
  const { results } = await prepare(
    db,
    sql`SELECT ${raw(SEGMENT_COLUMNS)} FROM segments
      WHERE asset_id = ${assetId} AND segment_id ${inList(ids)} ORDER BY position`,
  ).all<SegmentRow>();
  return results.map(toSegment);
}

/**
 * Resolves the id of a segment or of an asset to segment ids, in order. Returns none if the index
 * has neither, or is deleting the asset.
 */
export async function listSegmentIds(
  db: D1Database,
  indexId: IndexId,
  id: string,
): Promise<SegmentId[]> {
  const { results } = await db
    .prepare(
      `SELECT segment_id AS segmentId FROM segments CROSS JOIN assets USING (asset_id)
       WHERE segments.index_id = ?1 AND (segment_id = ?2 OR asset_id = ?2) AND deleted_at IS NULL
       ORDER BY position`,
    )
    .bind(indexId, id)
    .all<{ segmentId: SegmentId }>();
  return results.map(({ segmentId }) => segmentId);
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
  db: D1Database,
  ranges: AssetTimeRangeMs[],
): Promise<({ segmentId: SegmentId; assetEndMs: number } | null)[]> {
  if (ranges.length === 0) return [];
  const statement = db.prepare(
    `SELECT segment_id AS segmentId,
       (SELECT MAX(end_ms) FROM segments WHERE asset_id = ?1) AS assetEndMs
     FROM segments WHERE asset_id = ?1 AND start_ms < ?3 AND end_ms > ?2
     ORDER BY MIN(end_ms, ?3) - MAX(start_ms, ?2) DESC, position LIMIT 1`,
  );
  const matches = await db.batch<{ segmentId: SegmentId; assetEndMs: number }>(
    ranges.map(({ assetId, startMs, endMs }) => statement.bind(assetId, startMs, endMs)),
  );
  return matches.map(({ results }) => results[0] ?? null);
}

/** Lists the segments of a video that overlap a time range, in order. */
export async function listSegmentsWithin(
  db: D1Database,
  { assetId, startMs, endMs }: AssetTimeRangeMs,
): Promise<Segment[]> {
  const { results } = await db
    .prepare(
      `SELECT ${SEGMENT_COLUMNS} FROM segments WHERE asset_id = ? AND end_ms > ? AND start_ms < ?
       ORDER BY position`,
    )
    .bind(assetId, startMs, endMs)
    .all<SegmentRow>();
  return results.map(toSegment);
}

/** Lists a page of an asset's segments, in order. */
export async function pageSegments(
  db: D1Database,
  assetId: AssetId,
  { limit, after }: PageRequest,
): Promise<Page<Segment>> {
  const [rows, total] = await db.batch<SegmentRow & { total: number }>([
    db
      .prepare(
        `SELECT ${SEGMENT_COLUMNS} FROM segments WHERE asset_id = ?1 AND position >
           COALESCE((SELECT position FROM segments WHERE asset_id = ?1 AND segment_id = ?2), -1)
         ORDER BY position LIMIT ?3`,
      )
      .bind(assetId, after, limit + 1),
    db.prepare("SELECT COUNT(*) AS total FROM segments WHERE asset_id = ?").bind(assetId),
  ]);
  return toPage(rows!.results.map(toSegment), total!.results[0]!.total, limit, (s) => s.segmentId);
}

/** Writes what a model described, or why it couldn't, and a caption that no model wrote. */
export async function updateDescription(
  db: D1Database,
  segmentId: SegmentId,
  outcome: Description | { error: Failure; caption?: string },
): Promise<void> {
  const empty = { model: null, caption: "", text: "", labels: [], boxes: [], error: null };
  const { error, ...description } = { ...empty, ...outcome };
  await db
    .prepare(
      `UPDATE segments SET caption = ?, caption_model = ?, on_screen_text = ?, labels = ?,
         boxes = ?, error = ?, described_at = ? WHERE segment_id = ?`,
    )
    .bind(
      description.caption,
      description.model,
      description.text,
      JSON.stringify(description.labels),
      JSON.stringify(description.boxes),
      error && JSON.stringify(error),
      Date.now(),
      segmentId,
    )
    .run();
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
export async function summarizeSegments(db: D1Database, assetId: AssetId): Promise<SegmentSummary> {
  const [counts, errors] = await db.batch([
    db
      .prepare(
        `SELECT COUNT(*) AS total,
           COUNT(*) FILTER (WHERE ${HAS_KEYFRAME} OR transcript <> '') AS usable,
           MIN(keyframe_ms) FILTER (WHERE ${HAS_KEYFRAME}) AS keyframeMs
         FROM segments WHERE asset_id = ?`,
      )
      .bind(assetId),
    db
      .prepare(
        `SELECT error ->> 'code' AS code, COUNT(*) AS count, MIN(error ->> 'message') AS first
         FROM segments WHERE asset_id = ? AND error IS NOT NULL GROUP BY 1`,
      )
      .bind(assetId),
  ]);
  const summary = counts!.results[0] as Omit<SegmentSummary, "errors">;
  return { ...summary, errors: errors!.results as SegmentSummary["errors"] };
}

/** A segment as stored: SQLite has no booleans, and D1 returns JSON as text. */
export type SegmentRow = Omit<Segment, "described" | "hasKeyframe"> & {
  described: number;
  hasKeyframe: number;
};

export function toSegment(row: SegmentRow): Segment {
  return {
    ...parseColumns(row, ["labels", "boxes", "error"]),
    described: row.described === 1,
    hasKeyframe: row.hasKeyframe === 1,
  };
}
