import { INGEST, SHOTS } from "../config.ts";
import { derivedId } from "../ids.ts";
import type { NewSegment } from "../store/segments.ts";
import type { Asset, Transition } from "../types.ts";
import { toShownMs } from "./stretches.ts";

/** A stretch of a video, in ms. */
export interface Cut {
  startMs: number;
  endMs: number;
}

/**
 * Cuts a video at its transitions, without gap or overlap, the last one ending with the video: one cut a
 * shot, but shots shorter than `SHOTS.leastSeconds`, and the shortest where there would be more cuts than
 * `most`, are part of their shorter neighbour, and those longer than `SHOTS.mostSeconds` are cut evenly. A
 * gradual transition is cut in its middle. A video of one shot is cut as `cutEvenly` does.
 */
export function cutAtShots(
  durationMs: number,
  transitions: readonly Transition[],
  most: number,
): Cut[] {
  const shots = shotsBetween(durationMs, transitions);
  if (shots.length === 1) return cutEvenly(durationMs, most);
  while (shots.length > 1) {
    const shortest = shots.reduce((a, b) => (lengthOf(b) < lengthOf(a) ? b : a));
    const count = shots.reduce((sum, shot) => sum + countPieces(shot), 0);
    if (lengthOf(shortest) >= SHOTS.leastSeconds * 1000 && count <= most) break;
    joinToNeighbour(shots, shots.indexOf(shortest));
  }
  return shots.flatMap((shot) => evenly(shot, countPieces(shot)));
}

/** Cuts as near to `INGEST.segmentSeconds` as they go, at most `most` of them. */
export function cutEvenly(durationMs: number, most: number): Cut[] {
  const count = Math.min(most, Math.round(durationMs / (INGEST.segmentSeconds * 1000)));
  return evenly({ startMs: 0, endMs: durationMs }, Math.max(1, count));
}

/** A shot begins with its first picture; what overlaps an earlier transition is a part of it. */
function shotsBetween(durationMs: number, transitions: readonly Transition[]): Cut[] {
  const edges = [0];
  let seen = 0;
  for (const { kind, from, to } of transitions.toSorted((a, b) => a.from - b.from)) {
    const edge = toShownMs(kind === "cut" ? to : (from + to) / 2);
    if (from < seen || edge <= edges.at(-1)! || edge >= durationMs) continue;
    edges.push(edge);
    seen = to;
  }
  return edges.map((startMs, i) => ({ startMs, endMs: edges[i + 1] ?? durationMs }));
}

function joinToNeighbour(shots: Cut[], at: number): void {
  const [before, after] = [shots[at - 1], shots[at + 1]];
  const first = before && (!after || lengthOf(before) <= lengthOf(after)) ? at - 1 : at;
  const joined = { startMs: shots[first]!.startMs, endMs: shots[first + 1]!.endMs };
  shots.splice(first, 2, joined);
}

function countPieces(shot: Cut): number {
  const seconds = lengthOf(shot) / 1000;
  return seconds > SHOTS.mostSeconds ? Math.ceil(seconds / SHOTS.pieceSeconds) : 1;
}

function evenly({ startMs, endMs }: Cut, count: number): Cut[] {
  const edge = (index: number) => startMs + Math.round((index * (endMs - startMs)) / count);
  return Array.from({ length: count }, (_, i) => ({ startMs: edge(i), endMs: edge(i + 1) }));
}

function lengthOf({ startMs, endMs }: Cut): number {
  return endMs - startMs;
}

/** The segments of a video, each with the time of its keyframe. */
export function videoSegments(
  asset: Asset,
  cuts: (Cut & { keyframeMs: number })[],
): Promise<NewSegment[]> {
  return Promise.all(
    cuts.map(async (cut, position) => ({ ...(await identity(asset, position)), ...cut })),
  );
}

/** An image is one segment, without times. */
export async function imageSegment(asset: Asset): Promise<NewSegment> {
  return { ...(await identity(asset, 0)), startMs: null, endMs: null, keyframeMs: 0 };
}

/** The same asset and position, the same id; it sorts by the time of the asset. */
async function identity(asset: Asset, position: number) {
  const seed = await derivedId("seg", `${asset.assetId}:${position}`);
  const time = asset.assetId.slice(4, 14);
  const segmentId = `seg_${time}${seed.slice(-16)}`;
  return { segmentId, assetId: asset.assetId, indexId: asset.indexId, position };
}
