import { type LogOddsCurve, toLogOdds, toProbability } from "../../src/search/fuse.ts";

/** A probability, and whether what it was stated of is so. */
export interface Forecast {
  probability: number;
  isRight: boolean;
}

/**
 * Log odds at which the slope of the curve may change. Below the first, nothing changes. Texts with
 * all words of a query begin above 1.7.
 */
const KNOTS = [-1, 0, 0.5, 1, 1.5, 1.7, 2, 3, 5];
/** Smallest slope: with 0, different scores would become one. */
const MIN_SLOPE = 0.1;
/** Precision of the normal distribution of each slope around 1. */
const PRECISION = 0.1;
const MAX_ROUNDS = 500;
const MAX_STEP = 1;
const CONVERGENCE = 1e-6;

/**
 * Fits a curve to forecasts: the maximum of the posterior of a logistic regression, by Newton steps
 * for the slope between each two knots, in turns. Slopes have a bound, so that the curve rises
 * everywhere.
 */
export function fitCurve(forecasts: readonly Forecast[]): LogOddsCurve {
  const fitted = forecasts.map(({ probability }) => toLogOdds(probability));
  const ramps = KNOTS.slice(1).map((knot, i) => {
    return fitted.map((value) => Math.min(Math.max(value, KNOTS[i]!), knot) - KNOTS[i]!);
  });
  const slopes = ramps.map(() => 1);
  for (let round = 0, largest = 1; round < MAX_ROUNDS && largest > CONVERGENCE; round++) {
    largest = 0;
    for (const [at, ramp] of ramps.entries()) {
      const next = Math.max(MIN_SLOPE, slopes[at]! + newtonStep(ramp, slopes[at]! - 1));
      const change = next - slopes[at]!;
      for (const [row, value] of ramp.entries()) fitted[row]! += change * value;
      slopes[at] = next;
      largest = Math.max(largest, Math.abs(change));
    }
  }
  let to = KNOTS[0]!;
  return KNOTS.map((from, i) => {
    if (i > 0) to += (from - KNOTS[i - 1]!) * slopes[i - 1]!;
    return { from, to };
  });

  function newtonStep(ramp: readonly number[], offset: number): number {
    let [gradient, curvature] = [-PRECISION * offset, PRECISION];
    for (const [row, value] of ramp.entries()) {
      const probability = toProbability(fitted[row]!);
      gradient += value * (Number(forecasts[row]!.isRight) - probability);
      curvature += value * value * probability * (1 - probability);
    }
    return Math.min(MAX_STEP, Math.max(-MAX_STEP, gradient / curvature));
  }
}
