import type { Transition } from "../../types.ts";
import {
  correlation,
  rmsDistance,
  isMonochrome,
  meanLuma,
  type FrameDescriptor,
  displacedFrameDifference,
} from "./frame-descriptor.ts";
import { findDissolves, findFades, type FrameRange } from "./gradual-transitions.ts";

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

/** Returns the indices of the frames right before a hard cut. */
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
