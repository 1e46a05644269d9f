import { CONNECTIONS, mapConcurrent } from "../../concurrency.ts";
import { SEARCH } from "../../config.ts";
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
import { toUnit } from "../watches/near-vectors.ts";

/** A vector that segments are compared with. */
export interface ComparedVector {
  space: "text" | "image";
  values: readonly number[];
}

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
  vectors: readonly ComparedVector[],
): Promise<VectorHit[][]> {
  const hits = vectors.map((): VectorHit[] => []);
  const units = vectors.map(({ values }) => toUnit(values));
  const reads = (["text", "image"] as const)
    .filter((space) => vectors.some((vector) => vector.space === space))
    .flatMap((space) => {
      return listIndices(target).flatMap((index) => {
        const own = segments.filter(({ indexId }) => indexId === index.indexId);
        const ids = own.flatMap(space === "text" ? textVectorIds : imageVectorIds);
        const batches = inReadBatches(ids);
        return vectorPairs(env, index).flatMap((pair) =>
          batches.map((batch) => ({ space, batch, from: pair[space] })),
        );
      });
    });
  await mapConcurrent(reads, CONNECTIONS, async ({ space, batch, from }) => {
    for (const { segmentId, kind, values } of await readVectors(from, batch)) {
      const stored = toUnit(values);
      for (const [i, unit] of units.entries()) {
        if (vectors[i]!.space !== space || unit.length !== stored.length) continue;
        const cosine = dot(unit, stored);
        hits[i]!.push(
          kind === "region"
            ? { segmentId, kind: "image", cosine: cosine - SEARCH.regionPenalty }
            : { segmentId, kind, cosine },
        );
      }
    }
  });
  return hits;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
