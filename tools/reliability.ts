/** A predicted probability, and whether the hit was relevant. */
export interface Forecast {
  score: number;
  isRight: boolean;
}

/** Forecasts with similar probabilities. */
export interface ReliabilityBin {
  count: number;
  /** Mean of the predicted probabilities. */
  predicted: number;
  /** Share of the forecasts that came true. */
  observed: number;
}

const BINS = 10;

/** Groups forecasts into ten bins of equal width and omits empty ones. */
export function binForecasts(forecasts: readonly Forecast[]): ReliabilityBin[] {
  const bins = Map.groupBy(forecasts, ({ score }) => Math.min(BINS - 1, Math.floor(score * BINS)));
  return [...bins]
    .toSorted(([one], [other]) => one - other)
    .map(([, binned]) => ({
      count: binned.length,
      predicted: binned.reduce((sum, { score }) => sum + score, 0) / binned.length,
      observed: binned.filter(({ isRight }) => isRight).length / binned.length,
    }));
}

/**
 * Returns the expected calibration error: the mean distance between predicted and observed,
 * weighted by forecast count; 0 is perfect (Naeini, Cooper and Hauskrecht, "Obtaining Well
 * Calibrated Probabilities Using Bayesian Binning", AAAI 2015).
 */
export function calibrationError(bins: readonly ReliabilityBin[]): number {
  const total = bins.reduce((sum, { count }) => sum + count, 0);
  const deviations = bins.map(
    ({ count, predicted, observed }) => count * Math.abs(predicted - observed),
  );
  return deviations.reduce((sum, part) => sum + part, 0) / total;
}
