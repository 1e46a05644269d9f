import { SIGNATURE } from "../config.ts";
import type { Failure } from "../errors.ts";
import type { AssetId, IndexId, SegmentId } from "../ids.ts";
import type { Asset, Description, Segment } from "../types.ts";
import { FROM_ASSETS } from "./assets.ts";
import { type AssetScope, countInScope, isInScope } from "./asset-scope.ts";
import {
  IN_INDEX,
  IN_JSON,
  inChunks,
  LAST_TAKEN_ROW,
  type Page,
  type PageRequest,
  parseColumns,
  toPage,
} from "./rows.ts";

const COLUMNS = `segment_id AS segmentId, segments.asset_id AS assetId, segments.index_id AS indexId,
  position, start_ms AS startMs, end_ms AS endMs, segments.keyframe_ms AS keyframeMs, caption,
  caption_model AS captionModel,  transcript, on_screen_text AS onScreenText, labels, boxes, problem,
  described_at IS NOT NULL AS described`;

/** The first two keys of a signature, where they are those of the whole picture. */
const LOOK = `(
  SELECT json_array(keys ->> 0, keys ->> 1) FROM signatures
  WHERE signatures.segment_id = segments.segment_id AND still_ms IS NULL
    AND keys ->> 0 < ${2 ** (SIGNATURE.keyBits + 1)}
) AS look`;

/** Cuts of an asset, before anyone has looked at them. */
export type NewSegment = Pick<
  Segment,
  "segmentId" | "assetId" | "indexId" | "position" | "startMs" | "endMs" | "keyframeMs"
>;

/** Writes the cuts of an asset; where they are there already they keep what was seen, not what wasn't. */
export async function upsertSegments(db: D1Database, segments: NewSegment[]): Promise<void> {
  const statement = db.prepare(
    `INSERT INTO segments
       (rowid, segment_id, asset_id, index_id, position, start_ms, end_ms, keyframe_ms)
     SELECT ${LAST_TAKEN_ROW} + 1 + key, value ->> 'segmentId', value ->> 'assetId', ?1,
       value ->> 'position', value ->> 'startMs', value ->> 'endMs', value ->> 'keyframeMs'
     FROM json_each(?2) WHERE true
     ON CONFLICT (segment_id) DO UPDATE SET problem = NULL,
       described_at = CASE WHEN problem IS NULL THEN described_at END`,
  );
  for (let i = 0; i < segments.length; i += 200) {
    const some = segments.slice(i, i + 200);
    await statement.bind(some[0]!.indexId, JSON.stringify(some)).run();
  }
}

/** Writes the words that are spoken over segments. */
export async function setSpokenWords(
  db: D1Database,
  words: Pick<Segment, "segmentId" | "transcript">[],
): Promise<void> {
  const statement = db.prepare(
    `UPDATE segments SET transcript = value ->> 'transcript' FROM json_each(?)
     WHERE segment_id = value ->> 'segmentId'`,
  );
  for (const chunk of inChunks(words)) await statement.bind(chunk).run();
}

/** The segments of an asset from position `from` to before `to`, in order. */
export async function listSegments(
  db: D1Database,
  assetId: AssetId,
  from: number,
  to: number,
): Promise<Segment[]> {
  const { results } = await db
    .prepare(
      `SELECT ${COLUMNS} FROM segments WHERE asset_id = ? AND position >= ? AND position < ?
       ORDER BY position`,
    )
    .bind(assetId, from, to)
    .all<SegmentRow>();
  return results.map(fromRow);
}

/** Of these segments of an asset those that are there, in order. */
export async function listSegmentsById(
  db: D1Database,
  assetId: AssetId,
  ids: string[],
): Promise<Segment[]> {
  const { results } = await db
    .prepare(
      `SELECT ${COLUMNS} FROM segments WHERE asset_id = ? AND segment_id ${IN_JSON} ORDER BY position`,
    )
    .bind(assetId, JSON.stringify(ids))
    .all<SegmentRow>();
  return results.map(fromRow);
}

