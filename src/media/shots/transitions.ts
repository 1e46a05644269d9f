import { maxOf, minOf } from "../../lists.ts";
import type { Transition } from "../../types.ts";
import { resizeLuma } from "../pixels/luma.ts";
import type { SampledFrame } from "./contact-sheet.ts";

/**
 * A hard cut has a displaced frame difference of at least `minDifference` levels and of `ratio`
 * times the median of `neighbours` frames on either side, and its frames correlate by
 * `maxCorrelation` at most. PySceneDetect's adaptive detector takes the mean; the median keeps a
 * cut nearby from hiding one (https://www.scenedetect.com/docs/latest/api/detectors.html).
 */
const CUT = { minDifference: 12, ratio: 3, neighbours: 4, maxCorrelation: 0.9 };
/** Added to the median, in levels: the noise of frames without motion. */
const NOISE_LEVELS = 1;
/**
 * A flash lasts at most `maxSeconds`, is brighter by `minBrighter` levels, and leaves less than
 * this share of its difference after it.
 */
const FLASH = { maxSeconds: 0.32, minBrighter: 10, maxResidual: 0.5 };

/**
 * Finds the transitions among the frames of a window, in order: cuts, dissolves, and fades through
 * black or white. Frames are in order; their spacing may vary. Motion of objects or of the camera,
 * flashes, and a fade at the start or the end of the window aren't transitions.
 */
export function findTransitions(descriptors: readonly FrameDescriptor[]): Transition[] {
  const frames = suppressFlashes(descriptors);
  const blank = frames.map(isMonochrome);
  const steps = frames.slice(1).map((frame, i) => rmsDistance(frames[i]!, frame));
  const cuts = findCuts(frames, blank).map((i): FrameRange => [i, i + 1]);
  const fades = findFades(frames, steps, blank, cuts);
  const cutsAndFades = cuts.concat(fades).sort((a, b) => a[0] - b[0]);
  const dissolves = cutsAndFades
    .concat([[frames.length - 1, frames.length]])
    .flatMap(([end], i) =>
      findDissolves(frames, steps, blank, [cutsAndFades[i - 1]?.[1] ?? 0, end]),
    );
  const toTransition =
    (kind: Transition["kind"]) =>
    ([from, to]: FrameRange): Transition => ({
      kind,
      from: frames[from]!.seconds,
      to: frames[to]!.seconds,
    });
  return cuts
    .map(toTransition("cut"))
    .concat(fades.concat(dissolves).map(toTransition("gradual")))
    .sort((a, b) => a.from - b.from);
}

/** Leaves out flashes: bright frames after which the shot goes on as before. */
function suppressFlashes(frames: readonly FrameDescriptor[]): FrameDescriptor[] {
  const result: FrameDescriptor[] = [];
  for (let i = 0; i < frames.length;) {
    result.push(frames[i]!);
    i += countFlashFrames(frames, i) + 1;
  }
  return result;
}

/** Counts the frames of a flash right after frame `i`, 0 without one. */
function countFlashFrames(frames: readonly FrameDescriptor[], i: number): number {
  const [current, next] = [frames[i]!, frames[i + 1]];
  if (!next || meanLuma(next) < meanLuma(current) + FLASH.minBrighter) return 0;
  const difference = displacedFrameDifference(current, next);
  if (difference < CUT.minDifference) return 0;
  const isAfterFlash = (frame: FrameDescriptor) =>
    frame.seconds <= current.seconds + FLASH.maxSeconds &&
    meanLuma(next) >= meanLuma(frame) + FLASH.minBrighter &&
    displacedFrameDifference(current, frame) < FLASH.maxResidual * difference;
  const end = frames.findLastIndex((frame, j) => j > i + 1 && isAfterFlash(frame));
  return Math.max(0, end - i - 1);
}

