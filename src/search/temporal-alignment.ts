import type { Registration } from "../media/pixels/registration.ts";
import type { TimedThumbnail } from "../media/pixels/thumbnails.ts";
import type { TimeRange } from "../time-range.ts";
import {
  compareFrames,
  correlationsAlong,
  MAX_LEAD_SECONDS,
  type SimilarityMatrix,
  type TimeMapping,
} from "./similarity-matrix.ts";

/** A query frame and a similar frame of a reference video, by their times. */
export interface FrameMatch {
  querySeconds: number;
  referenceSeconds: number;
}

/** The time range of a reference video that shows the query. */
export interface TemporalAlignment extends TimeRange {
  /**
   * Upper quartile of the correlations of query frames with the reference, 0–1: with fast motion, a
   * frame correlates with its own moment only, not with the stored frames around it. Slightly lower
   * if only a part of the query is in the reference.
   */
  similarity: number;
  /** Reference seconds per query second: 1.05 if the query was sped up by 5 %. */
  speed: number;
}

/** A mapping with its best run of query frames, by their indices. */
interface AlignmentHypothesis extends TimeMapping {
  /** Sum of the run's correlations above `MIN_CORRELATION`. */
  score: number;
  firstFrame: number;
  lastFrame: number;
}

/** Range and step sizes of `TimeMapping.speed`. */
export const SPEED = { min: 0.93, max: 1.07, step: 0.02, fineStep: 0.0025 };
/** Step sizes of `TimeMapping.middle`, in seconds. */
const MIDDLE = { step: 0.25, fineStep: 0.05 };
/** Distance from a frame match in which mappings are tried: one signature covers similar frames. */
const MATCH_TOLERANCE_SECONDS = 6;
/** Correlation above which a frame supports a mapping. */
const MIN_CORRELATION = 0.6;
/** Steps to each side in which equally good mappings are looked for: a minute. */
const MAX_TIE_STEPS = 1200;
/** Relative difference of scores that count as equal. */
const TIE_TOLERANCE = 0.001;
/** Difference of similarity within which another alignment is a repetition, not a weaker match. */
const REPETITION_TOLERANCE = 0.01;
const QUARTILE = 0.75;
/** Similarity lost if next to nothing of the query is in the reference. */
const MAX_PARTIAL_PENALTY = 0.1;
const MAX_ALIGNMENTS = 3;

/**
 * Aligns a query range with a reference video, best alignment first. Mappings of time (an offset
 * and a speed) near frame matches are scored by all query frames, as in temporal Hough voting
 * (Douze, Jégou and Schmid, "An Image-Based Approach to Video Copy Detection with Spatio-Temporal
 * Post-Filtering", 2010). Moments between two reference frames are interpolated, so alignments are
 * finer than the sampling interval. The run of frames with the largest sum (Kadane's algorithm)
 * trims what isn't in the reference. Among equally good mappings of a static scene, the middle one
 * counts.
 */
export function alignTemporally(
  queryRange: TimeRange,
  queryFrames: readonly TimedThumbnail[],
  referenceFrames: readonly TimedThumbnail[],
  registration: Registration,
  frameMatches: readonly FrameMatch[],
): TemporalAlignment[] {
  const matrix = compareFrames(queryFrames, referenceFrames, registration);
  const alignments: TemporalAlignment[] = [];
  let hypotheses = candidateMappings(queryRange, frameMatches).map((mapping) =>
    scoreMapping(matrix, queryRange, mapping),
  );
  while (alignments.length < MAX_ALIGNMENTS) {
    const best = hypotheses.reduce<AlignmentHypothesis | null>(
      (a, b) => (b.score > (a?.score ?? 0) ? b : a),
      null,
    );
    if (!best) break;
    const alignment = toAlignment(matrix, queryRange, refine(matrix, queryRange, best));
    if (alignment.similarity < (alignments[0]?.similarity ?? 0) - REPETITION_TOLERANCE) break;
    if (!alignments.some((other) => overlaps(alignment, other))) alignments.push(alignment);
    hypotheses = hypotheses.filter((hypothesis) => {
      const range = referenceRange(matrix, queryRange, hypothesis);
      return hypothesis !== best && !overlaps(range, alignment);
    });
  }
  return alignments;
}

function overlaps(a: TimeRange, b: TimeRange): boolean {
  return a.start < b.end && b.start < a.end;
}

/** Returns the step of speeds, which changes the mapped duration by at most a second. */
function speedStep({ start, end }: TimeRange): number {
  return Math.min(SPEED.step, 1 / Math.max(1, end - start));
}

/** Lists the mappings near frame matches, without duplicates, for all speeds. */
function candidateMappings(
  queryRange: TimeRange,
  frameMatches: readonly FrameMatch[],
): TimeMapping[] {
  const centre = (queryRange.start + queryRange.end) / 2;
  const step = speedStep(queryRange);
  const stepCount = Math.floor((SPEED.max - 1) / step);
  const speeds = Array.from({ length: 2 * stepCount + 1 }, (_, i) => 1 + (i - stepCount) * step);
  return speeds.flatMap((speed) => {
    const positions = new Set<number>();
    for (const { querySeconds, referenceSeconds } of frameMatches) {
      const middle = referenceSeconds + speed * (centre - querySeconds);
      const first = Math.floor((middle - MATCH_TOLERANCE_SECONDS) / MIDDLE.step);
      const last = Math.ceil((middle + MATCH_TOLERANCE_SECONDS) / MIDDLE.step);
      for (let position = first; position <= last; position++) positions.add(position);
    }
    return Array.from(positions, (position) => ({ middle: position * MIDDLE.step, speed }));
  });
}