/** The ids of a segment (itself) or of an asset's segments, in order; none where the index has neither, or soon won't. */
export async function listSegmentsOf(
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

/** A stretch of a video, in ms. */
export interface Span {
  assetId: AssetId;
  startMs: number;
  endMs: number;
}

/** For each span the segment that holds most of it, null where there is none, and where the video ends. */
export async function listSegmentsAt(
  db: D1Database,
  spans: Span[],
): Promise<({ segmentId: SegmentId; assetEndMs: number } | null)[]> {
  if (spans.length === 0) return [];
  const statement = db.prepare(
    `SELECT segment_id AS segmentId,
       (SELECT MAX(end_ms) FROM segments WHERE asset_id = ?1) AS assetEndMs
     FROM segments WHERE asset_id = ?1 AND start_ms < ?3 AND end_ms > ?2
     ORDER BY MIN(end_ms, ?3) - MAX(start_ms, ?2) DESC, position LIMIT 1`,
  );
  const answers = await db.batch<{ segmentId: SegmentId; assetEndMs: number }>(
    spans.map(({ assetId, startMs, endMs }) => statement.bind(assetId, startMs, endMs)),
  );
  return answers.map(({ results }) => results[0] ?? null);
}

/** The segments of a video that share time with a span of it, in order. */
export async function listSegmentsWithin(
  db: D1Database,
  { assetId, startMs, endMs }: Span,
): Promise<Segment[]> {
  const { results } = await db
    .prepare(
      `SELECT ${COLUMNS} FROM segments WHERE asset_id = ? AND end_ms > ? AND start_ms < ?
       ORDER BY position`,
    )
    .bind(assetId, startMs, endMs)
    .all<SegmentRow>();
  return results.map(fromRow);
}

/** A page of an asset's segments, in order. */
export async function pageSegments(
  db: D1Database,
  assetId: AssetId,
  { limit, after }: PageRequest,
): Promise<Page<Segment>> {
  const [rows, total] = await db.batch<SegmentRow & { total: number }>([
    db
      .prepare(
        `SELECT ${COLUMNS} FROM segments WHERE asset_id = ?1 AND position >
           COALESCE((SELECT position FROM segments WHERE asset_id = ?1 AND segment_id = ?2), -1)
         ORDER BY position LIMIT ?3`,
      )
      .bind(assetId, after, limit + 1),
    db.prepare("SELECT COUNT(*) AS total FROM segments WHERE asset_id = ?").bind(assetId),
  ]);
  return toPage(rows!.results.map(fromRow), total!.results[0]!.total, limit, (s) => s.segmentId);
}

/** FTS5 expressions that a segment's words must and must not match; null for none. */
export interface WordRules {
  must: string | null;
  mustNot: string | null;
}

/** An asset as far as a hit shows it: of most candidates not even that is seen. */
export type FoundAsset = Pick<
  Asset,
  "assetId" | "indexId" | "accountId" | "indexName" | "assetType" | "title" | "metadata"
>;
const FOUND_ASSET_COLUMNS = `asset_id AS assetId, index_id AS indexId, assets.account_id AS accountId,
  indices.name AS indexName, asset_type AS assetType, title, assets.metadata`;

export interface FoundSegment {
  segment: Segment;
  asset: FoundAsset;
  /** What all of its keyframe looks like: 40 bits in two pieces; null where it is flat or unknown. */
  look: number[] | null;
}

/**
 * Of the segments with these ids, those that keep the rules and whose assets are in scope. In no order. `total` is
 * how many are in scope, whatever their ids.
 */
export async function listSegmentsInScope(
  db: D1Database,
  ids: string[],
  scope: AssetScope,
  { must, mustNot }: WordRules,
): Promise<{ segments: FoundSegment[]; total: number }> {
  const list = JSON.stringify(ids);
  const rules = [
    { expression: must, verb: "IN" },
    { expression: mustNot, verb: "NOT IN" },
  ].flatMap(({ expression, verb }) => (expression === null ? [] : [{ expression, verb }]));
  const matching = `(SELECT rowid FROM segment_words WHERE segment_words MATCH ? AND rowid ${IN_INDEX})`;
  const kept = rules.map(({ verb }) => ` AND segments.rowid ${verb} ${matching}`).join("");
  const inScope = isInScope(scope);
  const count = countInScope(scope);
  const [rows, assets, counted] = await db.batch([
    db
      .prepare(
        `SELECT ${COLUMNS}, ${LOOK} FROM segments WHERE index_id = ?1 AND segment_id ${IN_JSON}${kept}`,
      )
      .bind(scope.indexId, list, ...rules.map(({ expression }) => expression)),
    db
      .prepare(
        `SELECT ${FOUND_ASSET_COLUMNS} ${FROM_ASSETS} WHERE ${inScope.sql} AND asset_id IN
           (SELECT asset_id FROM segments WHERE segment_id ${IN_JSON})`,
      )
      .bind(...inScope.bindings, list),
    db.prepare(count.sql).bind(...count.bindings),
  ]);
  const byId = new Map(
    (assets!.results as FoundAsset[]).map((row) => [row.assetId, parseColumns(row, ["metadata"])]),
  );
  const segments = (rows!.results as (SegmentRow & { look: string | null })[]).flatMap((row) => {
    const asset = byId.get(row.assetId);
    const { look, ...segment } = row;
    return asset ? [{ segment: fromRow(segment), asset, look: look && JSON.parse(look) }] : [];
  });
  return { segments, total: (counted!.results as { total: number | null }[])[0]?.total ?? 0 };
}

export async function describeSegment(
  db: D1Database,
  segmentId: SegmentId,
  seen: Description | { problem: Failure },
): Promise<void> {
  const nothing = { model: null, caption: "", text: "", labels: [], boxes: [] };
  const found = "problem" in seen ? nothing : seen;
  await db
    .prepare(
      `UPDATE segments SET caption = ?, caption_model = ?, on_screen_text = ?, labels = ?, boxes = ?, problem = ?,
         described_at = ? WHERE segment_id = ?`,
    )
    .bind(
      found.caption,
      found.model,
      found.text,
      JSON.stringify(found.labels),
      JSON.stringify(found.boxes),
      "problem" in seen ? JSON.stringify(seen.problem) : null,
      Date.now(),
      segmentId,
    )
    .run();
}

export interface SegmentSummary {
  total: number;
  /** Segments whose keyframe was seen, or that have words spoken over them. */
  usable: number;
  /** The first keyframe that was seen, in ms. */
  keyframeMs: number | null;
  problems: { code: Failure["code"]; count: number; first: string }[];
}

/** What became of the segments of an asset. */
export async function summarizeSegments(db: D1Database, assetId: AssetId): Promise<SegmentSummary> {
  const [counts, problems] = await db.batch([
    db
      .prepare(
        `SELECT COUNT(*) AS total, COUNT(*) FILTER (WHERE problem IS NULL OR transcript <> '') AS usable,
           MIN(keyframe_ms) FILTER (WHERE problem IS NULL) AS keyframeMs
         FROM segments WHERE asset_id = ?`,
      )
      .bind(assetId),
    db
      .prepare(
        `SELECT problem ->> 'code' AS code, COUNT(*) AS count, MIN(problem ->> 'message') AS first
         FROM segments WHERE asset_id = ? AND problem IS NOT NULL GROUP BY 1`,
      )
      .bind(assetId),
  ]);
  const summary = counts!.results[0] as Omit<SegmentSummary, "problems">;
  return { ...summary, problems: problems!.results as SegmentSummary["problems"] };
}

type SegmentRow = Omit<Segment, "described"> & { described: number };

function fromRow(row: SegmentRow): Segment {
  return {
    ...parseColumns(row, ["labels", "boxes", "problem"]),
    described: row.described === 1,
  };
}