function findCuts(frames: readonly FrameDescriptor[], blank: readonly boolean[]): number[] {
  const differences = frames
    .slice(1)
    .map((frame, i) => displacedFrameDifference(frames[i]!, frame));
  return differences.flatMap((difference, i) => {
    if (difference < CUT.minDifference || blank[i] || blank[i + 1]) return [];
    const before = differences.slice(Math.max(0, i - CUT.neighbours), i);
    const after = differences.slice(i + 1, i + 1 + CUT.neighbours);
    if (difference < CUT.ratio * (median(before.concat(after)) + NOISE_LEVELS)) return [];
    return correlation(frames[i]!, frames[i + 1]!) > CUT.maxCorrelation ? [] : [i];
  });
}

/** Upper median, 0 without values. */
function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Indices of the last frame before a transition and of the first one after it. */
type FrameRange = readonly [from: number, to: number];

/** Longest dissolve, and longest half of a fade. */
const MAX_SECONDS = 3;
/** A dissolve has at least `min` steps, none of them above this share of the whole path. */
const STEPS = { min: 4, maxShare: 0.5 };
/**
 * Gain of a dissolve: the distance of its ends in levels, less `pathCost` for each level of the
 * path from frame to frame, less `frameCost` for each frame. Moving objects have a long path
 * between ends that are close. `frameCost` keeps a dissolve from including frames that don't
 * change. `straightness` is the smallest ratio of distance to path.
 */
const GAIN = { min: 6, pathCost: 0.55, straightness: 0.6, frameCost: 0.1 };
/**
 * Largest correlation and smallest displaced frame difference (levels) of the ends of a dissolve.
 */
const ENDS = { maxCorrelation: 0.8, minDifference: 12 };
/** Largest distance of a frame from the mix of the ends, as a share of the distance of the ends. */
const MAX_RESIDUAL = 0.27;
/** The shortest fade with this share of the best gain is chosen. */
const NEAR_BEST = 0.92;

/**
 * Finds the dissolves of a range of frames: runs from one frame to another by a straight path, each
 * frame a mix of both ends in proportion to its time (the production model of Lienhart, "Reliable
 * dissolve detection", 2001). `steps` are the distances from each frame to the next, `blank` marks
 * monochrome frames. Dissolves don't overlap, and those of the highest gain come first.
 */
function findDissolves(
  frames: readonly FrameDescriptor[],
  steps: readonly number[],
  blank: readonly boolean[],
  [first, last]: FrameRange,
): FrameRange[] {
  const candidates: { range: FrameRange; gain: number }[] = [];
  for (let from = first; from < last; from++) {
    let [path, largest] = [0, 0];
    for (let to = from + 1; to <= last; to++) {
      const [a, b] = [frames[from]!, frames[to]!];
      if (blank[from] || blank[to]) break;
      if (b.seconds - a.seconds > MAX_SECONDS) break;
      path += steps[to - 1]!;
      largest = Math.max(largest, steps[to - 1]!);
      if (to - from < STEPS.min || largest > STEPS.maxShare * path) continue;
      const distance = rmsDistance(a, b);
      const gain = distance - GAIN.pathCost * path - GAIN.frameCost * (to - from);
      if (gain < GAIN.min || distance < GAIN.straightness * path) continue;
      candidates.push({ range: [from, to], gain });
    }
  }
  const dissolves: FrameRange[] = [];
  for (const { range } of candidates.sort((a, b) => b.gain - a.gain)) {
    const isFree = dissolves.every(([from, to]) => range[0] >= to || range[1] <= from);
    if (isFree && isDissolve(frames.slice(range[0], range[1] + 1))) dissolves.push(range);
  }
  return dissolves;
}

