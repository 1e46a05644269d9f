import { MAX_DESCRIPTION } from "../../description.ts";
import type { Failure } from "../../errors.ts";
import { type AssetId, type IndexId, isIdText, type SegmentId, type VectorId } from "../../ids.ts";
import type { TimeRangeMs } from "../../time-range.ts";
import type { Asset, Description, Segment } from "../../types.ts";
import {
  assignments,
  inChunks,
  inList,
  type PageRequest,
  parseColumns,
  raw,
  sql,
  type SqlFragment,
  toPage,
} from "../sql.ts";
import { possibleIds, toSegmentId } from "../vectorize/vectors.ts";
import { allRows, type IndexDb } from "./index-database.ts";

/** Time of the keyframe of a segment of sound, which has none. */
export const NO_KEYFRAME_MS = -1;

/** SQL that tests whether a segment has a stored keyframe, with or without a description. */
export const HAS_KEYFRAME = `(segments.keyframe_ms >= 0 AND (segments.error IS NULL OR EXISTS (
    SELECT 1 FROM signatures
    WHERE signatures.segment_key = segments.segment_key AND signatures.frame_ms IS NULL
  )))`;

/** Selects a text of a segment. What was stored before there was a limit is cut to it. */
const textOf = (column: string) => `substr(${column}, 1, ${MAX_DESCRIPTION.characters})`;
/** Selects a list of a segment. One that was stored before there was a limit is left out. */
export const listOf = (column: string) =>
  `IIF(length(${column}) > ${MAX_LIST_CHARACTERS}, '[]', ${column})`;
/** Characters of the JSON of `MAX_DESCRIPTION.items` boxes, whose labels are limited, too. */
const MAX_LIST_CHARACTERS = 250_000;

/** Columns of a `SegmentRow` but the asset's id, which isn't in the table `segments`. */
export const SEGMENT_COLUMNS = `segment_id AS segmentId, position, start_ms AS startMs,
  end_ms AS endMs, keyframe_ms AS keyframeMs, ${textOf("caption")} AS caption,
  caption_model AS captionModel, ${textOf("transcript")} AS transcript,
  speech_before AS speechBefore, speech_after AS speechAfter,
  ${textOf("on_screen_text")} AS onScreenText, ${listOf("labels")} AS labels,
  (SELECT language FROM assets WHERE assets.asset_key = segments.asset_key) AS language,
  ${listOf("boxes")} AS boxes, error, described_at IS NOT NULL AS described,
  ${HAS_KEYFRAME} AS hasKeyframe`;

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

export function listSegmentsById(db: IndexDb, assetId: AssetId, ids: readonly string[]) {
  return select(db, assetId, sql`segment_id ${inList(ids)}`);
}

/**
 * Resolves the id of a segment or of an asset to segment ids, in order. Returns none if the index
 * has neither, or is deleting the asset.
 */
export async function listSegmentIds(databases: readonly IndexDb[], id: string) {
  if (!isIdText(["vid", "img", "seg"], id)) return [];
  const statement = sql`SELECT segment_id AS segmentId FROM segments JOIN assets USING (asset_key)
      WHERE asset_key IN (
          SELECT asset_key FROM assets WHERE asset_id = ${id}
          UNION ALL SELECT asset_key FROM segments WHERE segment_id = ${id}
        ) AND ${id} IN (asset_id, segment_id) AND deleted_at IS NULL ORDER BY position`;
  const rows = await allRows<{ segmentId: SegmentId }>(databases, statement);
  return rows.map(({ segmentId }) => segmentId);
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
  const rows = await allRows<{ segmentId: SegmentId }>(databases, statement);
  return rows.map(({ segmentId }) => segmentId);
}

export interface AssetTimeRangeMs extends TimeRangeMs {
  assetId: AssetId;
}

/**
 * Finds, for each time range, the segment that overlaps it most, and the end of the asset. Null if
 * no segment overlaps.
 */
