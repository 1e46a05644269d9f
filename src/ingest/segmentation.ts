import { INGEST } from "../config.ts";
import { segmentId } from "../ids.ts";
import { maxOf, minOf, partitionPoint, append } from "../lists.ts";
import { highPassVector } from "../media/pixels/luma.ts";
import { dot, sampleArea, WHOLE } from "../media/pixels/registration.ts";
import { SHOTS, COPY_DETECTION, AUDIO_SEGMENTS } from "../parameters.ts";
import type { NewSegment } from "../store/index-database/segments.ts";
import { type TimeRangeMs, lengthMs } from "../time-range.ts";
import type { Asset, Transition, FrameSummary, Cue } from "../types.ts";
import { decodeThumbnail, type SampledFrames, toPresentationMs } from "./windows.ts";

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

function countSegments(shot: TimeRangeMs): number {
  const seconds = lengthMs(shot) / 1000;
  return seconds > SHOTS.maxSegmentSeconds ? Math.ceil(seconds / SHOTS.targetSegmentSeconds) : 1;
}

/** Makes the segments of an asset. Their ids depend on the positions only. */
export function toSegments(
  { assetId, indexId }: Asset,
  ranges: Pick<NewSegment, "startMs" | "endMs" | "keyframeMs">[],
): Promise<NewSegment[]> {
  return Promise.all(
    ranges.map(async (range, position) => ({
      segmentId: await segmentId(assetId, position),
      assetId,
      indexId,
      position,
      ...range,
    })),
  );
}

/** Frames of a shot that are compared with those of another, evenly spaced. */
const MAX_COMPARED_FRAMES = 8;

/**
 * Merges neighbouring shots of similar frames up to `SHOTS.maxSegmentSeconds`: after a jump cut, or
 * where a shot between two of the same framing was too short to stay. Reads the full luma, which
 * tells one page of text from another, only where the thumbnails are similar.
 */
async function mergeSimilarShots(
  shots: readonly TimeRangeMs[],
  frames: SampledFrames,
): Promise<TimeRangeMs[]> {
  const result: TimeRangeMs[] = [];
  for (const shot of shots) {
    const previous = result.at(-1);
    const merged = previous && { startMs: previous.startMs, endMs: shot.endMs };
    const isMerged =
      merged &&
      lengthMs(merged) <= SHOTS.maxSegmentSeconds * 1000 &&
      (await areSimilar(previous, shot, frames));
    if (isMerged) result[result.length - 1] = merged;
    else result.push(shot);
  }
  return result;
}

async function areSimilar(a: TimeRangeMs, b: TimeRangeMs, frames: SampledFrames): Promise<boolean> {
  const framesA = evenlySpaced(frames.framesIn(a));
  const framesB = evenlySpaced(frames.framesIn(b));
  const similarity = shotSimilarity(framesA.map(toUnitVector), framesB.map(toUnitVector));
  if (similarity < SHOTS.minMergeCorrelation) return false;
  const [lumaA, lumaB] = [await frames.readLuma(framesA), await frames.readLuma(framesB)];
  const detailSimilarity = shotSimilarity(lumaA.map(highPassVector), lumaB.map(highPassVector));
  return detailSimilarity >= SHOTS.minMergeDetailCorrelation;
}

/**
 * Similarity of two groups of unit vectors: half of either group correlate at least so well with
 * one of the other. 0 for an empty group.
 */
