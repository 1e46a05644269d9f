import type { Sql } from "./counted-storage.ts";
import { countInScope, isInScope } from "../store/asset-scope.ts";
import type { SegmentQuery, SegmentRows } from "../store/segment-query.ts";
import { SEGMENT_COLUMNS } from "../store/segments.ts";
import { concat, inList, raw, sql } from "../store/sql.ts";
import { countStems, searchFullText } from "./full-text-search.ts";
import { readNumber, readRows } from "./read-rows.ts";

/** The first two hashes of the keyframe's signature, eight bytes. */
const KEYFRAME_HASHES = `(
  SELECT substr(hashes, 1, 8) FROM signatures
  WHERE signatures.segment_key = segments.segment_key AND frame_ms IS NULL
) AS keyframeHashes`;

/** Answers a `SegmentQuery` from the storage of a database. */
export function querySegments(storage: Sql, query: SegmentQuery): SegmentRows {
  const { scope, fullText, ids, excludedIds, rules } = query;
  const { total, stems } = query.counts?.database ?? countStems(storage, fullText);
  const counts = { total, stems };
  const fullTextHits = fullText
    ? searchFullText(storage, scope, fullText, counts, query.counts)
    : [];
  const matches = (expression: string) =>
    sql`(SELECT rowid FROM segment_fts WHERE segment_fts MATCH ${expression})`;
  const excluded = new Set(excludedIds);
  const wanted = new Set(
    [...ids, ...fullTextHits.map(({ segmentId }) => segmentId)].filter((id) => !excluded.has(id)),
  );
  const conditions = [sql`segment_id ${inList([...wanted])}`];
  if (rules.must !== null) conditions.push(sql`segment_key IN ${matches(rules.must)}`);
  if (rules.mustNot !== null) conditions.push(sql`segment_key NOT IN ${matches(rules.mustNot)}`);
  const segments = readRows(
    storage,
    sql`SELECT asset_key AS assetKey, ${raw(SEGMENT_COLUMNS)}, ${raw(KEYFRAME_HASHES)}
      FROM segments WHERE ${concat(conditions, " AND ")}`,
  );
  const assetKeys = new Set(segments.rows.map(([assetKey]) => assetKey as number));
  return {
    fullTextHits,
    counts,
    total: readNumber(storage, countInScope(scope)),
    segments,
    assets: readRows(
      storage,
      sql`SELECT asset_key AS assetKey, asset_id AS assetId, asset_type AS assetType, title,
          metadata
        FROM assets WHERE asset_key ${inList([...assetKeys])} AND ${isInScope(scope)}`,
    ),
  };
}
