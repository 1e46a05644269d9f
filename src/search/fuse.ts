import { applyCurve, type LogOddsCurve } from "./log-odds-curve.ts";
import { toLogOdds, toProbability } from "./log-odds-line.ts";

/**
 * Inputs of the score, one number each per segment:
 * - `term_coverage`: 0–1, share of query terms in the text, weighted by inverse document frequency.
 * - `bm25_normalized`: 0–1, BM25 over the query's maximum, at most `term_coverage`.
 * - `label_coverage`: 0–1, like `term_coverage`, in labels of boxes and in template captions.
 * - `text_margin`: best cosine of the text embeddings minus the mean of the 100 nearest: high for a
 *   distinct match, low for one of many similar segments.
 * - `image_similarity`, `image_margin`: cosine of the keyframe or a region, and its margin.
 * - `copy_similarity`: 0–1, similarity to a copy of the example.
 */
export const SIGNALS = [
  "term_coverage",
  "bm25_normalized",
  "label_coverage",
  "text_margin",
  "image_similarity",
  "image_margin",
  "copy_similarity",
] as const;
export type Signal = (typeof SIGNALS)[number];

/** The signals of one segment. A channel that didn't find the segment adds none. */
export type Signals = Partial<Record<Signal, number>>;

/** Merges signals of several channels: the highest value of each counts. */
export function mergeSignals(all: readonly Signals[]): Signals {
  const merged: Signals = {};
  for (const signals of all) {
    for (const signal of SIGNALS) {
      const value = signals[signal];
      if (value !== undefined) merged[signal] = Math.max(value, merged[signal] ?? -Infinity);
    }
  }
  return merged;
}

/** Adds `weight * (value - threshold) ** exponent` to the log odds if the value is above. */
export interface SignalWeight {
  threshold: number;
  exponent: number;
  weight: number;
}

/** A logistic regression for one kind of evidence. Signals without a weight don't count. */
export interface EvidenceModel {
  bias: number;
  weights: Partial<Record<Signal, SignalWeight>>;
}

/** The evidence models of a query. */
export interface EvidenceModels {
  /** What matched terms and text embeddings say. */
  text: readonly EvidenceModel[];
  /** Corrects what all models of `text` say together. */
  textCurve: LogOddsCurve;
  /** What images, labels and examples say; null without any of them. */
  visual: EvidenceModel | null;
}

/** Returns the probability that a segment is relevant: that its text is, or what it shows. */
export function relevanceProbability(
  signals: Signals,
  { text, textCurve, visual }: EvidenceModels,
): number {
  if (text.length === 0) return visual ? modelProbability(signals, visual) : 0;
  const said = toLogOdds(probabilityOfAny(signals, text));
  const byText = toProbability(applyCurve(textCurve, said));
  return visual ? noisyOr([byText, modelProbability(signals, visual)]) : byText;
}

/**
 * Returns the probability that at least one evidence model is right, each independently (noisy-or:
 * Pearl, "Probabilistic Reasoning in Intelligent Systems", 1988; Vomlel, "Noisy-or classifier",
 * 2006). Weak signals of one model don't add up with strong ones of another. No weight is negative,
 * so a larger signal never lowers the probability.
 */
export function probabilityOfAny(signals: Signals, models: readonly EvidenceModel[]): number {
  return noisyOr(models.map((model) => modelProbability(signals, model)));
}

/** Returns the probability that at least one of several independent events happens. */
export function noisyOr(probabilities: readonly number[]): number {
  return 1 - probabilities.reduce((none, probability) => none * (1 - probability), 1);
}

/** Applies the logistic function to a weighted sum of signals (Platt, 1999). */
function modelProbability(signals: Signals, { bias, weights }: EvidenceModel): number {
  let logOdds = bias;
  for (const signal of SIGNALS) {
    const fit = weights[signal];
    if (fit) logOdds += fit.weight * signalStrength(signals[signal], fit);
  }
  return 1 / (1 + Math.exp(-logOdds));
}

/** Returns the factor of a weight: 0 for a missing signal, and for one below the threshold. */
export function signalStrength(
  value: number | undefined,
  { threshold, exponent }: Pick<SignalWeight, "threshold" | "exponent">,
): number {
  return value === undefined ? 0 : Math.max(0, value - threshold) ** exponent;
}
