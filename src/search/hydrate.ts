import { getReadySegments } from "../store/segments.ts";
import type { Asset, Box, Segment } from "../types.ts";
import { type Evidence, mergeEvidence } from "./evidence.ts";
import type { Fused } from "./fuse.ts";
import { foldPlural, wordsOf } from "./query.ts";
import type { Scope, SearchRequest } from "./request.ts";

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

/** Fills ranked candidates with what the database knows, in one round trip, less what may not be shown. */
export async function hydrate(
  db: D1Database,
  fused: Fused[],
  evidence: Map<string, Evidence[]>,
  request: SearchRequest,
  { types }: Scope,
): Promise<Hit[]> {
  const found = await getReadySegments(
    db,
    fused.map(({ id }) => id),
  );
  const byId = new Map(found.map((row) => [row.segment.segmentId, row]));
  const wanted = new Set(request.assetIds);
  const words = wordsOf(request.query);
  return fused
    .flatMap(({ id, score }) => {
      const row = byId.get(id);
      return row && score >= request.topP ? [{ ...row, score, id }] : [];
    })
    .filter(({ asset }) => types.includes(asset.assetType))
    .filter(({ asset }) => wanted.size === 0 || wanted.has(asset.assetId))
    .map(({ segment, asset, score, id }, index) => ({
      segment,
      asset,
      rank: index + 1,
      score,
      evidence: mergeEvidence(evidence.get(id) ?? []),
      boxes: request.useBoxes ? segment.boxes.filter(({ label }) => isNamed(label, words)) : null,
    }));
}

/** Whether the words name what the box holds, in the singular or the plural. */
function isNamed(label: string, words: string[]): boolean {
  const stems = new Set(words.map(foldPlural));
  return wordsOf(label).every((word) => stems.has(foldPlural(word)));
}
