import type { Asset, Box, Segment } from "../types.ts";
import { type Evidence, mergeEvidence } from "./evidence.ts";
import { foldPlural, wordsOf } from "./query.ts";
import type { SearchRequest } from "./request.ts";

/** A segment as the answer to a query. */
export interface Hit {
  segment: Segment;
  asset: Asset;
  /** 1 is the best. */
  rank: number;
  score: number;
  evidence: Evidence[];
  /** Null unless asked for. */
  boxes: Box[] | null;
}

type Candidate = Omit<Hit, "rank" | "boxes">;
type Wish = Pick<SearchRequest, "query" | "topP" | "groupBy" | "useBoxes">;

/** Candidates, the best first, as hits: those that score enough, of each asset only one where asked. */
export function toHits(candidates: Candidate[], { query, topP, groupBy, useBoxes }: Wish): Hit[] {
  const words = wordsOf(query);
  const shown = new Set<string>();
  return candidates
    .filter(({ score }) => score >= topP)
    .filter(({ asset: { assetId } }) => {
      if (groupBy === "segment") return true;
      return !shown.has(assetId) && shown.add(assetId);
    })
    .map(({ segment, asset, score, evidence }, index) => ({
      segment,
      asset,
      rank: index + 1,
      score,
      evidence: mergeEvidence(evidence),
      boxes: useBoxes ? segment.boxes.filter(({ label }) => isNamed(label, words)) : null,
    }));
}

/** Whether the words name what the box holds, in the singular or the plural. */
function isNamed(label: string, words: string[]): boolean {
  const stems = new Set(words.map(foldPlural));
  return wordsOf(label).every((word) => stems.has(foldPlural(word)));
}
