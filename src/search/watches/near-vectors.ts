import { SEARCH } from "../../config.ts";
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

/** Query vectors that are compared at once, so that each vector is read once for all of them. */
const LANES = 4;

/**
 * Returns, for each query, the new vectors whose cosine is above the query's cutoff, as hits of a
 * search. Vectors of another length than the query's are of another model.
 */
export function compareVectors(
  queries: readonly { query: QueryVector; cutoff: number }[],
  vectors: readonly NewVector[],
): VectorHit[][] {
  const hits = queries.map((): VectorHit[] => []);
  const order = queries.map((_, i) => i);
  const groups = Map.groupBy(order, (i) => {
    const { space, values } = queries[i]!.query;
    return `${space} ${values.length}`;
  });
  for (const group of groups.values()) {
    const { space, values } = queries[group[0]!]!.query;
    const compared = vectors.filter((vector) => {
      return vector.values.length === values.length && isOfSpace(vector.kind, space);
    });
    const norms = compared.map((vector) => Math.sqrt(dot(vector.values, vector.values)) || 1);
    for (let at = 0; at < group.length; at += LANES) {
      const lanes = group.slice(at, at + LANES);
      const packed = lanes.map((i) => queries[i]!.query.values);
      while (packed.length < LANES) packed.push(packed[0]!);
      for (const [v, vector] of compared.entries()) {
        const dots = dotLanes(vector.values, packed);
        for (const [lane, i] of lanes.entries()) {
          const { query, cutoff } = queries[i]!;
          const isRegion = vector.kind === "region";
          const cosine = dots[lane]! / norms[v]! - (isRegion ? SEARCH.regionPenalty : 0);
          if (cosine < cutoff || !query.kinds.has(vector.kind)) continue;
          const kind = vector.kind === "region" ? "image" : vector.kind;
          hits[i]!.push({ segmentId: vector.segmentId, kind, cosine });
        }
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

const lanesOut = new Float64Array(LANES);

function dotLanes(vector: Float32Array, packed: readonly Float32Array[]): Float64Array {
  const [a, b, c, d] = packed as [Float32Array, Float32Array, Float32Array, Float32Array];
  let [w, x, y, z] = [0, 0, 0, 0];
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i]!;
    w += value * a[i]!;
    x += value * b[i]!;
    y += value * c[i]!;
    z += value * d[i]!;
  }
  lanesOut[0] = w;
  lanesOut[1] = x;
  lanesOut[2] = y;
  lanesOut[3] = z;
  return lanesOut;
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
    ...hits.map((hit) => ({ segmentId: hit.segmentId as string, cosine: hit.cosine, hit })),
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
