import { CONNECTIONS, mapConcurrent } from "../../concurrency.ts";
import { loadDotProducts } from "../../dot-products.ts";
import type { VectorId } from "../../ids.ts";
import { vectorPairs } from "../../store/vectorize/vector-pairs.ts";
import {
  imageIds,
  inReadBatches,
  readVectors,
  vectorId,
  type VectorHit,
} from "../../store/vectorize/vectors.ts";
import type { Segment, TextKind } from "../../types.ts";
import { listIndices, type SearchTarget } from "../index-group.ts";
import { compareVectors, type QueryVector } from "../watches/near-vectors.ts";

type ComparedSegment = Pick<
  Segment,
  "segmentId" | "indexId" | "caption" | "transcript" | "onScreenText" | "hasKeyframe" | "boxes"
>;

/** Returns the ids of the text vectors that a segment may have: one for each of its texts. */
function textVectorIds({
  segmentId,
  caption,
  transcript,
  onScreenText,
}: ComparedSegment): VectorId[] {
  const texts: Record<TextKind, string> = { caption, speech: transcript, text: onScreenText };
  const kinds = (Object.keys(texts) as TextKind[]).filter((kind) => texts[kind] !== "");
  return kinds.map((kind) => vectorId(segmentId, kind));
}

function imageVectorIds({ segmentId, hasKeyframe, boxes }: ComparedSegment): VectorId[] {
  if (!hasKeyframe) return [];
  return boxes.length > 0 ? imageIds(segmentId) : [vectorId(segmentId, "image")];
}

/**
 * Reads the vectors of segments, and returns the cosines of them with each of several vectors, as
 * hits of a search. Throws `upstream_unavailable`.
 */
export async function compareStoredVectors(
  env: Env,
  target: SearchTarget,
  segments: readonly ComparedSegment[],
  vectors: readonly QueryVector[],
): Promise<VectorHit[][]> {
  const hits = vectors.map((): VectorHit[] => []);
  const queries = vectors.map((query) => ({ query, cutoff: -Infinity }));
  const products = await loadDotProducts();
  const reads = (["text", "image"] as const)
    .filter((space) => vectors.some((vector) => vector.space === space))
    .flatMap((space) => {
      return listIndices(target).flatMap((index) => {
        const own = segments.filter(({ indexId }) => indexId === index.indexId);
        const ids = own.flatMap(space === "text" ? textVectorIds : imageVectorIds);
        const batches = inReadBatches(ids);
        return vectorPairs(env, index).flatMap((pair) =>
          batches.map((batch) => ({ batch, from: pair[space] })),
        );
      });
    });
  await mapConcurrent(reads, CONNECTIONS, async ({ batch, from }) => {
    const stored = (await readVectors(from, batch)).map(({ segmentId, kind, values }) => {
      return { segmentId, kind, values: new Float32Array(values) };
    });
    for (const [i, found] of compareVectors(queries, stored, products).entries())
      hits[i]!.push(...found);
  });
  return hits;
}
