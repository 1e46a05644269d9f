import type { TimeRangeMs } from "../../time-range.ts";
import type { FrameSummary, Transition } from "../../types.ts";
import { decodeThumbnail } from "./sampled-frames.ts";
import { toPresentationMs } from "./windows.ts";

/** Share of the highest sharpness from which the eye can't tell a frame from the sharpest. */
const MIN_SHARPNESS_SHARE = 0.9;

/**
 * Selects the keyframe of a segment and returns its time in ms: a sampled frame outside of
 * transitions, from the half nearest to the mean of all; among the sharpest of these the one
 * nearest to the middle of the segment. Returns the middle without sampled frames.
 */
export function selectKeyframe(
  { startMs, endMs }: TimeRangeMs,
  frames: readonly FrameSummary[],
  transitions: readonly Transition[],
): number {
  const middleMs = Math.floor((startMs + endMs) / 2);
  const segmentFrames = frames.filter(({ seconds }) => {
    const ms = toPresentationMs(seconds);
    return ms >= startMs && ms < endMs;
  });
  const isOutsideTransitions = ({ seconds }: FrameSummary) =>
    transitions.every(({ from, to }) => seconds <= from || seconds >= to);
  const settled = segmentFrames.filter(isOutsideTransitions);
  const typical = typicalHalf(settled.length > 0 ? settled : segmentFrames);
  const maxSharpness = Math.max(...typical.map(({ sharpness }) => sharpness));
  const [best] = typical
    .filter(({ sharpness }) => sharpness >= MIN_SHARPNESS_SHARE * maxSharpness)
    .map(({ seconds }) => toPresentationMs(seconds))
    .sort((a, b) => Math.abs(a - middleMs) - Math.abs(b - middleMs));
  return best ?? middleMs;
}

/** Returns the half of the frames whose thumbnails are nearest to the mean of all. */
function typicalHalf(frames: FrameSummary[]): FrameSummary[] {
  const thumbnails = frames.map(({ lumaThumbnail }) => decodeThumbnail(lumaThumbnail));
  const sums = new Float64Array(thumbnails[0]?.length ?? 0);
  for (const thumbnail of thumbnails) {
    for (const [i, luma] of thumbnail.entries()) sums[i]! += luma;
  }
  const distances = thumbnails.map((thumbnail) =>
    thumbnail.reduce((sum, luma, i) => sum + (luma - sums[i]! / thumbnails.length) ** 2, 0),
  );
  const median = distances.toSorted((a, b) => a - b)[Math.floor((distances.length - 1) / 2)] ?? 0;
  return frames.filter((_, i) => distances[i]! <= median);
}
