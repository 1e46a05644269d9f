import { type Calibration, strengthOf, type Weight } from "../../src/search/fuse.ts";
import { type Signal, SIGNALS, type Signals } from "../../src/search/signals.ts";

export interface Example {
  signals: Signals;
  isRight: boolean;
}

const MOST_ROUNDS = 1000;
/** A round that moves no weight further than this share of it is the last. */
const SETTLED = 1e-5;
/** Holds weights that hardly any example needs. */
const SHRINKAGE = 1e-3;

/** How each signal is taken; those that are left out don't count. */
export type Shape = Partial<Record<Signal, Omit<Weight, "weight">>>;

/**
 * The bias and weights that make the examples likeliest: logistic regression with no weight below 0 and
 * a little shrinkage, by Newton's step for one weight after another (cyclic coordinate descent: Genkin,
 * Lewis and Madigan, "Large-Scale Bayesian Logistic Regression for Text Categorization", 2007).
 */
export function fitCalibration(examples: readonly Example[], shape: Shape): Calibration {
  const used = SIGNALS.filter((signal) => shape[signal] !== undefined);
  const columns = used.map((signal) =>
    Float64Array.from(examples, ({ signals }) => strengthOf(signals[signal], shape[signal]!)),
  );
  const all = [new Float64Array(examples.length).fill(1), ...columns];
  const isRight = Float64Array.from(examples, (example) => Number(example.isRight));
  const logOdds = new Float64Array(examples.length);
  const weights = all.map(() => 0);
  for (let round = 0, moved = 1; round < MOST_ROUNDS && moved > SETTLED; round++) {
    moved = 0;
    for (const [at, column] of all.entries()) {
      const old = weights[at]!;
      const step = stepOf(column, isRight, logOdds, at === 0 ? 0 : old);
      const next = at === 0 ? old + step : Math.max(0, old + step);
      weights[at] = next;
      for (let row = 0; row < logOdds.length; row++) logOdds[row]! += (next - old) * column[row]!;
      moved = Math.max(moved, Math.abs(next - old) / Math.max(1, Math.abs(next)));
    }
  }
  const [bias = 0, ...rest] = weights;
  return {
    bias,
    weights: Object.fromEntries(
      used.map((signal, at) => [signal, { ...shape[signal]!, weight: rest[at]! }]),
    ),
  };
}

/** Newton's step for the weight of a column. */
function stepOf(
  column: Float64Array,
  isRight: Float64Array,
  logOdds: Float64Array,
  weight: number,
): number {
  let slope = -SHRINKAGE * weight;
  let curvature = SHRINKAGE;
  for (let row = 0; row < column.length; row++) {
    const probability = 1 / (1 + Math.exp(-logOdds[row]!));
    slope += column[row]! * (isRight[row]! - probability);
    curvature += column[row]! ** 2 * probability * (1 - probability);
  }
  return slope / curvature;
}
