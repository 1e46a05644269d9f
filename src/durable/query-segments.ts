import type { SegmentId } from "../ids.ts";
import { maxOf } from "../lists.ts";
import {
  type AssetScope,
  isInScope,
  segmentsInScope,
} from "../store/index-database/asset-scope.ts";
import {
  KEYFRAME_HASHES,
  possibleStems,
  SELECT_SUMMARY,
  selectStems,
  type TextSummary,
} from "../store/index-database/find-segments.ts";
import {
  columnFilter,
  type FtsSearch,
  listPresent,
  matchAny,
  matchExpression,
  termsOf,
  toTerm,
} from "../store/index-database/fulltext.ts";
import type {
  FtsHit,
  SegmentQuery,
  SegmentRows,
  TermCounts,
} from "../store/index-database/index-database.ts";
import { SEGMENT_COLUMNS } from "../store/index-database/segments.ts";
import { concat, inList, raw, sql, type SqlFragment } from "../store/sql.ts";
import { readNumber, readObjects, readRows, type Sql } from "./counted-storage.ts";

/**
 * Answers a `SegmentQuery` from the storage of a database. Rows are in the order of the candidates,
 * so that an answer that is full has the best ones.
 */
export function querySegments(storage: Sql, query: SegmentQuery): SegmentRows {
  const { scope, fullText, ids, excludedIds, rules, maxBytes } = query;
  const { total, stems } = query.counts?.database ?? countStems(storage, fullText);
  const counts = { total, stems };
  const fullTextHits = fullText
    ? searchFullText(storage, scope, fullText, counts, query.counts)
    : [];
  const isNamed = fullText?.useNames && !fullText.among;
  const namedIds = isNamed ? searchNames(storage, scope, fullText, counts) : [];
  const matches = (expression: string) =>
    sql`segment_key IN (SELECT rowid FROM segment_fts WHERE segment_fts MATCH ${expression})`;
  const nameMatches = (expression: string) =>
    sql`asset_key IN (SELECT rowid FROM asset_fts WHERE asset_fts MATCH ${expression})`;
  const excluded = new Set(excludedIds);
  const ranked = interleave(
    ids,
    namedIds,
    fullTextHits.map(({ segmentId }) => segmentId),
  ).filter((id) => !excluded.has(id));
  const conditions: SqlFragment[] = [];
  const required = [
    ...(rules.must === null ? [] : [matches(rules.must)]),
    ...(rules.mustOfNames === null ? [] : [nameMatches(rules.mustOfNames)]),
  ];
  if (required.length > 0) conditions.push(sql`(${concat(required, " OR ")})`);
  if (rules.mustNot !== null) {
    conditions.push(sql`NOT (${matches(rules.mustNot)} OR ${nameMatches(rules.mustNot)})`);
  }
  const all = [sql`segment_id = ranked.value`, ...conditions];
  const segments = readRows(
    storage,
    sql`SELECT asset_key AS assetKey, ${raw(SEGMENT_COLUMNS)}, ${raw(KEYFRAME_HASHES)}
      FROM json_each(${JSON.stringify(ranked)}) AS ranked CROSS JOIN segments
        ON ${concat(all, " AND ")}`,
    { left: maxBytes / 2 },
  );
  const assetKeys = [...new Set(segments.rows.map(([assetKey]) => assetKey))];
  const assets = readRows(
    storage,
    sql`SELECT asset_key AS assetKey, asset_id AS assetId, asset_type AS assetType, title,
        metadata, technical
      FROM json_each(${JSON.stringify(assetKeys)}) AS found CROSS JOIN assets
        ON asset_key = found.value AND ${isInScope(scope)}`,
    { left: maxBytes / 2 },
  );
  return { fullTextHits, namedIds, counts, segments, assets };
}

/** Merges ranked lists: the best of each, then the second of each, without repetition. */
function interleave(...lists: readonly (readonly string[])[]): string[] {
  const longest = maxOf(lists.map(({ length }) => length));
  const merged = Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? []));
  return [...new Set(merged.flat())];
}