export async function listSegmentsAt(databases: readonly IndexDb[], ranges: AssetTimeRangeMs[]) {
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

export function listSegmentsWithin(db: IndexDb, { assetId, startMs, endMs }: AssetTimeRangeMs) {
  return select(db, assetId, sql`end_ms > ${startMs} AND start_ms < ${endMs}`);
}

/** Lists a page of an asset's segments, in order. It ends early if these have much text. */
export async function pageSegments(db: IndexDb, assetId: AssetId, { limit, after }: PageRequest) {
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
  const { model: captionModel, text: onScreenText, ...stored } = { ...empty, ...outcome };
  const { caption, labels, boxes, error } = stored;
  const texts = { caption, captionModel, onScreenText, labels, boxes, error };
  await db.batch([
    sql`UPDATE segments SET ${assignments({ ...texts, describedAt: Date.now() })}
      WHERE segment_id = ${segmentId}`,
  ]);
}

export async function listSegmentIdsOf(db: IndexDb, assetIds: AssetId[], limit: number) {
  const rows = await db.all<{ segmentId: SegmentId }>(
    sql`SELECT segment_id AS segmentId FROM segments
      WHERE asset_key IN (SELECT asset_key FROM assets WHERE asset_id ${inList(assetIds)})
      LIMIT ${limit}`,
  );
  return rows.map(({ segmentId }) => segmentId);
}

export async function deleteSegments(db: IndexDb, segmentIds: SegmentId[]): Promise<void> {
  await db.batch([sql`DELETE FROM segments WHERE segment_id ${inList(segmentIds)}`]);
}

export interface SegmentSummary {
  total: number;
  usable: number;
  keyframeMs: number | null;
  errors: { code: Failure["code"]; count: number; first: string }[];
}

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

export async function listArchivedSegments(db: IndexDb, assetId: AssetId) {
  const rows = await db.allByPosition<Record<string, unknown> & { position: number }>(
    (after) => sql`SELECT position, start_ms, end_ms, keyframe_ms,
        ${raw(textOf("caption"))} AS caption, caption_model,
        ${raw(textOf("on_screen_text"))} AS on_screen_text, ${raw(listOf("labels"))} AS labels,
        ${raw(listOf("boxes"))} AS boxes, error
      FROM segments WHERE ${ofAsset(assetId)} AND position > ${after}
        AND described_at IS NOT NULL ORDER BY position`,
  );
  return rows.map((row) => {
    const { position: _, ...columns } = row;
    return parseColumns(columns, ["labels", "boxes", "error"]);
  });
}

/**
 * Inserts archived segments of an asset, in order, each with its id and transcript, and their full
 * text, unless they are there. Changes nothing if the asset's deletion has begun.
 */
export async function insertArchivedSegments(
  db: IndexDb,
  { assetId, assetType }: Pick<Asset, "assetId" | "assetType">,
  segments: readonly object[],
  now: number,
): Promise<void> {
  const rows = segments.map((segment, position) => ({ ...segment, position }));
  for (const chunk of inChunks(rows)) {
    await db.batch([
      sql`INSERT OR IGNORE INTO assets (asset_id, asset_type) VALUES (${assetId}, ${assetType})`,
      sql`INSERT OR IGNORE INTO segments (segment_id, asset_key, position, start_ms, end_ms,
          keyframe_ms, caption, caption_model, transcript, on_screen_text, labels, boxes, error,
          described_at, indexed, vectors)
        SELECT value ->> 'segment_id', asset_key, value ->> 'position', value ->> 'start_ms',
          value ->> 'end_ms', value ->> 'keyframe_ms', value ->> 'caption',
          value ->> 'caption_model', value ->> 'transcript', value ->> 'on_screen_text',
          value -> 'labels', value -> 'boxes', NULLIF(value -> 'error', 'null'),
          ${now}, 0, 0
        FROM assets, json_each(${chunk}) WHERE asset_id = ${assetId} AND deleted_at IS NULL`,
    ]);
  }
}

/**
 * Vectors that a segment may have in Vectorize, which can't be listed there. `vectors` has a bit
 * for each of `possibleIds`, set before a vector is written. It stays set: a deleted vector is then
 * deleted again now and then, and one that is being written is never forgotten.
 */
interface WrittenVectors {
  segmentId: SegmentId;
  vectors: number;
}

function idsOf({ segmentId, vectors }: WrittenVectors): VectorId[] {
  return possibleIds(segmentId).filter((_, i) => vectors & (1 << i));
}

const ofSegments = (segmentIds: readonly SegmentId[]) =>
  sql`SELECT segment_id AS segmentId, vectors FROM segments
    WHERE segment_id ${inList(segmentIds)}`;

/**
 * Records which vectors are about to be written or deleted. Returns those of `candidates` that may
 * have been written before.
 */
export async function recordVectors(
  db: IndexDb,
  ids: readonly VectorId[],
  candidates: readonly VectorId[],
  now: number,
): Promise<VectorId[]> {
  const segmentIds = [...new Set([...ids, ...candidates].map(toSegmentId))];
  if (segmentIds.length === 0) return [];
  const given = new Set(ids);
  const rows = segmentIds.map((segmentId) => {
    const isGiven = possibleIds(segmentId).map((id) => given.has(id));
    return { segmentId, bits: isGiven.reduce((bits, isSet, i) => bits | (+isSet << i), 0) };
  });
  const [before] = await db.batch([
    ofSegments(segmentIds),
    ...inChunks(rows).map(
      (chunk) => sql`UPDATE segments SET vectors = vectors | (value ->> 'bits'),
          vectors_at = ${now}
        FROM json_each(${chunk}) WHERE segment_id = value ->> 'segmentId'`,
    ),
  ]);
  const written = new Set((before as WrittenVectors[]).flatMap(idsOf));
  return candidates.filter((id) => written.has(id));
}

export async function listWrittenVectors(db: IndexDb, segmentIds: readonly SegmentId[]) {
  const rows = await db.all<WrittenVectors>(ofSegments(segmentIds));
  return rows.flatMap(idsOf);
}

const EMBEDDED = {
  text_model: "caption || transcript || on_screen_text <> ''",
  image_model: HAS_KEYFRAME,
};

/** Records the model of segments' vectors: null for segments without text, or a keyframe. */
export async function setVectorModel(
  db: IndexDb,
  column: keyof typeof EMBEDDED,
  segments: Segment[],
  model: string | null,
): Promise<void> {
  const ids = segments.map(({ segmentId }) => segmentId);
  const value = sql`(CASE WHEN ${raw(EMBEDDED[column])} THEN ${model} END)`;
  await db.batch([
    sql`UPDATE segments SET ${raw(column)} = ${value} WHERE segment_id ${inList(ids)}`,
  ]);
}