function shotSimilarity(a: readonly Float64Array[], b: readonly Float64Array[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  return Math.min(medianBestCorrelation(a, b), medianBestCorrelation(b, a));
}

/** Lower median of each vector's correlation with its most similar vector of `others`. */
function medianBestCorrelation(vectors: readonly Float64Array[], others: readonly Float64Array[]) {
  const best = vectors.map((vector) => maxOf(others.map((other) => dot(vector, other))));
  return best.sort((a, b) => a - b)[Math.floor((best.length - 1) / 2)]!;
}

function toUnitVector({ lumaThumbnail }: FrameSummary): Float64Array {
  return sampleArea(decodeThumbnail(lumaThumbnail), WHOLE, COPY_DETECTION.thumbnailSide);
}

function evenlySpaced(frames: readonly FrameSummary[]): FrameSummary[] {
  const count = Math.min(MAX_COMPARED_FRAMES, frames.length);
  return Array.from(
    { length: count },
    (_, i) => frames[Math.floor(((i + 0.5) * frames.length) / count)]!,
  );
}

interface Shot extends TimeRangeMs {
  previous: Shot | null;
  next: Shot | null;
  /** Whether a neighbour has its time now. */
  isMerged: boolean;
}

/**
 * Merges the shortest shot (the first of several) with its shorter neighbour, for as long as
 * `shouldMerge` returns true for the shortest shot and for the number of segments of all shots.
 * `countSegments` counts those of one shot. At least one shot remains.
 */
function mergeShortShots(
  shots: readonly TimeRangeMs[],
  countSegments: (shot: TimeRangeMs) => number,
  shouldMerge: (shortest: TimeRangeMs, segmentCount: number) => boolean,
): TimeRangeMs[] {
  const list = toLinkedList(shots);
  const byLengthMs = Map.groupBy(list, lengthMs);
  let segmentCount = list.reduce((sum, shot) => sum + countSegments(shot), 0);
  let isDone = false;
  // A merged shot is longer than the shortest, and so comes up later.
  for (let ms = 0; !isDone && byLengthMs.size > 0; ms++) {
    const shortestShots = byLengthMs.get(ms)?.toSorted((a, b) => a.startMs - b.startMs) ?? [];
    byLengthMs.delete(ms);
    for (const shortest of shortestShots) {
      if (shortest.isMerged || lengthMs(shortest) > ms) continue;
      const { previous, next } = shortest;
      isDone = (!previous && !next) || !shouldMerge(shortest, segmentCount);
      if (isDone) break;
      const isPrevious = previous && (!next || lengthMs(previous) <= lengthMs(next));
      const neighbour = (isPrevious ? previous : next)!;
      segmentCount -= countSegments(neighbour) + countSegments(shortest);
      if (isPrevious) neighbour.endMs = shortest.endMs;
      else neighbour.startMs = shortest.startMs;
      segmentCount += countSegments(neighbour);
      shortest.isMerged = true;
      if (previous) previous.next = next;
      if (next) next.previous = previous;
      const others = byLengthMs.get(lengthMs(neighbour));
      if (others) others.push(neighbour);
      else byLengthMs.set(lengthMs(neighbour), [neighbour]);
    }
  }
  const remaining = list.filter(({ isMerged }) => !isMerged);
  return remaining.map(({ startMs, endMs }) => ({ startMs, endMs }));
}

function toLinkedList(shots: readonly TimeRangeMs[]): Shot[] {
  const list = shots.map(({ startMs, endMs }): Shot => {
    return { startMs, endMs, previous: null, next: null, isMerged: false };
  });
  for (const [i, shot] of list.entries()) {
    shot.previous = list[i - 1] ?? null;
    shot.next = list[i + 1] ?? null;
  }
  return list;
}

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
  const maxSharpness = maxOf(typical.map(({ sharpness }) => sharpness));
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
function longestPause(
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

function middleOf({ startMs, endMs }: TimeRangeMs): number {
  return Math.round((startMs + endMs) / 2);
}

const MIN_MS = AUDIO_SEGMENTS.minSeconds * 1000;
const MAX_MS = AUDIO_SEGMENTS.maxSeconds * 1000;

/**
 * Segments sound without pictures, without gaps or overlaps: as long as a part is longer than
 * `AUDIO_SEGMENTS.maxSeconds`, it is split in its longest pause that leaves at least `minSeconds`
 * on either side. This is the segmentation of Potapczyk and Przybysz ("SRPOL's system for the IWSLT
 * 2020 end-to-end speech translation task", 2020). Of pauses of one length the one nearest to the
 * middle of the part decides. `pauseLists` are in order of preference, each in order of time: a
 * list decides where those before it have no pause. A part without any pause is split evenly.
 */
export function segmentAudio(
  durationMs: number,
  pauseLists: readonly (readonly TimeRangeMs[])[],
): TimeRangeMs[] {
  const segments: TimeRangeMs[] = [];
  const parts = [{ startMs: 0, endMs: durationMs }]; // the first one last
  for (let part = parts.pop(); part; part = parts.pop()) {
    const boundaryMs = lengthMs(part) > MAX_MS ? pauseBoundary(part, pauseLists) : null;
    if (boundaryMs === null) append(segments, splitEvenly(part));
    else {
      const { startMs, endMs } = part;
      parts.push({ startMs: boundaryMs, endMs }, { startMs, endMs: boundaryMs });
    }
  }
  return segments;
}

function pauseBoundary(
  part: TimeRangeMs,
  pauseLists: readonly (readonly TimeRangeMs[])[],
): number | null {
  const range = { startMs: part.startMs + MIN_MS, endMs: part.endMs - MIN_MS };
  for (const pauses of pauseLists) {
    const pause = longestPause(range, middleOf(part), pauses);
    if (pause) return middleOf(pause);
  }
  return null;
}

function splitEvenly({ startMs, endMs }: TimeRangeMs): TimeRangeMs[] {
  const count = Math.max(1, Math.ceil((endMs - startMs) / MAX_MS));
  const edge = (i: number) => startMs + Math.round((i * (endMs - startMs)) / count);
  return Array.from({ length: count }, (_, i) => ({ startMs: edge(i), endMs: edge(i + 1) }));
}
