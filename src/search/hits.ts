import type { FoundAsset } from "../store/find-segments.ts";
import type { TimeRangeMs } from "../time-range.ts";
import type { Asset, BoundingBox, Mask, NamedIndexRef, Segment } from "../types.ts";
import { collapseNearDuplicates, type NearDuplicateKey } from "./near-duplicates.ts";
import type { Evidence } from "./evidence.ts";
import type { SearchRequest } from "./request.ts";
import type { Signals } from "./signals.ts";

/** The asset of a hit, with what names its objects and its record. */
export type HitAsset = FoundAsset & Pick<Asset, "accountId" | "indexId" | "indexName">;

export function toHitAsset(asset: FoundAsset, index: NamedIndexRef): HitAsset {
  const { accountId, indexId, name: indexName } = index;
  return { ...asset, accountId, indexId, indexName };
}

/** A segment in the results of a search. */
export interface Hit {
  segment: Segment;
  asset: HitAsset;
  /** Position in the results, from 1. */
  rank: number;
  /** Probability that the segment is relevant, 0–1. */
  score: number;
  signals: Signals;
  evidence: Evidence[];
  /** The matching part of the video; null for the whole segment. */
  timeRange: TimeRangeMs | null;
  /** Ids of near-duplicates that were collapsed into this hit. */
  duplicates: string[];
  /** Boxes of what the query names (src/search/localization.ts); null unless requested. */
  boxes: BoundingBox[] | null;
  /** Mask of the first box's object; null unless requested, or if there is none. */
  mask: Mask | null;
}

/** The fields of a candidate that ranking reads. */
interface Rankable extends NearDuplicateKey {
  asset: Pick<Asset, "assetId">;
  score: number;
  signals: Signals;
  depth: number;
}
type RankOptions = Pick<SearchRequest, "collapse" | "groupBy">;

/**
 * Sorts candidates by depth, then by score, then by id, so that pages are stable. Collapses
 * near-duplicates and groups by asset as requested. Copies of the example are never collapsed: they
 * are what the search is for.
 */
export function rankCandidates<T extends Rankable>(
  candidates: readonly T[],
  { collapse, groupBy }: RankOptions,
): ({ candidate: T } & Pick<Hit, "duplicates">)[] {
  const sorted = candidates.toSorted(
    (a, b) =>
      a.depth - b.depth ||
      b.score - a.score ||
      (a.segment.segmentId < b.segment.segmentId ? -1 : 1),
  );
  const isExempt = ({ signals }: T) => !collapse || signals.copy_similarity !== undefined;
  const collapsed = collapseNearDuplicates(sorted, isExempt);
  if (groupBy === "segment") return collapsed;
  const ranked = new Set<string>();
  return collapsed.filter(({ candidate: { asset } }) => {
    return !ranked.has(asset.assetId) && ranked.add(asset.assetId);
  });
}
