import type { AssetId, SegmentId } from "../../ids.ts";
import { LOGIC } from "../../parameters.ts";
import type { Segment } from "../../types.ts";

/** A segment in time, in its asset. */
export interface SegmentPosition extends Pick<Segment, "startMs" | "endMs"> {
  segmentId: SegmentId;
  assetId: AssetId;
}

/** The ids of the segments in the scope of each candidate: its own, then the nearest. */
export type Scopes = Map<SegmentId, SegmentId[]>;

/** Segments that are scored for a search. */
interface ScopeLimits {
  maxCandidates: number;
  maxScored: number;
  maxNeighbours: number;
}

/**
 * Makes the scope of each candidate: the segments of its video within `scopeSeconds` of it, at most
 * `maxNeighbours`, the nearest ones. Takes candidates in order until there are `maxCandidates`, or
 * `maxScored` segments in all scopes together.
 */
export function makeScopes(
  candidates: readonly SegmentPosition[],
  positions: readonly SegmentPosition[],
  scopeSeconds: number,
  { maxCandidates, maxScored, maxNeighbours }: ScopeLimits = LOGIC,
): Scopes {
  const byAsset = Map.groupBy(positions, ({ assetId }) => assetId);
  const scopes: Scopes = new Map();
  const scored = new Set<SegmentId>();
  for (const candidate of candidates.slice(0, maxCandidates)) {
    const neighbours = (byAsset.get(candidate.assetId) ?? [])
      .filter((position) => position.segmentId !== candidate.segmentId)
      .filter((position) => isWithinScope(candidate, position, scopeSeconds))
      .toSorted((a, b) => gapMs(candidate, a) - gapMs(candidate, b))
      .slice(0, maxNeighbours);
    const scope = [candidate, ...neighbours].map(({ segmentId }) => segmentId);
    const added = scope.filter((id) => !scored.has(id));
    if (scored.size + added.length > maxScored) break;
    for (const id of added) scored.add(id);
    scopes.set(candidate.segmentId, scope);
  }
  return scopes;
}

/** Tests whether two segments are one, or of one video and at most `scopeSeconds` apart. */
export function isWithinScope(
  a: SegmentPosition,
  b: SegmentPosition,
  scopeSeconds: number,
): boolean {
  if (a.segmentId === b.segmentId) return true;
  return scopeSeconds > 0 && a.assetId === b.assetId && gapMs(a, b) <= 1000 * scopeSeconds;
}

/** Time between two segments; 0 if they overlap or meet, and infinite for images. */
function gapMs(a: SegmentPosition, b: SegmentPosition): number {
  if (a.startMs === null || a.endMs === null || b.startMs === null || b.endMs === null) {
    return Infinity;
  }
  return Math.max(0, a.startMs - b.endMs, b.startMs - a.endMs);
}
