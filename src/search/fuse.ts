import { type Signal, SIGNALS, type Signals } from "./signals.ts";

/** How much a signal counts per unit from where it begins to say something, raised to a power. */
export interface Weight {
  from: number;
  power: number;
  weight: number;
}

/** How signals become a probability. A signal without a weight doesn't count. */
export interface Calibration {
  bias: number;
  weights: Partial<Record<Signal, Weight>>;
}

/** What was fitted (`npm run calibrate`) for which models. */
export interface Fitted {
  /**
   * Ids; of the picture space what `PICTURE_EMBEDDINGS_MODEL` says, empty for the engine's own; null
   * where there is none.
   */
  models: { text: string; picture: string | null };
  /** For questions in words. */
  words: Calibration;
  /** For pictures and clips as questions, and for what is to be like something. */
  likeness: Calibration;
}

/**
 * The probability that a segment is relevant: the logistic function of a weighted sum of its signals
 * (convex fusion: Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS
 * 2023; with Platt's logistic scaling, 1999, in one). No weight is negative, so that more of a signal
 * never means less.
 */
export function probabilityOf(signals: Signals, { bias, weights }: Calibration): number {
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
