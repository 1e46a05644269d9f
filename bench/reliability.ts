/** A stated probability, and whether it came true. */
export interface Forecast {
  score: number;
  isRight: boolean;
}

/** The forecasts whose probabilities are alike. */
export interface Bin {
  count: number;
  /** Mean of what was stated. */
  stated: number;
  /** Share that came true. */
  observed: number;
}

const BINS = 10;

/** The forecasts in ten bins of equal width; empty ones are left out. */
export function binForecasts(forecasts: readonly Forecast[]): Bin[] {
  const bins = Map.groupBy(forecasts, ({ score }) => Math.min(BINS - 1, Math.floor(score * BINS)));
  return [...bins]
    .toSorted(([one], [other]) => one - other)
    .map(([, some]) => ({
      count: some.length,
      stated: some.reduce((sum, { score }) => sum + score, 0) / some.length,
      observed: some.filter(({ isRight }) => isRight).length / some.length,
    }));
}

/**
 * How far what is stated is from what comes true, on average over the forecasts: 0 is perfect (expected
 * calibration error: Naeini, Cooper and Hauskrecht, "Obtaining Well Calibrated Probabilities Using
 * Bayesian Binning", AAAI 2015).
 */
export function calibrationError(bins: readonly Bin[]): number {
  const total = bins.reduce((sum, { count }) => sum + count, 0);
  const off = bins.map(({ count, stated, observed }) => count * Math.abs(stated - observed));
  return off.reduce((sum, part) => sum + part, 0) / total;
}
