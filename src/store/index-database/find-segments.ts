import type { AssetId, IndexId, SegmentId } from "../../ids.ts";
import { SIGNATURE } from "../../parameters.ts";
import type { DocumentFrequencies } from "../../text/query-terms.ts";
import { PREFIXES } from "../../text/stems.ts";
import type { Asset, Segment, UnmatchedField } from "../../types.ts";
import { ANSWER_BYTES, inList, parseColumns, sql, toObjects, inChunks, raw } from "../sql.ts";
import { type AssetScope, type Condition, isInScope, selectFieldType } from "./asset-scope.ts";
import type { FtsSearch } from "./fulltext.ts";
import {
  allRows,
  type IndexDb,
  type SegmentQuery,
  type SegmentRows,
  type TermCounts,
} from "./index-database.ts";
import { type SegmentRow, toSegment, type AssetTimeRangeMs } from "./segments.ts";

/** The fields of an asset that a hit needs; most candidates don't become hits. */
export type FoundAsset = Pick<Asset, "assetId" | "assetType" | "title" | "metadata" | "technical">;

export interface FoundSegment {
  segment: Segment;
  asset: FoundAsset;
  /** Perceptual hash of the keyframe, 40 bits in two numbers; null if it is flat or has none. */
  keyframeHash: number[] | null;
}

/**
 * Counts how often the terms of a search occur in each of several databases, so that they rank
 * alike. Empty for a single one, which counts by itself.
 */
export async function countInDatabases(databases: readonly IndexDb[], fullText: FtsSearch | null) {
  if (!fullText || databases.length < 2) return [];
  return Promise.all(databases.map((db) => db.countTerms(fullText)));
}

/**
 * Finds segments by full text, and reads them together with those that other channels found: those
 * in scope that match the rules, in no order. Asks the databases of an index in parallel.
 * `counting` is what `countInDatabases` returns, which the caller may begin earlier.
 */
export async function findSegments(
  databases: readonly IndexDb[],
  query: Omit<SegmentQuery, "counts" | "maxBytes">,
  counting = countInDatabases(databases, query.fullText),
) {
  const { fullText } = query;
  const counts = await counting;
  const index = sumTermCounts(counts);
  const results = await Promise.all(
    databases.map(async (db, i) => {
      const database = counts[i];
      const rows = await db.querySegments({
        ...query,
        maxBytes: Math.min(ANSWER_BYTES, Math.max(MIN_BYTES, MAX_BYTES / databases.length)),
        counts: database ? { database, index } : null,
      });
      return rows ? [{ rows, segments: parseRows(db.indexId, rows) }] : [];
    }),
  );
  const found = results.flat();
  const fullTextHits = found
    .flatMap(({ rows }) => rows.fullTextHits)
    .toSorted((a, b) => b.bm25 - a.bm25)
    .slice(0, fullText?.limit);
  const wanted = new Set<string>([
    ...query.ids,
    ...found.flatMap(({ rows }) => rows.namedIds),
    ...fullTextHits.map((hit) => hit.segmentId),
  ]);
  const { total, stems } = sumTermCounts(
    found.map(({ rows }) => ({ ...NO_COUNTS, ...rows.counts })),
  );
  const byStem = new Map(stems.map(({ stem, count }) => [stem, count]));
  return {
    segments: found
      .flatMap(({ segments }) => segments)
      .filter(({ segment }) => wanted.has(segment.segmentId)),
    fullTextHits,
    frequencies: { total, byStem } satisfies DocumentFrequencies,
  };
}

export async function readSegments(
  databases: readonly IndexDb[],
  scope: AssetScope,
  ids: readonly SegmentId[],
): Promise<FoundSegment[]> {
  const rules = { must: null, mustNot: null, mustOfNames: null };
  const query = { scope, fullText: null, ids, excludedIds: [], rules };
  const { segments } = await findSegments(databases, query);
  const rows = new Map(segments.map((row) => [row.segment.segmentId, row]));
  return ids.flatMap((id) => rows.get(id) ?? []);
}

/** Bytes of the answers of all databases together, and of each. */
const MAX_BYTES = 2 * ANSWER_BYTES;
const MIN_BYTES = 1024 ** 2;

const NO_COUNTS: TermCounts = { total: 0, withText: 0, matches: [], stems: [] };

function sumTermCounts(counts: (TermCounts | null)[]): TermCounts {
  return counts.reduce<TermCounts>((sum, one) => {
    if (!one) return sum;
    const stems = Map.groupBy([...sum.stems, ...one.stems], ({ stem }) => stem);
    return {
      total: sum.total + one.total,
      withText: sum.withText + one.withText,
      matches: one.matches.map((count, i) => count + (sum.matches[i] ?? 0)),
      stems: [...stems].map(([stem, parts]) => {
        return { stem, count: parts.reduce((total, { count }) => total + count, 0) };
      }),
    };
  }, NO_COUNTS);
}

