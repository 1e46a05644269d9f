import { type Signal, SIGNALS, type Signals } from "./signals.ts";

/** How much a signal counts per unit from where it begins to say something, raised to a power. */
export interface Weight {
  from: number;
  power: number;
  weight: number;
}

/** How the signals of one reason become its probability. A signal without a weight doesn't count. */
export interface Reason {
  bias: number;
  weights: Partial<Record<Signal, Weight>>;
}

/** Why a segment may be relevant: for what it tells, say, or for how it looks. */
export type Calibration = readonly Reason[];

/** What was fitted (`npm run calibrate`) for which models. */
export interface Fitted {
  /**
   * Ids; of the picture space what `PICTURE_EMBEDDINGS_MODEL` says, empty for the engine's own; null
   * where there is none.
   */
  models: { text: string; picture: string | null };
  /** What it tells, of words that are asked for. */
  tells: Calibration;
  /** How it looks, by words; none without a picture space. */
  looks: Reason | null;
  /** How it looks, by a picture or a clip, or by what it is to be like. */
  likeness: Reason;
}

/**
 * The probability that a segment is relevant: that it is for at least one reason, each by itself (noisy-or:
 * Pearl, "Probabilistic Reasoning in Intelligent Systems", 1988; Vomlel, "Noisy-or classifier", 2006). So what
 * says little for one reason doesn't add up to what says much for another. No weight is negative, so that more
 * of a signal never means less.
 */
export function probabilityOf(signals: Signals, reasons: Calibration): number {
  return probabilityOfAny(reasons.map((reason) => probabilityBy(signals, reason)));
}

/** That at least one of several things is so, each by itself. */
export function probabilityOfAny(probabilities: readonly number[]): number {
  return 1 - probabilities.reduce((none, one) => none * (1 - one), 1);
}

/** That it is for this reason: the logistic function of a weighted sum of signals (Platt, 1999). */
function probabilityBy(signals: Signals, { bias, weights }: Reason): number {
  let logOdds = bias;
  for (const signal of SIGNALS) {
    const counts = weights[signal];
    if (counts) logOdds += counts.weight * strengthOf(signals[signal], counts);
  }
  return 1 / (1 + Math.exp(-logOdds));
}

/** What a weight is multiplied with: 0 for a signal that is missing or says nothing yet. */
export function strengthOf(
  value: number | undefined,
  { from, power }: Pick<Weight, "from" | "power">,
): number {
  return value === undefined ? 0 : Math.max(0, value - from) ** power;
}
