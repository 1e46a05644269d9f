import { INGEST, SHOTS } from "../config.ts";
import { segmentId } from "../ids.ts";
import type { NewSegment } from "../store/segments.ts";
import type { Asset, Transition } from "../types.ts";
import { type Cut, lengthOf } from "./cut.ts";
import { joinShortest } from "./joins.ts";
import { joinAlike } from "./likeness.ts";
import { splitAtPauses } from "./pauses.ts";
import type { SeenStills } from "./seen-stills.ts";
import { toShownMs } from "./stretches.ts";

/** What is known of a video before it is cut. */
export interface Sights {
  seen: SeenStills;
  transitions: readonly Transition[];
  /** When nobody speaks, in order; none where that isn't known. */
  silences: readonly Cut[];
}

/**
 * Cuts a video at its transitions, without gap or overlap, the last one ending with the video: one cut a
 * shot, but shots shorter than `SHOTS.leastSeconds`, those that look like the one before, and the shortest
 * where there would be more cuts than `most`, are part of a neighbour, and those longer than
 * `SHOTS.mostSeconds` are split at pauses. A gradual transition is cut in its middle. A video of one shot is
 * split into pieces of about `INGEST.segmentSeconds`.
 */
export async function cutAtShots(
  durationMs: number,
  { seen, transitions, silences }: Sights,
  most: number,
): Promise<Cut[]> {
  const shots = shotsBetween(durationMs, transitions);
  const split = (shot: Cut, count: number) =>
    splitAtPauses(shot, count, seen.within(shot), silences);
  if (shots.length === 1) {
    const count = Math.min(most, Math.round(durationMs / (INGEST.segmentSeconds * 1000)));
    return split(shots[0]!, count);
  }
  const isShort = (shortest: Cut) => lengthOf(shortest) < SHOTS.leastSeconds * 1000;
  const long = joinShortest(shots, countPieces, isShort);
  const different = await joinAlike(long, seen);
  const few = joinShortest(different, countPieces, (_, pieces) => pieces > most);
  return few.flatMap((shot) => split(shot, countPieces(shot)));
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

function countPieces(shot: Cut): number {
  const seconds = lengthOf(shot) / 1000;
  return seconds > SHOTS.mostSeconds ? Math.ceil(seconds / SHOTS.pieceSeconds) : 1;
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

async function identity(asset: Asset, position: number) {
  const { assetId, indexId } = asset;
  return { segmentId: await segmentId(assetId, position), assetId, indexId, position };
}