/** Scores a mapping by the run of query frames with the largest sum of correlations. */
function scoreMapping(
  matrix: SimilarityMatrix,
  queryRange: TimeRange,
  mapping: TimeMapping,
): AlignmentHypothesis {
  const hypothesis: AlignmentHypothesis = { ...mapping, score: 0, firstFrame: 0, lastFrame: -1 };
  let [firstFrame, sum] = [0, 0];
  for (const [i, correlation] of correlationsAlong(matrix, queryRange, mapping).entries()) {
    if (correlation === null) continue;
    if (sum <= 0) [firstFrame, sum] = [i, 0];
    sum += correlation - MIN_CORRELATION;
    if (sum > hypothesis.score) {
      hypothesis.score = sum;
      hypothesis.firstFrame = firstFrame;
      hypothesis.lastFrame = i;
    }
  }
  return hypothesis;
}

/** Finds the best mapping near a coarse one, with the fine step sizes. */
function refine(
  matrix: SimilarityMatrix,
  queryRange: TimeRange,
  coarse: AlignmentHypothesis,
): AlignmentHypothesis {
  const step = speedStep(queryRange);
  const fineStep = Math.min(SPEED.fineStep, step / 10);
  const speedSteps = Math.ceil(step / fineStep);
  const middleSteps = Math.round(MIDDLE.step / MIDDLE.fineStep);
  const hypotheses: AlignmentHypothesis[] = [];
  for (let i = -speedSteps; i <= speedSteps; i++) {
    const speed = coarse.speed + i * fineStep;
    if (speed < SPEED.min - fineStep || speed > SPEED.max + fineStep) continue;
    for (let j = -middleSteps; j <= middleSteps; j++) {
      const middle = coarse.middle + j * MIDDLE.fineStep;
      hypotheses.push(scoreMapping(matrix, queryRange, { middle, speed }));
    }
  }
  const best = hypotheses.reduce((a, b) => (b.score > a.score ? b : a), coarse);
  return centreOfTies(matrix, queryRange, best);
}

/** Returns the middle of equally good mappings, at speed 1 if that is as good. */
function centreOfTies(
  matrix: SimilarityMatrix,
  queryRange: TimeRange,
  best: AlignmentHypothesis,
): AlignmentHypothesis {
  const minScore = best.score * (1 - TIE_TOLERANCE);
  const centre = (start: AlignmentHypothesis) => {
    const farthestMiddle = (step: number) => {
      let last = start;
      for (let i = 0; i < MAX_TIE_STEPS; i++) {
        const mapping = { ...last, middle: last.middle + step };
        const next = scoreMapping(matrix, queryRange, mapping);
        if (next.score < minScore) break;
        last = next;
      }
      return last.middle;
    };
    const middle = (farthestMiddle(-MIDDLE.fineStep) + farthestMiddle(MIDDLE.fineStep)) / 2;
    return scoreMapping(matrix, queryRange, { ...start, middle });
  };
  const centred = centre(best);
  const atSpeed1 = scoreMapping(matrix, queryRange, { ...centred, speed: 1 });
  return atSpeed1.score >= minScore ? centre(atSpeed1) : centred;
}

/**
 * Maps the hypothesis's run of frames to reference time. A run that includes the first or last
 * frame that isn't flat extends to that end of the query.
 */
function referenceRange(
  { querySeconds, rows }: SimilarityMatrix,
  { start, end }: TimeRange,
  { middle, speed, firstFrame, lastFrame }: AlignmentHypothesis,
): TimeRange {
  const from = rows.findIndex(Boolean) >= firstFrame ? start : querySeconds[firstFrame]!;
  const isToEnd = rows.findLastIndex(Boolean) <= lastFrame;
  const to = isToEnd
    ? end
    : Math.min(querySeconds[lastFrame + 1]!, querySeconds[lastFrame]! + MAX_LEAD_SECONDS);
  const toReference = (seconds: number) => middle + speed * (seconds - (start + end) / 2);
  return { start: toReference(from), end: toReference(to) };
}

function toAlignment(
  matrix: SimilarityMatrix,
  queryRange: TimeRange,
  hypothesis: AlignmentHypothesis,
): TemporalAlignment {
  const range = referenceRange(matrix, queryRange, hypothesis);
  const { speed, firstFrame, lastFrame } = hypothesis;
  const run = correlationsAlong(matrix, queryRange, hypothesis).slice(firstFrame, lastFrame + 1);
  const sorted = run.filter((correlation) => correlation !== null).toSorted((a, b) => a - b);
  const upperQuartile = sorted[Math.floor(sorted.length * QUARTILE)] ?? 0;
  const missing = 1 - (range.end - range.start) / speed / (queryRange.end - queryRange.start);
  return { ...range, similarity: upperQuartile * (1 - MAX_PARTIAL_PENALTY * missing), speed };
}
