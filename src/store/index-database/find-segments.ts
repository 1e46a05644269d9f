import type { AssetId, IndexId } from "../../ids.ts";
import { PREFIXES } from "../../normal-form/languages.ts";
import { SIGNATURE } from "../../parameters.ts";
import type { Asset, Segment } from "../../types.ts";
import { ANSWER_BYTES, inList, parseColumns, sql, toObjects } from "../sql.ts";
import { type AssetScope, isInScope } from "./asset-scope.ts";
import { type DocumentFrequencies, type FtsSearch, matchAll } from "./fulltext.ts";
import type { IndexDb, FtsHit, SegmentQuery, SegmentRows, TermCounts } from "./index-database.ts";
import { type SegmentRow, toSegment } from "./segments.ts";

/** The fields of an asset that a hit needs; most candidates don't become hits. */
export type FoundAsset = Pick<Asset, "assetId" | "assetType" | "title" | "metadata" | "technical">;

export interface FoundSegment {
  segment: Segment;
  asset: FoundAsset;
  /** Perceptual hash of the keyframe, 40 bits in two numbers; null if it is flat or has none. */
  keyframeHash: number[] | null;
}

export interface FoundSegments {
  /** The segments of the query that are in scope and match its rules, in no order. */
  segments: FoundSegment[];
  fullTextHits: FtsHit[];
  frequencies: DocumentFrequencies;
}

/**
 * Counts how often the terms of a search occur in each of several databases, so that they rank
 * alike. Empty for a single one, which counts by itself.
 */
export async function countInDatabases(
  databases: readonly IndexDb[],
  fullText: FtsSearch | null,
): Promise<(TermCounts | null)[]> {
  if (!fullText || databases.length < 2) return [];
  return Promise.all(databases.map((db) => db.countTerms(fullText)));
}

/**
 * Finds segments by full text, and reads them together with those that other channels found. Asks
 * the databases of an index in parallel. `counting` is what `countInDatabases` returns, which the
 * caller may begin earlier.
 */
export async function findSegments(
  databases: readonly IndexDb[],
  query: Omit<SegmentQuery, "counts" | "maxBytes">,
  counting = countInDatabases(databases, query.fullText),
): Promise<FoundSegments> {
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
  const wanted = new Set<string>([...query.ids, ...fullTextHits.map((hit) => hit.segmentId)]);
  const { total, stems } = sumTermCounts(
    found.map(({ rows }) => ({ ...NO_COUNTS, ...rows.counts })),
  );
  return {
    segments: found
      .flatMap(({ segments }) => segments)
      .filter(({ segment }) => wanted.has(segment.segmentId)),
    fullTextHits,
    frequencies: { total, byStem: new Map(stems.map(({ stem, count }) => [stem, count])) },
  };
}

/** Bytes of the answers of all databases together, and of each. */
const MAX_BYTES = 2 * ANSWER_BYTES;
const MIN_BYTES = 1024 ** 2;

const NO_COUNTS: TermCounts = { total: 0, withText: 0, matches: [], stems: [] };

/** Adds up the counts of several databases. */
export function sumTermCounts(counts: (TermCounts | null)[]): TermCounts {
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
export function toKeyframeHash(hashes: Uint32Array): number[] | null {
  const isWhole = hashes.length === 2 && hashes[0]! < 2 ** (SIGNATURE.hashBits + 1);
  return isWhole ? [...hashes] : null;
}

/** How many segments have each of several stems; a stem that none has is left out. */
interface StemCount {
  stem: string;
  count: number;
}

export const selectStems = (stems: readonly string[]) =>
  sql`SELECT term AS stem, doc AS count FROM segment_fts_vocab WHERE term ${inList(stems)}`;

/** Counts the segments of an index that have each of several stems; others are left out. */
export async function countStems(
  databases: readonly IndexDb[],
  stems: readonly string[],
): Promise<Map<string, number>> {
  const statement = selectStems(stems);
  const rows = await Promise.all(databases.map((db) => db.all<StemCount>(statement)));
  const counts = new Map<string, number>();
  for (const { stem, count } of rows.flat()) counts.set(stem, count + (counts.get(stem) ?? 0));
  return counts;
}

/** Counts the segments of an index, and those that have each of many stems. */
export async function countFrequencies(
  databases: readonly IndexDb[],
  stems: readonly string[],
): Promise<DocumentFrequencies> {
  const rows = await Promise.all(databases.map((db) => db.all<TextSummary>(SELECT_SUMMARY)));
  const total = rows.flat().reduce((sum, summary) => sum + summary.total, 0);
  return { total, byStem: await countStems(databases, possibleStems(stems, rows.flat())) };
}

/** What databases say of their text in one statement. */
export interface TextSummary {
  /** Number of segments. */
  total: number;
  /** The first letters of stems that are there, of those that mark a language, as JSON. */
  prefixes: string;
}

const PREFIX_LETTERS = Object.values(PREFIXES);
export const SELECT_SUMMARY = sql`SELECT
  (SELECT COALESCE(SUM(segments), 0) FROM segment_counts) AS total,
  (SELECT json_group_array(value) FROM json_each(${JSON.stringify(PREFIX_LETTERS)})
    WHERE EXISTS (
      SELECT 1 FROM segment_fts_vocab WHERE term >= value AND term < value || char(1114111)
    )) AS prefixes`;

/** Returns the stems of languages that are there: each word of a query has a stem in all. */
export function possibleStems(
  stems: readonly string[],
  summaries: readonly TextSummary[],
): string[] {
  const isAbsent = (letter: string) =>
    summaries.every(({ prefixes }) => !prefixes.includes(letter));
  const absent = new Set(PREFIX_LETTERS.filter(isAbsent));
  return stems.filter((stem) => !absent.has(stem[0]!));
}

/** Tests whether a segment of an index has one term of each list. */
export async function hasSegmentWith(
  databases: readonly IndexDb[],
  lists: readonly (readonly string[])[],
): Promise<boolean> {
  const expression = matchAll(lists);
  if (expression === null) return false;
  const statement = sql`SELECT 1 FROM segment_fts WHERE segment_fts MATCH ${expression} LIMIT 1`;
  const rows = await Promise.all(databases.map((db) => db.all(statement)));
  return rows.flat().length > 0;
}

/** Lists the ids of the first `limit` assets in a scope, in any database of the index. */
export async function listScope(
  databases: readonly IndexDb[],
  scope: AssetScope,
  limit: number,
): Promise<AssetId[]> {
  const statement = sql`SELECT asset_id AS assetId FROM assets WHERE ${isInScope(scope)}
    LIMIT ${limit}`;
  const rows = await Promise.all(databases.map((db) => db.all<{ assetId: AssetId }>(statement)));
  return rows
    .flat()
    .slice(0, limit)
    .map(({ assetId }) => assetId);
}
