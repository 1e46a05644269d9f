import type { AssetId } from "../ids.ts";
import type { Asset, Segment } from "../types.ts";
import { type AssetScope, isInScope } from "./asset-scope.ts";
import type { DocumentFrequencies } from "./fulltext.ts";
import type { IndexDb } from "./index-database.ts";
import type { FtsHit, SegmentQuery } from "./segment-query.ts";
import { type SegmentRow, toSegment } from "./segments.ts";
import { parseColumns, sql, toObjects } from "./sql.ts";

/** The fields of an asset that a hit needs; most candidates don't become hits. */
export type FoundAsset = Pick<Asset, "assetId" | "assetType" | "title" | "metadata">;

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
  /** Segments in scope. */
  total: number;
}

const NOTHING: FoundSegments = {
  segments: [],
  fullTextHits: [],
  frequencies: { total: 0, byStem: new Map() },
  total: 0,
};

/** Finds segments by full text, and reads them together with those that other channels found. */
export async function findSegments(db: IndexDb, query: SegmentQuery): Promise<FoundSegments> {
  const rows = await db.querySegments(query);
  if (!rows) return NOTHING;
  const assets = toObjects<FoundAsset>(rows.assets);
  const byId = new Map(assets.map((asset) => [asset.assetId, parseColumns(asset, ["metadata"])]));
  const found = toObjects<SegmentRow & { keyframeHash: string | null }>(rows.segments);
  return {
    segments: found.flatMap(({ keyframeHash, ...row }) => {
      const asset = byId.get(row.assetId);
      if (!asset) return [];
      const hash: number[] | null = keyframeHash === null ? null : JSON.parse(keyframeHash);
      return [{ segment: toSegment(db.indexId, row), asset, keyframeHash: hash }];
    }),
    fullTextHits: rows.fullTextHits,
    frequencies: {
      total: rows.indexTotal,
      byStem: new Map(rows.frequencies.map(({ stem, count }) => [stem, count])),
    },
    total: rows.total,
  };
}

/** Lists the ids of the first `limit` assets in a scope. */
export async function listScope(db: IndexDb, scope: AssetScope, limit: number): Promise<AssetId[]> {
  const rows = await db.all<{ assetId: AssetId }>(
    sql`SELECT asset_id AS assetId FROM assets WHERE ${isInScope(scope)} LIMIT ${limit}`,
  );
  return rows.map(({ assetId }) => assetId);
}