/** Finds fades: from a frame to black or white, and from there to another frame. */
function findFades(
  frames: readonly FrameDescriptor[],
  steps: readonly number[],
  blank: readonly boolean[],
  cuts: readonly FrameRange[],
): FrameRange[] {
  const fades: FrameRange[] = [];
  for (let first = 0, last: number; first < frames.length; first = last + 1) {
    last = first;
    if (!blank[first]) continue;
    while (blank[last + 1]) last++;
    if (first === 0 || last === frames.length - 1) continue;
    const begin = maxOf(
      cuts.map(([, to]) => (to <= first ? to : 0)),
      fades.at(-1)?.[1] ?? 0,
    );
    const nextBlank = blank.indexOf(true, last + 1);
    const end = Math.min(
      frames.length - 1,
      nextBlank === -1 ? Infinity : nextBlank,
      minOf(cuts.map(([from]) => (from >= last ? from : Infinity))),
    );
    const from = fadeEnd(frames, steps, first, begin);
    const to = fadeEnd(frames, steps, last, end);
    if (from < first && to > last) fades.push([from, to]);
  }
  return fades;
}

/**
 * Returns the index of the other end of a fade that has one end at `blank`, no further than
 * `limit`.
 */
function fadeEnd(
  frames: readonly FrameDescriptor[],
  steps: readonly number[],
  blank: number,
  limit: number,
): number {
  const direction = limit < blank ? -1 : 1;
  const gains: number[] = [];
  for (let i = blank + direction, path = 0; direction * i <= direction * limit; i += direction) {
    if (Math.abs(frames[i]!.seconds - frames[blank]!.seconds) > MAX_SECONDS) break;
    path += steps[Math.min(i, i - direction)]!;
    gains.push(rmsDistance(frames[blank]!, frames[i]!) - GAIN.pathCost * path);
  }
  const best = maxOf(gains);
  return blank + direction * (gains.findIndex((gain) => gain >= NEAR_BEST * best) + 1);
}

/** Tests whether the ends differ and each frame is the mix of both that its time implies. */
function isDissolve(frames: readonly FrameDescriptor[]): boolean {
  const [a, b] = [frames[0]!, frames.at(-1)!];
  if (correlation(a, b) > ENDS.maxCorrelation) return false;
  if (displacedFrameDifference(a, b) < ENDS.minDifference) return false;
  if (!isFlatter(frames[Math.floor(frames.length / 2)]!, a, b)) return false;
  const distance = rmsDistance(a, b);
  return frames.every((frame) => {
    const share = (frame.seconds - a.seconds) / (b.seconds - a.seconds);
    const cells = a.cells.map((cell, i) => cell + (b.cells[i]! - cell) * share);
    return rmsDistance(frame, { seconds: frame.seconds, cells }) < MAX_RESIDUAL * distance;
  });
}

/**
 * Tests whether the middle frame has less contrast than the ends, as a mix has and a frame of a
 * moving camera hasn't: at most halfway between the variance of the ends and that of their mix.
 * Source: Alattar, "Detecting and compressing dissolve regions", 1993.
 */
function isFlatter(middle: FrameDescriptor, a: FrameDescriptor, b: FrameDescriptor): boolean {
  const endVariance = (covariance(a, a) + covariance(b, b)) / 2;
  const mixVariance = (endVariance + covariance(a, b)) / 2;
  return covariance(middle, middle) <= (endVariance + mixVariance) / 2;
}

/** A frame reduced to a grid of luma values, small enough to be compared with many others. */
export interface FrameDescriptor {
  seconds: number;
  /** `GRID_SIDE`² mean luma values of 0 to 255, rows from the top. */
  cells: Float32Array;
}

const GRID_SIDE = 24;
const GRID_SIZE = { width: GRID_SIDE, height: GRID_SIDE };
/** Side of a block in block matching, in cells. */
const BLOCK_SIDE = 4;
/** Largest displacement of a block from one frame to the next, in cells each way. */
const SEARCH_RADIUS = 3;
/** Keeps frames without contrast from correlating by their noise, in luma levels². */
const NOISE_VARIANCE = 1;
/**
 * Largest variance (levels²) of a monochrome frame, and where its mean luma counts as black or
 * white.
 */
const MONOCHROME = { maxVariance: 25, black: 24, white: 235 };

