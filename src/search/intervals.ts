import { createRandom, drawNormal } from "./random-numbers.ts";
import {
  type Forecast,
  binForecasts,
  calibrationError,
  type ReliabilityBin,
} from "./reliability.ts";

export interface Interval {
  low: number;
  high: number;
}

/** Standard normal quantile of a two-sided interval of 90 %. */
const Z_90 = 1.6449;

/**
 * Returns the score interval of a share (Wilson, "Probable inference, the law of succession, and
 * statistical inference", JASA 1927), by default of 90 %. `total` is 1 or more.
 */
export function wilsonInterval(count: number, total: number, z = Z_90): Interval {
  const share = count / total;
  const scale = 1 + z ** 2 / total;
  const middle = (share + z ** 2 / (2 * total)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2));
  return { low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** A forecast of one query. Those of one query depend on each other. */
export interface ClusteredForecast extends Forecast {
  queryKey: string;
}

/** Parametric bootstrap: samples, and the tails that make the interval cover in 90 % of cases. */
const BOOTSTRAP = { samples: 200, tail: 0.035, seed: 1 };
/** Fewest forecasts of a bin whose share is drawn from a normal distribution. */
const MIN_NORMAL = 100;
/** Largest factor of the deviations that were observed, and steps of its bisection. */
const [MAX_FACTOR, BISECTIONS] = [4, 18];

/**
 * Returns an interval of 90 % of the calibration error. The error of a sample is too high, since
 * chance deviations add up, and resampling adds more: percentiles of a plain bootstrap cover almost
 * never if the true error is small. So worlds are simulated whose deviations are the observed ones
 * times a factor, and the interval has the errors of those worlds in which the observed error is
 * not unusual (inversion of a test: Davison and Hinkley, "Bootstrap methods", 1997, section 5.2).
 */
export function calibrationErrorInterval(forecasts: readonly ClusteredForecast[]): Interval {
  const bins = binForecasts(forecasts);
  const observed = calibrationError(bins);
  const spread = Math.sqrt(designEffect(forecasts));
  const random = createRandom(BOOTSTRAP.seed);
  const samples = Array.from({ length: BOOTSTRAP.samples }, () =>
    bins.map((bin) => drawShare(bin, random)),
  );
  const errorQuantile = (factor: number, tail: number) => {
    const rates = bins.map((bin) => scaledRate(bin, factor));
    const errors = samples.map((sample) =>
      calibrationError(
        bins.map(({ count, predicted }, i) => {
          const rate = rates[i]!;
          return { count, predicted, observed: rate + spread * (sample[i]!(rate) - rate) };
        }),
      ),
    );
    return quantile(errors, tail);
  };
  const bound = (tail: number) => {
    if (errorQuantile(0, tail) >= observed) return 0;
    let [low, high] = [0, MAX_FACTOR];
    for (let i = 0; i < BISECTIONS; i++) {
      const middle = (low + high) / 2;
      if (errorQuantile(middle, tail) < observed) low = middle;
      else high = middle;
    }
    const world = bins.map((bin) => {
      const { count, predicted } = bin;
      return { count, predicted, observed: scaledRate(bin, high) };
    });
    return calibrationError(world);
  };
  return { low: bound(1 - BOOTSTRAP.tail), high: bound(BOOTSTRAP.tail) };
}

/** Returns the rate of a bin in a world where it deviates `factor` times as much as observed. */
function scaledRate({ predicted, observed }: ReliabilityBin, factor: number): number {
  return Math.min(1, Math.max(0, predicted + factor * (observed - predicted)));
}

/** Returns a function of the true rate that yields the share that comes true in one sample. */
function drawShare({ count }: ReliabilityBin, random: () => number): (rate: number) => number {
  if (count >= MIN_NORMAL) {
    const deviation = drawNormal(random);
    return (rate) => rate + deviation * Math.sqrt((rate * (1 - rate)) / count);
  }
  const draws = Array.from({ length: count }, random);
  return (rate) => draws.filter((draw) => draw < rate).length / count;
}

/**
 * Returns how many times the variance of a mean is that of independent forecasts (design effect:
 * Kish, "Survey sampling", 1965); at least 1.
 */
function designEffect(forecasts: readonly ClusteredForecast[]): number {
  const residuals = new Map<string, number>();
  let squares = 0;
  for (const { score, isRight, queryKey } of forecasts) {
    const residual = Number(isRight) - score;
    residuals.set(queryKey, (residuals.get(queryKey) ?? 0) + residual);
    squares += residual ** 2;
  }
  const clustered = [...residuals.values()].reduce((sum, residual) => sum + residual ** 2, 0);
  return squares > 0 ? Math.max(1, clustered / squares) : 1;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return below + (at - Math.floor(at)) * (above - below);
}
