import type { FoundAsset } from "../store/segments.ts";
import type { Asset, Box, Mask, Segment } from "../types.ts";
import { collapse, type Showing } from "./collapse.ts";
import type { Evidence } from "./evidence.ts";
import type { SearchRequest } from "./request.ts";
import type { Signals } from "./signals.ts";

/** A segment as the answer to a query. */
export interface Hit {
  segment: Segment;
  asset: FoundAsset;
  /** 1 is the best. */
  rank: number;
  /** The probability that it is relevant. */
  score: number;
  /** What the score is made of. */
  signals: Signals;
  evidence: Evidence[];
  /** The stretch of the video that was asked for, in ms; null for all of the segment. */
  span: { startMs: number; endMs: number } | null;
  /** Segments that are left out because they show and say the same. */
  duplicates: string[];
  /** Where the query is seen (src/search/regions.ts): null unless asked for. */
  boxes: Box[] | null;
  /** Likewise, and null where there is none. */
  mask: Mask | null;
}

/** What may become a hit, as far as it is compared with others. */
interface Candidate extends Showing {
  asset: Pick<Asset, "assetId">;
  score: number;
  signals: Signals;
  depth: number;
}
type Wish = Pick<SearchRequest, "collapse" | "groupBy">;

/**
 * Candidates, those of the least depth first, of each the likeliest (ties by id, so that pages are stable):
 * near-duplicates as one unless all are wished, of each asset only one where asked. What was
 * asked for as the very same stays: copies are what is looked for then.
 */
export function rank<T extends Candidate>(
  candidates: readonly T[],
  wish: Wish,
): ({ candidate: T } & Pick<Hit, "duplicates">)[] {
  const sorted = candidates.toSorted(
    (a, b) =>
      a.depth - b.depth ||
      b.score - a.score ||
      (a.segment.segmentId < b.segment.segmentId ? -1 : 1),
  );
  const shown = new Set<string>();
  const isKept = ({ signals }: T) => !wish.collapse || signals.same !== undefined;
  return collapse(sorted, isKept).filter(({ candidate: { asset } }) => {
    if (wish.groupBy === "segment") return true;
    return !shown.has(asset.assetId) && shown.add(asset.assetId);
  });
}
