import { type Registration, dot, mirror, sampleArea, WHOLE } from "../media/pixels/registration.ts";
import type { TimedThumbnail } from "../media/shots/contact-sheet.ts";
import type { TimeRange } from "../time-range.ts";

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
  const aligner = new Aligner(queryRange, queryFrames, referenceFrames, registration);
  const alignments: TemporalAlignment[] = [];
  let hypotheses = candidateMappings(queryRange, frameMatches).map((one) => aligner.score(one));
  while (alignments.length < MAX_ALIGNMENTS) {
    const best = hypotheses.reduce<AlignmentHypothesis | null>(
      (a, b) => (b.score > (a?.score ?? 0) ? b : a),
      null,
    );
    if (!best) break;
    const alignment = aligner.toAlignment(aligner.refine(best));
    if (alignment.similarity < (alignments[0]?.similarity ?? 0) - REPETITION_TOLERANCE) break;
    if (!alignments.some((other) => overlaps(alignment, other))) alignments.push(alignment);
    hypotheses = hypotheses.filter((hypothesis) => {
      return hypothesis !== best && !overlaps(aligner.referenceRange(hypothesis), alignment);
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

/** Maps the time of a query to that of a reference, by what their frames have in common. */
class Aligner {
  readonly #range: TimeRange;
  readonly #centre: number;
  readonly #querySeconds: readonly number[];
  readonly #referenceSeconds: readonly number[];
  /** Correlations: a row per query frame, a column per reference frame; null for a flat frame. */
  readonly #rows: (Float64Array | null)[];
  /** Correlation of each reference frame with the next; 1 for the last. */
  readonly #nextCorrelations: Float64Array;

  constructor(
    range: TimeRange,
    queryFrames: readonly TimedThumbnail[],
    referenceFrames: readonly TimedThumbnail[],
    { area, isMirrored }: Registration,
  ) {
    this.#range = range;
    this.#centre = (range.start + range.end) / 2;
    this.#querySeconds = queryFrames.map(({ seconds }) => seconds);
    this.#referenceSeconds = referenceFrames.map(({ seconds }) => seconds);
    const references = referenceFrames.map(({ lumaThumbnail }) =>
      sampleArea(lumaThumbnail, area, SAMPLES),
    );
    this.#rows = queryFrames.map(({ lumaThumbnail }) => {
      if (standardDeviation(lumaThumbnail) < MIN_LUMA_DEVIATION) return null;
      const view = sampleArea(isMirrored ? mirror(lumaThumbnail) : lumaThumbnail, WHOLE, SAMPLES);
      return Float64Array.from(references, (reference) => dot(view, reference));
    });
    this.#nextCorrelations = Float64Array.from(references, (reference, i) =>
      references[i + 1] ? dot(reference, references[i + 1]!) : 1,
    );
  }

  /** Scores a mapping by the run of query frames with the largest sum of correlations. */
  score(mapping: TimeMapping): AlignmentHypothesis {
    const hypothesis: AlignmentHypothesis = { ...mapping, score: 0, firstFrame: 0, lastFrame: -1 };
    let [firstFrame, sum] = [0, 0];
    for (const [i, correlation] of this.#correlationsAlong(mapping).entries()) {
      if (correlation === null) continue;
      if (sum <= 0) [firstFrame, sum] = [i, 0];
      sum += correlation - MIN_CORRELATION;
      if (sum > hypothesis.score) {
        Object.assign(hypothesis, { score: sum, firstFrame, lastFrame: i });
      }
    }
    return hypothesis;
  }

  /** Finds the best mapping near a coarse one, with the fine step sizes. */
  refine(coarse: AlignmentHypothesis): AlignmentHypothesis {
    const step = speedStep(this.#range);
    const fineStep = Math.min(SPEED.fineStep, step / 10);
    const speedSteps = Math.ceil(step / fineStep);
    const middleSteps = Math.round(MIDDLE.step / MIDDLE.fineStep);
    let best = coarse;
    for (let i = -speedSteps; i <= speedSteps; i++) {
      const speed = coarse.speed + i * fineStep;
      if (speed < SPEED.min - fineStep || speed > SPEED.max + fineStep) continue;
      for (let j = -middleSteps; j <= middleSteps; j++) {
        const next = this.score({ middle: coarse.middle + j * MIDDLE.fineStep, speed });
        if (next.score > best.score) best = next;
      }
    }
    return this.#centreOfTies(best);
  }

  /** Returns the middle of equally good mappings, at speed 1 if that is as good. */
  #centreOfTies(best: AlignmentHypothesis): AlignmentHypothesis {
    const minScore = best.score * (1 - TIE_TOLERANCE);
    const centre = (start: AlignmentHypothesis) => {
      const farthestMiddle = (step: number) => {
        let last = start;
        for (let i = 0; i < MAX_TIE_STEPS; i++) {
          const next = this.score({ ...last, middle: last.middle + step });
          if (next.score < minScore) break;
          last = next;
        }
        return last.middle;
      };
      const middle = (farthestMiddle(-MIDDLE.fineStep) + farthestMiddle(MIDDLE.fineStep)) / 2;
      return this.score({ ...start, middle });
    };
    const centred = centre(best);
    const atSpeed1 = this.score({ ...centred, speed: 1 });
    return atSpeed1.score >= minScore ? centre(atSpeed1) : centred;
  }

  /**
   * Maps the hypothesis's run of frames to reference time. A run that includes the first or last
   * frame that isn't flat extends to that end of the query.
   */
  referenceRange({ middle, speed, firstFrame, lastFrame }: AlignmentHypothesis): TimeRange {
    const querySeconds = this.#querySeconds;
    const isFromStart = this.#rows.findIndex(Boolean) >= firstFrame;
    const isToEnd = this.#rows.findLastIndex(Boolean) <= lastFrame;
    const from = isFromStart ? this.#range.start : querySeconds[firstFrame]!;
    const to = isToEnd
      ? this.#range.end
      : Math.min(querySeconds[lastFrame + 1]!, querySeconds[lastFrame]! + MAX_LEAD_SECONDS);
    const toReference = (seconds: number) => middle + speed * (seconds - this.#centre);
    return { start: toReference(from), end: toReference(to) };
  }

  toAlignment(hypothesis: AlignmentHypothesis): TemporalAlignment {
    const { start, end } = this.referenceRange(hypothesis);
    const { speed, firstFrame, lastFrame } = hypothesis;
    const run = this.#correlationsAlong(hypothesis).slice(firstFrame, lastFrame + 1);
    const sorted = run.filter((correlation) => correlation !== null).toSorted((a, b) => a - b);
    const upperQuartile = sorted[Math.floor(sorted.length * QUARTILE)] ?? 0;
    const missing = 1 - (end - start) / speed / (this.#range.end - this.#range.start);
    return { start, end, similarity: upperQuartile * (1 - MAX_PARTIAL_PENALTY * missing), speed };
  }

  /** Returns the correlation of each query frame with its reference moment; null for a flat one. */
  #correlationsAlong({ middle, speed }: TimeMapping): (number | null)[] {
    const seconds = this.#referenceSeconds;
    let at = 0;
    return this.#rows.map((row, i) => {
      const moment = middle + speed * (this.#querySeconds[i]! - this.#centre);
      while (at < seconds.length - 1 && seconds[at + 1]! <= moment) at++;
      return row && this.#correlationAt(row, at, moment);
    });
  }

  /** Interpolates a query frame's correlation between the reference frames `at` and `at + 1`. */
  #correlationAt(row: Float64Array, at: number, moment: number): number {
    const [before, after] = [this.#referenceSeconds[at]!, this.#referenceSeconds[at + 1]];
    if (after === undefined || moment < before) {
      const isOutside = moment < before - MAX_LEAD_SECONDS || moment > before + MAX_TRAIL_SECONDS;
      return isOutside ? 0 : row[at]!;
    }
    const gap = after - before;
    if (gap > MAX_GAP_SECONDS) return moment - before < MAX_TRAIL_SECONDS ? row[at]! : 0;
    const share = (moment - before) / gap;
    const rest = 1 - share;
    const next = this.#nextCorrelations[at]!;
    const length = Math.sqrt(rest * rest + share * share + 2 * rest * share * next);
    return length < 0.1 ? 0 : (rest * row[at]! + share * row[at + 1]!) / length;
  }
}

/** Samples each way of the images that are compared. */
const SAMPLES = 16;
/** Standard deviation of luma below which a frame is flat: its correlations would be noise. */
const MIN_LUMA_DEVIATION = 2.5;
/** Reference frames farther apart aren't interpolated. */
const MAX_GAP_SECONDS = 12;
/** Time before a reference frame that it still represents. */
const MAX_LEAD_SECONDS = 0.3;
/** Time after a reference frame that it represents if there is no next one. */
const MAX_TRAIL_SECONDS = 0.6;

/** A linear mapping from query time to reference time. */
interface TimeMapping {
  /** Reference time of the middle of the query. */
  middle: number;
  speed: number;
}

function standardDeviation(values: Uint8Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / values.length);
}