type StemCounts = Pick<TermCounts, "total" | "stems">;

/** Counts the segments of a database, and those with each stem of a search. */
function countStems(storage: Sql, search: FtsSearch | null): StemCounts {
  const [summary] = readObjects<TextSummary>(storage, SELECT_SUMMARY);
  const stems = [...new Set(search?.tokens.map(({ stem }) => stem))];
  const possible = possibleStems(stems, [summary!]);
  return { total: summary!.total, stems: readObjects(storage, selectStems(possible)) };
}

/** Counts all that the databases of an index add up before each of them ranks. */
export function countTerms(storage: Sql, search: FtsSearch): TermCounts {
  const { total, stems } = countStems(storage, search);
  return {
    total,
    stems,
    withText: readNumber(storage, sql`SELECT COUNT(*) FROM segment_fts_docsize`),
    matches: countMatches(storage, search, stems),
  };
}

function countMatches(
  storage: Sql,
  { query, tokens, columns }: FtsSearch,
  stems: StemCounts["stems"],
): number[] {
  const terms = termsOf(query);
  const present = new Set(listPresent(terms, tokens, toStemSet(stems)));
  return terms.map((term) => {
    if (!present.has(term) || columns.length === 0) return 0;
    const expression = columnFilter(toTerm(term), columns);
    const count = sql`SELECT COUNT(*) FROM segment_fts WHERE segment_fts MATCH ${expression}`;
    return readNumber(storage, count);
  });
}

function toStemSet(stems: StemCounts["stems"]): Set<string> {
  return new Set(stems.map(({ stem }) => stem));
}

/** A term is rare if at most one segment in so many contains it. */
const RARITY = 20;

/**
 * Returns the segments in scope that match best by BM25, best first. If `limit` of them contain a
 * rare term, only those are ranked (a cut-off by document frequency, as in Elasticsearch's common
 * terms query), and only the best are joined with `segments`: both would otherwise dominate the
 * query's time. A phrase has to match in any case, so that with one all matches are ranked.
 * `shared` are the counts of this database and of its index; null if it is the only one.
 */
function searchFullText(
  storage: Sql,
  scope: AssetScope,
  search: FtsSearch,
  counts: StemCounts,
  shared: SegmentQuery["counts"],
): FtsHit[] {
  const { query, columns, limit } = search;
  const words = listPresent(query.words, search.tokens, toStemSet(counts.stems));
  const expression = matchExpression({ ...query, words });
  if (expression === null || columns.length === 0) return [];
  const excluded = matchAny(query.excluded);
  const withFilters = (text: string) =>
    `(${columnFilter(text, columns)})${excluded === null ? "" : ` NOT (${excluded})`}`;
  const { operator, keys } = segmentsInScope(scope);
  const { among } = search;
  const inScope = among
    ? sql`+rowid IN (SELECT segment_key FROM segments WHERE segment_id ${inList(among)})`
    : sql`+rowid ${raw(operator)} (${keys})`;
  const rareTerms = among ? [] : listRareTerms(words, search, shared?.index ?? counts);
  const rareMatches = sql`SELECT rowid FROM segment_fts
    WHERE segment_fts MATCH ${withFilters(rareTerms.join(" OR "))} AND ${inScope}`;
  const isEnough =
    rareTerms.length > 0 &&
    readNumber(storage, sql`SELECT COUNT(*) FROM (${rareMatches} LIMIT ${limit})`) === limit;
  const condition = isEnough ? sql`+rowid IN (${rareMatches})` : inScope;
  const matches = sql`segment_fts MATCH ${withFilters(expression)} AND ${condition}`;
  if (shared) return rankByIndex(storage, search, matches, shared);
  return readObjects<FtsHit>(
    storage,
    sql`SELECT segment_id AS segmentId, bm25 FROM (
        SELECT rowid AS segment_key, -bm25(segment_fts) AS bm25 FROM segment_fts
        WHERE ${matches} ORDER BY bm25 DESC LIMIT ${limit}
      ) JOIN segments USING (segment_key) ORDER BY bm25 DESC`,
  );
}

