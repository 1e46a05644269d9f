import { minOf, partitionPoint } from "../../lists.ts";
import { SHOTS } from "../../parameters.ts";
import { type TimeRangeMs, lengthMs } from "../../time-range.ts";
import type { Cue, FrameSummary } from "../../types.ts";
import { decodeThumbnail, toPresentationMs } from "./windows.ts";

/** Difference of two frames that nobody notices, in luma levels. */
const NOISE_LEVELS = 1;

/** A sampled frame's mean absolute luma differences, in levels. */
interface FrameChange {
  ms: number;
  step: number;
  /** The larger of the differences from the previous and to the next frame. */
  motion: number;
}

/**
 * Splits a shot into `count` segments of about the same length. A boundary may move by
 * `SHOTS.splitTolerance` of a segment. The first that applies: to a change far above the median of
 * the shot; to the frame with the least motion in the longest silence; to the frame with the least
 * motion. Of several such frames the nearest to the even split is chosen. `frames` (those of the
 * shot) and `silences` are in order.
 */
export function splitLongShot(
  shot: TimeRangeMs,
  count: number,
  frames: readonly FrameSummary[],
  silences: readonly TimeRangeMs[],
): TimeRangeMs[] {
  if (count <= 1) return [shot];
  const shotChanges = measureChanges(frames);
  const segmentMs = lengthMs(shot) / count;
  const toleranceMs = SHOTS.splitTolerance * Math.min(segmentMs, SHOTS.targetSegmentSeconds * 1000);
  const boundariesMs = Array.from({ length: count - 1 }, (_, i) => {
    const evenMs = shot.startMs + Math.round((i + 1) * segmentMs);
    const range = { startMs: evenMs - toleranceMs, endMs: evenMs + toleranceMs };
    return selectBoundary(range, evenMs, shotChanges, silences);
  });
  const edgesMs = [shot.startMs, ...boundariesMs, shot.endMs];
  return edgesMs.slice(1).map((endMs, i) => ({ startMs: edgesMs[i]!, endMs }));
}

/**
 * Finds the time ranges without a cue, in order. Two cues that touch have a silence of no length
 * between them. Returns none without cues: silence is unknown then.
 */
export function findSilences(cues: readonly Cue[], durationMs: number): TimeRangeMs[] {
  const silences: TimeRangeMs[] = [];
  let startMs = 0;
  for (const { start, end } of cues.toSorted((a, b) => a.start - b.start)) {
    const endMs = Math.min(durationMs, Math.round(start * 1000));
    if (endMs >= startMs) silences.push({ startMs, endMs });
    startMs = Math.max(startMs, Math.round(end * 1000));
  }
  if (cues.length > 0 && startMs < durationMs) silences.push({ startMs, endMs: durationMs });
  return silences;
}

function selectBoundary(
  range: TimeRangeMs,
  evenMs: number,
  { changes, medianStep }: ReturnType<typeof measureChanges>,
  silences: readonly TimeRangeMs[],
): number {
  const inRange = changes.slice(
    partitionPoint(changes, ({ ms }) => ms < range.startMs),
    partitionPoint(changes, ({ ms }) => ms <= range.endMs),
  );
  const [largest] = inRange.toSorted((a, b) => b.step - a.step);
  const { minLumaDistance, minRatio } = SHOTS.splitChange;
  const minStep = Math.max(minLumaDistance, minRatio * (medianStep + NOISE_LEVELS));
  if (largest && largest.step >= minStep) return largest.ms;
  const silence = longestPause(range, evenMs, silences);
  const isSilent = ({ ms }: FrameChange) =>
    silence === undefined || (ms >= silence.startMs && ms <= silence.endMs);
  const candidates = inRange.filter(isSilent);
  const minMotion = minOf(candidates.map(({ motion }) => motion));
  const isCalm = ({ motion }: FrameChange) => motion <= minMotion + NOISE_LEVELS;
  const aroundEven = [
    candidates.findLast(({ ms }) => ms <= evenMs),
    candidates.find(({ ms }) => ms >= evenMs),
  ];
  if (aroundEven.every((change) => change && isCalm(change))) return evenMs;
  const [calmest] = candidates
    .filter(isCalm)
    .sort((a, b) => Math.abs(a.ms - evenMs) - Math.abs(b.ms - evenMs));
  return calmest?.ms ?? (silence ? middleOf(silence) : evenMs);
}

/** Returns the longest pause, cut to `range`. Of several the nearest to `nearMs`. */
export function longestPause(
  range: TimeRangeMs,
  nearMs: number,
  pauses: readonly TimeRangeMs[],
): TimeRangeMs | undefined {
  const overlapping = pauses.slice(
    partitionPoint(pauses, ({ endMs }) => endMs < range.startMs),
    partitionPoint(pauses, ({ startMs }) => startMs <= range.endMs),
  );
  const clipped = overlapping.map(({ startMs, endMs }) => ({
    startMs: Math.max(range.startMs, startMs),
    endMs: Math.min(range.endMs, endMs),
  }));
  const distance = (pause: TimeRangeMs) => Math.abs(middleOf(pause) - nearMs);
  let longest = clipped[0];
  for (const pause of clipped.slice(1)) {
    const longer = lengthMs(pause) - lengthMs(longest!);
    if (longer > 0 || (longer === 0 && distance(pause) < distance(longest!))) longest = pause;
  }
  return longest;
}

function measureChanges(frames: readonly FrameSummary[]) {
  const thumbnails = frames.map(({ lumaThumbnail }) => decodeThumbnail(lumaThumbnail));
  const steps = thumbnails.map((thumbnail, i) => {
    const before = thumbnails[i - 1] ?? thumbnail;
    return (
      thumbnail.reduce((sum, luma, at) => sum + Math.abs(luma - before[at]!), 0) / thumbnail.length
    );
  });
  const changes = frames.map(({ seconds }, i): FrameChange => {
    const motion = Math.max(steps[i]!, steps[i + 1] ?? 0);
    return { ms: toPresentationMs(seconds), step: steps[i]!, motion };
  });
  const medianStep = steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
  return { changes, medianStep };
}

export function middleOf({ startMs, endMs }: TimeRangeMs): number {
  return Math.round((startMs + endMs) / 2);
}
