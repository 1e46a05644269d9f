import { probabilityOfAny, type Reason, strengthOf, type Weight } from "../../src/search/fuse.ts";
import { type Signal, SIGNALS, type Signals } from "../../src/search/signals.ts";

export interface Example {
  signals: Signals;
  isRight: boolean;
  /** How much it counts; 1 if it isn't said. */
  weight?: number;
}

const MOST_ROUNDS = 1000;
/** A round that moves no weight further than this share of it is the last. */
const SETTLED = 1e-5;
/** Holds weights that hardly any example needs. */
const SHRINKAGE = 1e-3;

/** How each signal of a reason is taken; those that are left out don't count. */
export type Shape = Partial<Record<Signal, Omit<Weight, "weight">>>;

/** A reason that is being fitted: the strengths of its signals in all examples, and what comes of them. */
interface Fit {
  shape: Shape;
  used: Signal[];
  /** Of the bias, which every example has once, and of each signal. */
  columns: Float64Array[];
  weights: number[];
  logOdds: Float64Array;
}

/**
 * The reasons, one for each shape, that make the examples likeliest. An example is right for at least one of
 * them (`probabilityOf`); which is estimated from what is known of them so far, and then each is fitted to its own
 * share of what is right, in turns (expectation maximisation for the noisy-or classifier: Vomlel, 2006). A
 * reason is a logistic regression with no weight below 0 and a little shrinkage, by Newton's step for one weight
 * after another (cyclic coordinate descent: Genkin, Lewis and Madigan, "Large-Scale Bayesian Logistic Regression for
 * Text Categorization", 2007).
 */
export function fitReasons(examples: readonly Example[], shapes: readonly Shape[]): Reason[] {
  const counts = Float64Array.from(examples, ({ weight = 1 }) => weight);
  const fits = shapes.map((shape) => begin(examples, shape));
  for (let round = 0, moved = 1; round < MOST_ROUNDS && moved > SETTLED; round++) {
    const shares = shareOut(examples, fits);
    moved = Math.max(...fits.map((fit, at) => improve(fit, shares[at]!, counts)));
  }
  return fits.map(({ shape, used, weights: [bias = 0, ...weights] }) => ({
    bias,
    weights: Object.fromEntries(
      used.map((signal, at) => [signal, { ...shape[signal]!, weight: weights[at]! }]),
    ),
  }));
}

function begin(examples: readonly Example[], shape: Shape): Fit {
  const used = SIGNALS.filter((signal) => shape[signal] !== undefined);
  const columns = used.map((signal) =>
    Float64Array.from(examples, ({ signals }) => strengthOf(signals[signal], shape[signal]!)),
  );
  return {
    shape,
    used,
    columns: [new Float64Array(examples.length).fill(1), ...columns],
    weights: [0, ...used.map(() => 0)],
    logOdds: new Float64Array(examples.length),
  };
}

/** How likely each reason holds of each example, once it is known whether that is right. */
function shareOut(examples: readonly Example[], fits: readonly Fit[]): Float64Array[] {
  const shares = fits.map(() => new Float64Array(examples.length));
  for (const [row, { isRight }] of examples.entries()) {
    if (!isRight) continue;
    const likely = fits.map(({ logOdds }) => logistic(logOdds[row]!));
    const any = probabilityOfAny(likely);
    for (const [at, one] of likely.entries()) shares[at]![row] = any > 0 ? one / any : 1;
  }
  return shares;
}

/** A round of steps towards `wanted`; how far the most moved weight went. */
function improve(fit: Fit, wanted: Float64Array, counts: Float64Array): number {
  const { columns, weights, logOdds } = fit;
  let moved = 0;
  for (const [at, column] of columns.entries()) {
    const old = weights[at]!;
    const step = stepOf(column, wanted, counts, logOdds, at === 0 ? 0 : old);
    const next = at === 0 ? old + step : Math.max(0, old + step);
    weights[at] = next;
    for (let row = 0; row < logOdds.length; row++) logOdds[row]! += (next - old) * column[row]!;
    moved = Math.max(moved, Math.abs(next - old) / Math.max(1, Math.abs(next)));
  }
  return moved;
}

/** Newton's step for the weight of a column. */
function stepOf(
  column: Float64Array,
  wanted: Float64Array,
  counts: Float64Array,
  logOdds: Float64Array,
  weight: number,
): number {
  let slope = -SHRINKAGE * weight;
  let curvature = SHRINKAGE;
  for (let row = 0; row < column.length; row++) {
    const probability = logistic(logOdds[row]!);
    slope += counts[row]! * column[row]! * (wanted[row]! - probability);
    curvature += counts[row]! * column[row]! ** 2 * probability * (1 - probability);
  }
  return slope / curvature;
}

function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}
