import { dot, mirror, type Registration, sampleArea, WHOLE } from "../media/pixels/registration.ts";
import type { TimedThumbnail } from "../media/pixels/thumbnails.ts";
import type { TimeRange } from "../time-range.ts";

/** Samples each way of the images that are compared. */
const SAMPLES = 16;
/** Standard deviation of luma below which a frame is flat: its correlations would be noise. */
const MIN_LUMA_DEVIATION = 2.5;
/** Reference frames farther apart aren't interpolated. */
const MAX_GAP_SECONDS = 12;
/** Time before a reference frame that it still represents. */
export const MAX_LEAD_SECONDS = 0.3;
/** Time after a reference frame that it represents if there is no next one. */
const MAX_TRAIL_SECONDS = 0.6;

/** A linear mapping from query time to reference time. */
export interface TimeMapping {
  /** Reference time of the middle of the query. */
  middle: number;
  speed: number;
}

/** Correlations of all query frames with all reference frames. */
export interface SimilarityMatrix {
  querySeconds: readonly number[];
  referenceSeconds: readonly number[];
  /** A row per query frame, a column per reference frame; null for a flat query frame. */
  rows: (Float64Array | null)[];
  /** Correlation of each reference frame with the next; 1 for the last. */
  nextCorrelations: Float64Array;
}

export function compareFrames(
  queryFrames: readonly TimedThumbnail[],
  referenceFrames: readonly TimedThumbnail[],
  { area, isMirrored }: Registration,
): SimilarityMatrix {
  const references = referenceFrames.map(({ lumaThumbnail }) =>
    sampleArea(lumaThumbnail, area, SAMPLES),
  );
  const rows = queryFrames.map(({ lumaThumbnail }) => {
    if (standardDeviation(lumaThumbnail) < MIN_LUMA_DEVIATION) return null;
    const view = sampleArea(isMirrored ? mirror(lumaThumbnail) : lumaThumbnail, WHOLE, SAMPLES);
    return Float64Array.from(references, (reference) => dot(view, reference));
  });
  return {
    querySeconds: queryFrames.map(({ seconds }) => seconds),
    referenceSeconds: referenceFrames.map(({ seconds }) => seconds),
    rows,
    nextCorrelations: Float64Array.from(references, (reference, i) =>
      references[i + 1] ? dot(reference, references[i + 1]!) : 1,
    ),
  };
}

function standardDeviation(values: Uint8Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / values.length);
}

/** Returns the correlation of each query frame with its reference moment; null for flat frames. */
export function correlationsAlong(
  matrix: SimilarityMatrix,
  { start, end }: TimeRange,
  { middle, speed }: TimeMapping,
): (number | null)[] {
  const centre = (start + end) / 2;
  const { referenceSeconds } = matrix;
  let at = 0;
  return matrix.rows.map((row, i) => {
    const seconds = middle + speed * (matrix.querySeconds[i]! - centre);
    while (at < referenceSeconds.length - 1 && referenceSeconds[at + 1]! <= seconds) at++;
    return row && correlationAt(matrix, row, at, seconds);
  });
}

/** Interpolates a query frame's correlation between the reference frames `at` and `at + 1`. */
function correlationAt(
  { referenceSeconds, nextCorrelations }: SimilarityMatrix,
  row: Float64Array,
  at: number,
  seconds: number,
): number {
  const [before, after] = [referenceSeconds[at]!, referenceSeconds[at + 1]];
  if (after === undefined || seconds < before) {
    const isOutside = seconds < before - MAX_LEAD_SECONDS || seconds > before + MAX_TRAIL_SECONDS;
    return isOutside ? 0 : row[at]!;
  }
  const gap = after - before;
  if (gap > MAX_GAP_SECONDS) return seconds - before < MAX_TRAIL_SECONDS ? row[at]! : 0;
  const share = (seconds - before) / gap;
  const rest = 1 - share;
  const length = Math.sqrt(rest * rest + share * share + 2 * rest * share * nextCorrelations[at]!);
  return length < 0.1 ? 0 : (rest * row[at]! + share * row[at + 1]!) / length;
}
