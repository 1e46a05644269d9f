import { SIGNATURE } from "../config.ts";
import { type AssetScope, countInScope, isInScope, segmentsInScope } from "../store/asset-scope.ts";
import {
  columnFilter,
  type FtsSearch,
  matchAny,
  matchExpression,
  toTerm,
} from "../store/fulltext.ts";
import type { FtsHit, SegmentQuery, SegmentRows } from "../store/segment-query.ts";
import { SEGMENT_COLUMNS } from "../store/segments.ts";
import {
  concat,
  inList,
  raw,
  sql,
  type SqlFragment,
  type SqlRows,
  toObjects,
} from "../store/sql.ts";

/** The two hashes of the whole keyframe: a signature begins with them unless the image is flat. */
const KEYFRAME_HASH = `(
  SELECT json_array(hashes ->> 0, hashes ->> 1) FROM signatures
  WHERE signatures.segment_key = segments.segment_key AND frame_ms IS NULL
    AND hashes ->> 0 < ${2 ** (SIGNATURE.hashBits + 1)}
) AS keyframeHash`;

/** Answers a `SegmentQuery` from the storage of an index's database. */
export function querySegments(storage: SqlStorage, query: SegmentQuery): SegmentRows {
  const { scope, fullText, ids, excludedIds, rules } = query;
  const indexTotal = firstNumber(storage, sql`SELECT SUM(segments) FROM segment_counts`);
  const { hits, frequencies } = fullText
    ? searchFullText(storage, scope, fullText, indexTotal)
    : NO_HITS;
  const matches = (expression: string) =>
    sql`(SELECT rowid FROM segment_fts WHERE segment_fts MATCH ${expression})`;
  const excluded = new Set(excludedIds);
  const wanted = new Set(
    [...ids, ...hits.map(({ segmentId }) => segmentId)].filter((id) => !excluded.has(id)),
  );
  const conditions = [sql`segment_id ${inList([...wanted])}`];
  if (rules.must !== null) conditions.push(sql`segment_key IN ${matches(rules.must)}`);
  if (rules.mustNot !== null) conditions.push(sql`segment_key NOT IN ${matches(rules.mustNot)}`);
  const isWanted = concat(conditions, " AND ");
  return {
    fullTextHits: hits,
    frequencies,
    indexTotal,
    total: firstNumber(storage, countInScope(scope)),
    segments: read(
      storage,
      sql`SELECT ${raw(SEGMENT_COLUMNS)}, ${raw(KEYFRAME_HASH)}
        FROM segments CROSS JOIN assets USING (asset_key) WHERE ${isWanted}`,
    ),
    assets: read(
      storage,
      sql`SELECT asset_id AS assetId, asset_type AS assetType, title, metadata FROM assets
        WHERE asset_key IN (SELECT asset_key FROM segments WHERE ${isWanted})
          AND ${isInScope(scope)}`,
    ),
  };
}

type FullTextHits = Pick<SegmentRows, "frequencies"> & { hits: SegmentRows["fullTextHits"] };
const NO_HITS: FullTextHits = { hits: [], frequencies: [] };

/** A term is rare if at most one segment in so many contains it. */
const RARITY = 20;

/**
 * Returns the segments in scope that match best by BM25, best first. If `limit` of them contain a
 * rare term, only those are ranked (a cut-off by document frequency, as in Elasticsearch's common
 * terms query), and only the best are joined with `segments`: both would otherwise dominate the
 * query's time. A phrase has to match in any case, so that with one all matches are ranked.
 */
function searchFullText(
  storage: SqlStorage,
  scope: AssetScope,
  { query, tokens, columns, limit }: FtsSearch,
  indexTotal: number,
): FullTextHits {
  const expression = matchExpression(query);
  if (expression === null) return NO_HITS;
  const stems = tokens.map(({ stem }) => stem);
  const frequencies = toObjects<SegmentRows["frequencies"][number]>(
    read(
      storage,
      sql`SELECT term AS stem, doc AS count FROM segment_fts_vocab WHERE term ${inList(stems)}`,
    ),
  );
  const countByStem = new Map(frequencies.map(({ stem, count }) => [stem, count]));
  const excluded = matchAny(query.excluded);
  const withFilters = (text: string) =>
    `(${columnFilter(text, columns)})${excluded === null ? "" : ` NOT (${excluded})`}`;
  const { operator, keys } = segmentsInScope(scope);
  const inScope = sql`+rowid ${raw(operator)} (${keys})`;
  const rareTerms = tokens.filter(({ stem }) => {
    const count = countByStem.get(stem);
    return count !== undefined && count * RARITY <= indexTotal;
  });
  const isCutOff = query.phrases.length === 0 && rareTerms.length > 0;
  const rare = withFilters(rareTerms.map(({ word }) => toTerm([word])).join(" OR "));
  const rareMatches = sql`SELECT rowid FROM segment_fts
    WHERE segment_fts MATCH ${rare} AND ${inScope}`;
  const isEnough =
    isCutOff &&
    firstNumber(storage, sql`SELECT COUNT(*) FROM (${rareMatches} LIMIT ${limit})`) === limit;
  const condition = isEnough ? sql`+rowid IN (${rareMatches})` : inScope;
  const best = sql`SELECT segment_id AS segmentId, bm25 FROM (
      SELECT rowid AS segment_key, -bm25(segment_fts) AS bm25 FROM segment_fts
      WHERE segment_fts MATCH ${withFilters(expression)} AND ${condition}
      ORDER BY bm25 DESC LIMIT ${limit}
    ) JOIN segments USING (segment_key) ORDER BY bm25 DESC`;
  return { hits: toObjects<FtsHit>(read(storage, best)), frequencies };
}

function read(storage: SqlStorage, { sql: text, bindings }: SqlFragment): SqlRows {
  const cursor = storage.exec(text, ...bindings);
  return { columns: cursor.columnNames, rows: [...cursor.raw()] };
}

/** Returns the number in the only row, 0 for NULL or no row. */
function firstNumber(storage: SqlStorage, statement: SqlFragment): number {
  return Number(read(storage, statement).rows[0]?.[0] ?? 0);
}
