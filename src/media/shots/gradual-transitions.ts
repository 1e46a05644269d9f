import {
  correlation,
  covariance,
  rmsDistance,
  type FrameDescriptor,
  displacedFrameDifference,
} from "./frame-descriptor.ts";

/** Indices of the last frame before a transition and of the first one after it. */
export type FrameRange = readonly [from: number, to: number];

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
export function findDissolves(
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
export function findFades(
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
    const begin = Math.max(fades.at(-1)?.[1] ?? 0, ...cuts.map(([, to]) => (to <= first ? to : 0)));
    const nextBlank = blank.indexOf(true, last + 1);
    const end = Math.min(
      frames.length - 1,
      nextBlank === -1 ? Infinity : nextBlank,
      ...cuts.map(([from]) => (from >= last ? from : Infinity)),
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
  const best = Math.max(...gains);
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
