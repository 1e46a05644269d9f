import { INGEST } from "../../config.ts";
import { segmentId } from "../../ids.ts";
import { SHOTS } from "../../parameters.ts";
import type { NewSegment } from "../../store/index-database/segments.ts";
import { type TimeRangeMs, lengthMs } from "../../time-range.ts";
import type { Asset, Transition } from "../../types.ts";
import { mergeShortShots } from "./merge-short-shots.ts";
import { mergeSimilarShots } from "./merge-similar-shots.ts";
import type { SampledFrames } from "./sampled-frames.ts";
import { splitLongShot } from "./split-long-shots.ts";
import { toPresentationMs } from "./windows.ts";

/** Results of the analysis of a video that segmentation uses. */
export interface SegmentationInput {
  frames: SampledFrames;
  transitions: readonly Transition[];
  /** Time ranges without speech, in order. Empty if unknown. */
  silences: readonly TimeRangeMs[];
}

/**
 * Segments a video at its transitions, a gradual one in its middle. The segments have no gaps or
 * overlaps, and the last one ends with the video. One shot is one segment, with three exceptions.
 * Shots below `SHOTS.minShotSeconds`, shots that are similar to the one before, and the shortest
 * ones while there would be more than `maxSegments` segments are merged with a neighbour. Shots
 * above `SHOTS.maxSegmentSeconds` are split at pauses, even if there are more than `maxSegments`
 * then. A video of one shot is split into segments of about `INGEST.singleShotSegmentSeconds`.
 */
export async function segmentVideo(
  durationMs: number,
  { frames, transitions, silences }: SegmentationInput,
  maxSegments: number,
): Promise<TimeRangeMs[]> {
  const shots = shotsBetween(durationMs, transitions);
  const split = (shot: TimeRangeMs, count: number) =>
    splitLongShot(shot, count, frames.framesIn(shot), silences);
  if (shots.length === 1) {
    const segmentMs = INGEST.singleShotSegmentSeconds * 1000;
    return split(shots[0]!, Math.min(maxSegments, Math.round(durationMs / segmentMs)));
  }
  const isTooShort = (shortest: TimeRangeMs) => lengthMs(shortest) < SHOTS.minShotSeconds * 1000;
  const longShots = mergeShortShots(shots, countSegments, isTooShort);
  const distinctShots = await mergeSimilarShots(longShots, frames);
  const mergedShots = mergeShortShots(
    distinctShots,
    countSegments,
    (_, segmentCount) => segmentCount > maxSegments,
  );
  return mergedShots.flatMap((shot) => split(shot, countSegments(shot)));
}

/** A shot begins with its first frame. A transition that overlaps an earlier one is ignored. */
function shotsBetween(durationMs: number, transitions: readonly Transition[]): TimeRangeMs[] {
  const boundariesMs = [0];
  let previousEnd = 0;
  for (const { kind, from, to } of transitions.toSorted((a, b) => a.from - b.from)) {
    const boundaryMs = toPresentationMs(kind === "cut" ? to : (from + to) / 2);
    if (from < previousEnd || boundaryMs <= boundariesMs.at(-1)! || boundaryMs >= durationMs)
      continue;
    boundariesMs.push(boundaryMs);
    previousEnd = to;
  }
  return boundariesMs.map((startMs, i) => ({ startMs, endMs: boundariesMs[i + 1] ?? durationMs }));
}

/** Returns the number of segments that a shot is split into. */
function countSegments(shot: TimeRangeMs): number {
  const seconds = lengthMs(shot) / 1000;
  return seconds > SHOTS.maxSegmentSeconds ? Math.ceil(seconds / SHOTS.targetSegmentSeconds) : 1;
}

/** Makes the segments of a video of their time ranges. The ids depend on the positions only. */
export function toVideoSegments(
  asset: Asset,
  ranges: (TimeRangeMs & { keyframeMs: number })[],
): Promise<NewSegment[]> {
  return Promise.all(
    ranges.map(async (range, position) => ({
      ...(await segmentIdentity(asset, position)),
      ...range,
    })),
  );
}

/** Makes the only segment of an image, without times. */
export async function toImageSegment(asset: Asset): Promise<NewSegment> {
  return { ...(await segmentIdentity(asset, 0)), startMs: null, endMs: null, keyframeMs: 0 };
}

async function segmentIdentity(asset: Asset, position: number) {
  const { assetId, indexId } = asset;
  return { segmentId: await segmentId(assetId, position), assetId, indexId, position };
}
