import type { AssetId, SegmentId } from "../ids.ts";
import {
  columnFilter,
  listPresent,
  matchAny,
  matchExpression,
} from "../store/index-database/fulltext.ts";
import type {
  FtsHit,
  NewSegmentQuery,
  NewSegmentRows,
} from "../store/index-database/index-database.ts";
import { ofAsset } from "../store/index-database/segments.ts";
import { concat, sql } from "../store/sql.ts";
import { readObjects, type Sql } from "./counted-storage.ts";
import { countStems, rankByIndex, toStemSet } from "./query-segments.ts";

/** Keys of an asset's segments, which mostly follow each other. */
interface KeyRange {
  first: number | null;
  last: number;
}

/** Answers queries about the text of one asset's segments, which need not be searchable yet. */
export function queryNewSegments(
  storage: Sql,
  assetId: AssetId,
  queries: readonly NewSegmentQuery[],
): NewSegmentRows[] {
  const [range] = readObjects<KeyRange>(
    storage,
    sql`SELECT MIN(segment_key) AS first, MAX(segment_key) AS last FROM segments
      WHERE ${ofAsset(assetId)}`,
  );
  return queries.map((query) => {
    const counts = countStems(storage, query.fullText);
    if (range!.first === null) return { fullTextHits: [], counts, allowed: [] };
    return {
      fullTextHits: searchNew(storage, assetId, range!, query, toStemSet(counts.stems)),
      counts,
      allowed: listAllowed(storage, assetId, query.rules),
    };
  });
}

/** Ranks the segments of an asset that have a term, as a search of the index ranks them. */
function searchNew(
  storage: Sql,
  assetId: AssetId,
  { first, last }: KeyRange,
  { fullText, counts }: NewSegmentQuery,
  stems: ReadonlySet<string>,
): FtsHit[] {
  const { query, tokens, columns } = fullText;
  const words = listPresent(query.words, tokens, stems);
  const expression = matchExpression({ ...query, words });
  if (expression === null) return [];
  const excluded = matchAny(query.excluded);
  const text = `(${columnFilter(expression, columns)})${excluded ? ` NOT (${excluded})` : ""}`;
  // FTS5 seeks the range, and computes the frequencies of terms only if there is a match.
  const matches = sql`segment_fts MATCH ${text} AND rowid BETWEEN ${first} AND ${last}
    AND +rowid IN (SELECT segment_key FROM segments WHERE ${ofAsset(assetId)})`;
  if (counts) return rankByIndex(storage, fullText, matches, counts);
  return readObjects<FtsHit>(
    storage,
    sql`SELECT segment_id AS segmentId, bm25 FROM (
        SELECT rowid AS segment_key, -bm25(segment_fts) AS bm25 FROM segment_fts WHERE ${matches}
      ) JOIN segments USING (segment_key) ORDER BY bm25 DESC`,
  );
}

/** Lists the segments with all that must match and nothing that must not; null without rules. */
function listAllowed(
  storage: Sql,
  assetId: AssetId,
  { must, mustNot }: NewSegmentQuery["rules"],
): SegmentId[] | null {
  if (must === null && mustNot === null) return null;
  const matching = (text: string) =>
    sql`(SELECT rowid FROM segment_fts WHERE segment_fts MATCH ${text})`;
  const conditions = [ofAsset(assetId)];
  if (must !== null) conditions.push(sql`segment_key IN ${matching(must)}`);
  if (mustNot !== null) conditions.push(sql`segment_key NOT IN ${matching(mustNot)}`);
  const rows = readObjects<{ segmentId: SegmentId }>(
    storage,
    sql`SELECT segment_id AS segmentId FROM segments WHERE ${concat(conditions, " AND ")}`,
  );
  return rows.map(({ segmentId }) => segmentId);
}
