import { SIGNATURE } from "../config.ts";
import type { Asset, Segment } from "../types.ts";
import { type AssetScope, countInScope, isInScope } from "./asset-scope.ts";
import { FROM_ASSETS } from "./assets.ts";
import { SEGMENT_COLUMNS, type SegmentRow, toSegment } from "./segments.ts";
import { concat, inIndex, inList, parseColumns, prepare, raw, sql } from "./sql.ts";

/** The two hashes of the whole keyframe: a signature begins with them unless the image is flat. */
const KEYFRAME_HASH = `(
  SELECT json_array(hashes ->> 0, hashes ->> 1) FROM signatures
  WHERE signatures.segment_id = segments.segment_id AND frame_ms IS NULL
    AND hashes ->> 0 < ${2 ** (SIGNATURE.hashBits + 1)}
) AS keyframeHash`;

/** FTS5 expressions that a segment's text must match and must not match; null for none. */
export interface MatchRules {
  must: string | null;
  mustNot: string | null;
}

/** The fields of an asset that a hit needs; most candidates don't become hits. */
export type FoundAsset = Pick<
  Asset,
  "assetId" | "indexId" | "accountId" | "indexName" | "assetType" | "title" | "metadata"
>;
const FOUND_ASSET_COLUMNS = `asset_id AS assetId, index_id AS indexId,
  assets.account_id AS accountId, indices.name AS indexName, asset_type AS assetType, title,
  assets.metadata`;

export interface FoundSegment {
  segment: Segment;
  asset: FoundAsset;
  /** Perceptual hash of the keyframe, 40 bits in two numbers; null if it is flat or has none. */
  keyframeHash: number[] | null;
}

/**
 * Lists the segments with one of the ids that match `rules` and whose asset is in scope, in no
 * order. `total` counts all segments in scope.
 */
export async function listSegmentsInScope(
  db: D1Database,
  ids: string[],
  scope: AssetScope,
  { must, mustNot }: MatchRules,
): Promise<{ segments: FoundSegment[]; total: number }> {
  const matches = (expression: string) => sql`(SELECT rowid FROM segment_fts
    WHERE segment_fts MATCH ${expression} AND rowid ${inIndex(scope.indexId)})`;
  const conditions = [sql`index_id = ${scope.indexId}`, sql`segment_id ${inList(ids)}`];
  if (must !== null) conditions.push(sql`segments.rowid IN ${matches(must)}`);
  if (mustNot !== null) conditions.push(sql`segments.rowid NOT IN ${matches(mustNot)}`);
  const [rows, assets, counted] = await db.batch([
    prepare(
      db,
      sql`SELECT ${raw(SEGMENT_COLUMNS)}, ${raw(KEYFRAME_HASH)} FROM segments
        WHERE ${concat(conditions, " AND ")}`,
    ),
    prepare(
      db,
      sql`SELECT ${raw(FOUND_ASSET_COLUMNS)} ${raw(FROM_ASSETS)}
        WHERE ${isInScope(scope)}
          AND asset_id IN (SELECT asset_id FROM segments WHERE segment_id ${inList(ids)})`,
    ),
    prepare(db, countInScope(scope)),
  ]);
  const byId = new Map(
    (assets!.results as FoundAsset[]).map((row) => [row.assetId, parseColumns(row, ["metadata"])]),
  );
  const segments = (rows!.results as (SegmentRow & { keyframeHash: string | null })[]).flatMap(
    (row) => {
      const asset = byId.get(row.assetId);
      const { keyframeHash: hash, ...segment } = row;
      return asset
        ? [{ segment: toSegment(segment), asset, keyframeHash: hash && JSON.parse(hash) }]
        : [];
    },
  );
  return { segments, total: (counted!.results as { total: number | null }[])[0]?.total ?? 0 };
}