/** Returns the first segments of the assets in scope whose names match best, best first. */
function searchNames(
  storage: Sql,
  scope: AssetScope,
  { query, tokens, limit }: FtsSearch,
  { stems }: StemCounts,
): SegmentId[] {
  const words = listPresent(query.words, tokens, toStemSet(stems));
  const expression = matchExpression({ ...query, words });
  if (expression === null) return [];
  const named = readObjects<{ segmentId: SegmentId }>(
    storage,
    sql`SELECT segment_id AS segmentId
      FROM (
        SELECT asset_fts.rowid AS named_key, bm25(asset_fts) AS bm25 FROM asset_fts
        CROSS JOIN assets ON assets.asset_key = asset_fts.rowid AND ${isInScope(scope)}
        WHERE asset_fts MATCH ${expression} ORDER BY bm25 LIMIT ${limit}
      ) CROSS JOIN segments ON asset_key = named_key AND position = (
        SELECT MIN(position) FROM segments AS own WHERE own.asset_key = named_key
      ) ORDER BY bm25`,
  );
  return named.map(({ segmentId }) => segmentId);
}

/** Lists the rare ones of a search's words as FTS5 strings; none if a phrase has to match. */
function listRareTerms(
  words: readonly string[],
  { query, tokens }: FtsSearch,
  { total, stems }: StemCounts,
): string[] {
  if (query.phrases.length > 0) return [];
  const countByStem = new Map(stems.map(({ stem, count }) => [stem, count]));
  const countByWord = new Map(tokens.map(({ word, stem }) => [word, countByStem.get(stem)]));
  const isRare = (word: string) => (countByWord.get(word) ?? Infinity) * RARITY <= total;
  return words.filter((term) => term.split(" ").some(isRare)).map(toTerm);
}

/**
 * Ranks matches by BM25 with the document frequencies of the whole index. FTS5 knows those of this
 * database only: the part of each term is divided by its frequency here and multiplied by that of
 * the index. The average length stays that of this database.
 */
function rankByIndex(
  storage: Sql,
  search: FtsSearch,
  matches: SqlFragment,
  { database, index }: NonNullable<SegmentQuery["counts"]>,
): FtsHit[] {
  const { query, columns, limit } = search;
  const scores = new Map<number, number>();
  for (const [key] of readRows(storage, sql`SELECT rowid FROM segment_fts WHERE ${matches}`).rows) {
    scores.set(Number(key), 0);
  }
  for (const [i, term] of termsOf(query).entries()) {
    if (database.matches[i] === 0) continue;
    const weight =
      inverseFrequency(index.withText, index.matches[i]!) /
      inverseFrequency(database.withText, database.matches[i]!);
    const expression = columnFilter(toTerm(term), columns);
    const parts = sql`SELECT rowid, -bm25(segment_fts) FROM segment_fts
      WHERE segment_fts MATCH ${expression}`;
    for (const [key, part] of readRows(storage, parts).rows) {
      const score = scores.get(Number(key));
      if (score !== undefined) scores.set(Number(key), score + weight * Number(part));
    }
  }
  const best = [...scores].toSorted((a, b) => b[1] - a[1]).slice(0, limit);
  const segments = readObjects<{ key: number; segmentId: FtsHit["segmentId"] }>(
    storage,
    sql`SELECT segment_key AS key, segment_id AS segmentId FROM segments
      WHERE segment_key ${inList(best.map(([key]) => key))}`,
  );
  const idByKey = new Map(segments.map(({ key, segmentId }) => [key, segmentId]));
  return best.map(([key, bm25]) => ({ segmentId: idByKey.get(key)!, bm25 }));
}

/** Returns the inverse document frequency as FTS5 computes it, with its lower bound. */
function inverseFrequency(total: number, count: number): number {
  return Math.max(1e-6, Math.log((total - count + 0.5) / (count + 0.5)));
}
