import { SEARCH } from "../../config.ts";
import type { DotProducts } from "../../dot-products.ts";
import type { SegmentId } from "../../ids.ts";
import type { NearestList } from "../../store/d1/watches.ts";
import type { VectorHit } from "../../store/vectorize/vectors.ts";
import type { VectorKind } from "../../types.ts";
import { meanCosine } from "../channels.ts";

/** A vector that a watch searches with. `values` has the length 1. */
export interface QueryVector {
  space: "text" | "image";
  values: Float32Array;
  /** Kinds of vectors that are in scope. */
  kinds: ReadonlySet<VectorKind>;
}

/** A vector of a new segment. */
export interface NewVector {
  segmentId: SegmentId;
  kind: VectorKind;
  values: Float32Array;
}

/**
 * Returns, for each query, the new vectors whose cosine is not below the query's cutoff, as hits of
 * a search. Vectors of another length than the query's are of another model.
 */
export function compareVectors(
  queries: readonly { query: QueryVector; cutoff: number }[],
  vectors: readonly NewVector[],
  products: DotProducts,
): VectorHit[][] {
  const hits = queries.map((): VectorHit[] => []);
  const byModel = Map.groupBy(queries.keys(), (i) => {
    const { space, values } = queries[i]!.query;
    return `${space} ${values.length}`;
  });
  for (const group of byModel.values()) {
    const { space, values } = queries[group[0]!]!.query;
    const compared = vectors.filter((vector) => {
      return vector.values.length === values.length && isOfSpace(vector.kind, space);
    });
    products.load(
      compared.map((vector) => toUnit(vector.values)),
      values.length,
    );
    for (const i of group) {
      const { query, cutoff } = queries[i]!;
      const cosines = products.with(query.values);
      for (let v = 0; v < compared.length; v++) {
        if (cosines[v]! < cutoff) continue; // nearly all of them
        const { segmentId, kind } = compared[v]!;
        if (!query.kinds.has(kind)) continue;
        const isRegion = kind === "region";
        const cosine = cosines[v]! - (isRegion ? SEARCH.regionPenalty : 0);
        if (cosine < cutoff) continue;
        hits[i]!.push({ segmentId, kind: isRegion ? "image" : kind, cosine });
      }
    }
  }
  return hits;
}

function isOfSpace(kind: VectorKind, space: QueryVector["space"]): boolean {
  return (kind === "image" || kind === "region") === (space === "image");
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** Returns the direction of a vector. */
export function toUnit(values: readonly number[] | Float32Array): Float32Array {
  const unit = Float32Array.from(values);
  const length = Math.sqrt(dot(unit, unit)) || 1;
  for (let i = 0; i < unit.length; i++) unit[i]! /= length;
  return unit;
}

/** Cosine below which a vector isn't among the nearest: a search wouldn't find it by its vector. */
export function cutoffOf(nearest: NearestList): number {
  return nearest.length < SEARCH.maxCandidates ? -Infinity : nearest.at(-1)![1];
}

/** The nearest segments with the new ones among them, as a search will find them. */
export interface MergedNearest {
  nearest: NearestList;
  /** The hits that are among the nearest. */
  hits: VectorHit[];
  /** Mean of the cosines of the nearest. */
  mean: number;
}

/**
 * Merges the hits of new segments into the nearest of the index. Entries of `replaced` segments,
 * from an earlier ingest of them, are left out.
 */
export function mergeNearest(
  nearest: NearestList,
  hits: readonly VectorHit[],
  replaced: ReadonlySet<string>,
): MergedNearest {
  const others = nearest.filter(([segmentId]) => !replaced.has(segmentId));
  const all = [
    ...others.map(([segmentId, cosine]) => ({ segmentId, cosine, hit: null })),
    ...hits.map((hit) => ({ segmentId: hit.segmentId, cosine: hit.cosine, hit })),
  ];
  const merged = all.toSorted((a, b) => b.cosine - a.cosine).slice(0, SEARCH.maxCandidates);
  return {
    nearest: merged.map(({ segmentId, cosine }) => [segmentId, round(cosine)]),
    hits: merged.flatMap(({ hit }) => hit ?? []),
    mean: merged.length === 0 ? 0 : meanCosine(merged),
  };
}

function round(cosine: number): number {
  return Math.round(cosine * 1e5) / 1e5;
}
