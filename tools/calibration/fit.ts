import {
  type EvidenceModel,
  noisyOr,
  type Signal,
  SIGNALS,
  type Signals,
  signalStrength,
  type SignalWeight,
} from "../../src/search/fuse.ts";

/** Signals of a hit, and whether it is relevant. */
export interface Example {
  signals: Signals;
  isRight: boolean;
  /** Weight of the example; default 1. */
  weight?: number;
  /** Probability of being relevant by evidence that isn't fitted; default 0. */
  known?: number;
}

const MAX_ROUNDS = 1000;
/** Stops after a round that changes no weight by more than this share. */
const CONVERGENCE = 1e-5;
/** L2 penalty: bounds weights that hardly any example determines. */
const L2_PENALTY = 1e-3;

/** Longest step: where probabilities are near 0 or 1, the curvature is too small to trust. */
const MAX_STEP = 2;
/** Keeps a step finite if no example has the signal. */
const MIN_CURVATURE = 1e-9;

/** Threshold and exponent of each signal of an evidence model; other signals don't count. */
export type ModelShape = Partial<Record<Signal, Omit<SignalWeight, "weight">>>;

/** An evidence model that is fitted to other examples, from what is known of its parameters. */
export interface KnownModel {
  model: EvidenceModel;
  /**
   * How well each parameter is known: the precision of a normal distribution around its value.
   * Parameters that are left out stay as they are.
   */
  precision: Partial<Record<"bias" | Signal, number>>;
}

/** State of an evidence model while it is fitted: signal strengths and log odds of all examples. */
interface FitState {
  shape: ModelShape;
  used: Signal[];
  /** Columns of strengths: a constant 1 for the bias, then one per signal. */
  columns: Float64Array[];
  weights: number[];
  /** What is known of each weight: its value, and a precision, which is infinite if it stays. */
  priors: { value: number; precision: number }[];
  logOdds: Float64Array;
}

/**
 * Fits one evidence model for each shape by maximum likelihood. An example is relevant if at least
 * one model is right (`relevanceProbability`). Expectation maximisation for the noisy-or classifier
 * (Vomlel, 2006): estimates each model's share of the relevant examples, then fits each model to
 * its shares, in turns. A model is a logistic regression with non-negative weights and a small L2
 * penalty, fitted by Newton steps for one weight after another (cyclic coordinate descent: Genkin,
 * Lewis and Madigan, "Large-Scale Bayesian Logistic Regression for Text Categorization", 2007).
 */
export function fitEvidenceModels(
  examples: readonly Example[],
  shapes: readonly ModelShape[],
): readonly EvidenceModel[] {
  return runFits(
    examples,
    shapes.map((shape) => createFit(examples, shape)),
  );
}

/** Fits evidence models in the same way from what is known of them (maximum a posteriori). */
export function refitEvidenceModels(
  examples: readonly Example[],
  models: readonly KnownModel[],
): readonly EvidenceModel[] {
  return runFits(
    examples,
    models.map((known) => resumeFit(examples, known)),
  );
}

function runFits(examples: readonly Example[], fits: readonly FitState[]): EvidenceModel[] {
  const exampleWeights = Float64Array.from(examples, ({ weight = 1 }) => weight);
  for (
    let round = 0, largestChange = 1;
    round < MAX_ROUNDS && largestChange > CONVERGENCE;
    round++
  ) {
    const shares = estimateShares(examples, fits);
    largestChange = Math.max(
      ...fits.map((fit, at) => runNewtonRound(fit, shares[at]!, exampleWeights)),
    );
  }
  return fits.map(({ shape, used, weights: [bias = 0, ...weights] }) => ({
    bias,
    weights: Object.fromEntries(
      used.map((signal, at) => [signal, { ...shape[signal]!, weight: weights[at]! }]),
    ),
  }));
}

function createFit(examples: readonly Example[], shape: ModelShape): FitState {
  const used = SIGNALS.filter((signal) => shape[signal] !== undefined);
  const columns = used.map((signal) =>
    Float64Array.from(examples, ({ signals }) => signalStrength(signals[signal], shape[signal]!)),
  );
  return {
    shape,
    used,
    columns: [new Float64Array(examples.length).fill(1), ...columns],
    weights: [0, ...used.map(() => 0)],
    priors: [{ value: 0, precision: 0 }, ...used.map(() => ({ value: 0, precision: L2_PENALTY }))],
    logOdds: new Float64Array(examples.length),
  };
}

function resumeFit(examples: readonly Example[], { model, precision }: KnownModel): FitState {
  const fit = createFit(examples, model.weights);
  const weights = [model.bias, ...fit.used.map((signal) => model.weights[signal]!.weight)];
  const names = ["bias", ...fit.used] as const;
  const priors = names.map((name, at) => {
    return { value: weights[at]!, precision: precision[name] ?? Infinity };
  });
  const logOdds = fit.logOdds.map((_, row) =>
    weights.reduce((sum, weight, at) => sum + weight * fit.columns[at]![row]!, 0),
  );
  return { ...fit, weights, priors, logOdds };
}

/** Returns, by model, the posterior probability that it is right for each example (E step). */
function estimateShares(examples: readonly Example[], fits: readonly FitState[]): Float64Array[] {
  const shares = fits.map(() => new Float64Array(examples.length));
  for (const [row, { isRight, known = 0 }] of examples.entries()) {
    if (!isRight) continue;
    const probabilities = fits.map(({ logOdds }) => logistic(logOdds[row]!));
    const anyProbability = noisyOr([...probabilities, known]);
    for (const [at, one] of probabilities.entries())
      shares[at]![row] = anyProbability > 0 ? one / anyProbability : 1;
  }
  return shares;
}

/**
 * Runs one round of Newton steps towards `targets`; returns the largest relative change of a
 * weight.
 */
function runNewtonRound(
  fit: FitState,
  targets: Float64Array,
  exampleWeights: Float64Array,
): number {
  const { columns, weights, priors, logOdds } = fit;
  let largestChange = 0;
  for (const [at, column] of columns.entries()) {
    const { value, precision } = priors[at]!;
    if (precision === Infinity) continue;
    const oldWeight = weights[at]!;
    const known = { offset: oldWeight - value, precision };
    const step = newtonStep(column, targets, exampleWeights, logOdds, known);
    const newWeight = at === 0 ? oldWeight + step : Math.max(0, oldWeight + step);
    weights[at] = newWeight;
    for (let row = 0; row < logOdds.length; row++)
      logOdds[row]! += (newWeight - oldWeight) * column[row]!;
    largestChange = Math.max(
      largestChange,
      Math.abs(newWeight - oldWeight) / Math.max(1, Math.abs(newWeight)),
    );
  }
  return largestChange;
}

/** Returns Newton's step for the weight of one column. */
function newtonStep(
  column: Float64Array,
  targets: Float64Array,
  exampleWeights: Float64Array,
  logOdds: Float64Array,
  { offset, precision }: { offset: number; precision: number },
): number {
  let slope = -precision * offset;
  let curvature = Math.max(precision, MIN_CURVATURE);
  for (let row = 0; row < column.length; row++) {
    const probability = logistic(logOdds[row]!);
    slope += exampleWeights[row]! * column[row]! * (targets[row]! - probability);
    curvature += exampleWeights[row]! * column[row]! ** 2 * probability * (1 - probability);
  }
  return Math.max(-MAX_STEP, Math.min(MAX_STEP, slope / curvature));
}

function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}