function parseRows(indexId: IndexId, rows: SegmentRows): FoundSegment[] {
  const assets = toObjects<FoundAsset & { assetKey: number }>(rows.assets);
  const byKey = new Map(
    assets.map(({ assetKey, ...asset }) => [
      assetKey,
      parseColumns(asset, ["metadata", "technical"]),
    ]),
  );
  return toObjects<FoundRow>(rows.segments).flatMap(({ assetKey, keyframeHashes, ...row }) => {
    const asset = byKey.get(assetKey);
    if (!asset) return [];
    const keyframeHash = toKeyframeHash(new Uint32Array(keyframeHashes ?? []));
    const segment = toSegment(indexId, { ...row, assetId: asset.assetId });
    return [{ segment, asset, keyframeHash }];
  });
}

type FoundRow = Omit<SegmentRow, "assetId"> & {
  assetKey: number;
  keyframeHashes: ArrayBuffer | null;
};

/** Selects the first two hashes of the keyframe's signature, eight bytes. */
export const KEYFRAME_HASHES = `(
  SELECT substr(hashes, 1, 8) FROM signatures
  WHERE signatures.segment_key = segments.segment_key AND frame_ms IS NULL
) AS keyframeHashes`;

/** Returns the two hashes of the whole keyframe: a signature begins with them unless it is flat. */
function toKeyframeHash(hashes: Uint32Array): number[] | null {
  const isWhole = hashes.length === 2 && hashes[0]! < 2 ** (SIGNATURE.hashBits + 1);
  return isWhole ? [...hashes] : null;
}

/** Lists the fields of conditions that no asset has, or not with a value of the operand's type. */
export async function listUnmatchedFields(
  databases: readonly IndexDb[],
  conditions: readonly Condition[],
): Promise<UnmatchedField[]> {
  const found = await Promise.all(
    conditions.map(async (condition) => {
      const rows = await allRows<{ type: string | null; isComparable: number }>(
        databases,
        selectFieldType(condition),
      );
      const type = rows.find((row) => row.type !== null)?.type ?? null;
      const isMatched = rows.some(({ isComparable }) => isComparable === 1);
      const isNull = [condition.operand].flat().includes(null); // it is compared with any type
      return isMatched || (isNull && type !== null) ? [] : [{ field: condition.field, type }];
    }),
  );
  return [...new Map(found.flat().map((one) => [one.field, one])).values()];
}

/** Counts the segments and the assets whose texts and names have each of several stems. */
export const selectStems = (stems: readonly string[]) =>
  sql`SELECT stem, SUM(count) AS count FROM (
      SELECT term AS stem, doc AS count FROM segment_fts_vocab WHERE term ${inList(stems)}
      UNION ALL SELECT term, doc FROM asset_fts_vocab WHERE term ${inList(stems)}
    ) GROUP BY stem`;

/** Counts the segments of an index that have each of several stems; others are left out. */
export async function countStems(databases: readonly IndexDb[], stems: readonly string[]) {
  const statement = selectStems(stems);
  const counts = new Map<string, number>();
  const rows = await allRows<TermCounts["stems"][number]>(databases, statement);
  for (const { stem, count } of rows) counts.set(stem, count + (counts.get(stem) ?? 0));
  return counts;
}

export interface TextSummary {
  total: number;
  /** The first letters of stems that are there, of those that mark a language, as JSON. */
  prefixes: string;
}

export const SELECT_SUMMARY = sql`SELECT
  (SELECT COALESCE(SUM(segments), 0) FROM segment_counts) AS total,
  (SELECT json_group_array(value) FROM json_each(${JSON.stringify(PREFIXES)})
    WHERE EXISTS (
      SELECT 1 FROM segment_fts_vocab WHERE term >= value AND term < value || char(1114111)
    ) OR EXISTS (
      SELECT 1 FROM asset_fts_vocab WHERE term >= value AND term < value || char(1114111)
    )) AS prefixes`;

/** Returns the stems of languages that are there: each word of a query has a stem in all. */
export function possibleStems(stems: readonly string[], summaries: readonly TextSummary[]) {
  const isAbsent = (letter: string) =>
    summaries.every(({ prefixes }) => !prefixes.includes(letter));
  const absent = new Set(PREFIXES.filter(isAbsent));
  return stems.filter((stem) => !absent.has(stem[0]!));
}

export async function listScope(databases: readonly IndexDb[], scope: AssetScope, limit: number) {
  const statement = sql`SELECT asset_id AS assetId FROM assets WHERE ${isInScope(scope)}
    LIMIT ${limit}`;
  const rows = await allRows<{ assetId: AssetId }>(databases, statement);
  return rows.slice(0, limit).map(({ assetId }) => assetId);
}

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
  type Row = { segmentId: SegmentId; searchableAt: number };
  return (await allRows<Row>(databases, statement))
    .toSorted((a, b) => b.searchableAt - a.searchableAt)
    .slice(0, limit)
    .map(({ segmentId }) => segmentId);
}

export type SegmentPosition = Pick<Segment, "segmentId" | "assetId" | "startMs" | "endMs">;

/** Lists the segments that overlap or meet time ranges of their videos. */
export async function listSegmentTimes(
  databases: readonly IndexDb[],
  ranges: readonly AssetTimeRangeMs[],
): Promise<SegmentPosition[]> {
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
  return found.flat(2) as SegmentPosition[];
}