/** Averages square luma, rows from the top, into a grid. */
export function toFrameDescriptor({ seconds, luma }: SampledFrame): FrameDescriptor {
  const side = Math.sqrt(luma.length);
  const cells = resizeLuma({ luma, width: side, height: side }, GRID_SIZE);
  return { seconds, cells: Float32Array.from(cells) };
}

function rmsDistance(a: FrameDescriptor, b: FrameDescriptor): number {
  let sum = 0;
  for (let i = 0; i < a.cells.length; i++) sum += (a.cells[i]! - b.cells[i]!) ** 2;
  return Math.sqrt(sum / a.cells.length);
}

/** Correlation of two frames, −1 to 1: high where both are light and dark in the same places. */
function correlation(a: FrameDescriptor, b: FrameDescriptor): number {
  const variances = (covariance(a, a) + NOISE_VARIANCE) * (covariance(b, b) + NOISE_VARIANCE);
  return covariance(a, b) / Math.sqrt(variances);
}

/**
 * Covariance of the luma of two frames, in levels². A frame with itself: the variance, its
 * contrast.
 */
function covariance(a: FrameDescriptor, b: FrameDescriptor): number {
  const [meanA, meanB] = [meanLuma(a), meanLuma(b)];
  let sum = 0;
  for (let i = 0; i < a.cells.length; i++) sum += (a.cells[i]! - meanA) * (b.cells[i]! - meanB);
  return sum / a.cells.length;
}

/**
 * Mean absolute luma difference of two frames after block matching, in levels: each block is
 * compared with the most similar one near its position, so that motion of the camera or of objects
 * counts for little. Source: Koprinska and Carrato, "Temporal video segmentation: a survey", 2001.
 */
export function displacedFrameDifference(a: FrameDescriptor, b: FrameDescriptor): number {
  let sum = 0;
  for (let top = 0; top < GRID_SIDE; top += BLOCK_SIDE) {
    for (let left = 0; left < GRID_SIDE; left += BLOCK_SIDE)
      sum += minBlockDifference(a.cells, b.cells, left, top);
  }
  return sum / GRID_SIDE ** 2;
}

function isMonochrome(frame: FrameDescriptor): boolean {
  const mean = meanLuma(frame);
  const isFlat = covariance(frame, frame) < MONOCHROME.maxVariance;
  return isFlat && (mean < MONOCHROME.black || mean > MONOCHROME.white);
}

function meanLuma({ cells }: FrameDescriptor): number {
  let sum = 0;
  for (let i = 0; i < cells.length; i++) sum += cells[i]!;
  return sum / cells.length;
}

function minBlockDifference(from: Float32Array, to: Float32Array, left: number, top: number) {
  const last = GRID_SIDE - BLOCK_SIDE;
  const at = top * GRID_SIDE + left;
  let min = blockDifference(from, to, at, at, Infinity); // without motion: mostly the smallest
  for (let y = Math.max(0, top - SEARCH_RADIUS); y <= Math.min(last, top + SEARCH_RADIUS); y++) {
    for (
      let x = Math.max(0, left - SEARCH_RADIUS);
      x <= Math.min(last, left + SEARCH_RADIUS);
      x++
    ) {
      min = Math.min(min, blockDifference(from, to, at, y * GRID_SIDE + x, min));
    }
  }
  return min;
}

/**
 * Sum of the absolute differences of two blocks. Stops after the row in which it reaches `bound`.
 */
function blockDifference(
  from: Float32Array,
  to: Float32Array,
  fromCorner: number,
  toCorner: number,
  bound: number,
): number {
  let sum = 0;
  for (let row = 0; row < BLOCK_SIDE && sum < bound; row++) {
    const [a, b] = [fromCorner + row * GRID_SIDE, toCorner + row * GRID_SIDE];
    for (let i = 0; i < BLOCK_SIDE; i++) sum += Math.abs(from[a + i]! - to[b + i]!);
  }
  return sum;
}
