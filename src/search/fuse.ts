import { maxOf } from "../lists.ts";

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

/** Bounds of log odds: a score of 1 would have infinite ones. */
const MAX_LOG_ODDS = 20;

export function toLogOdds(probability: number): number {
  const logOdds = Math.log(probability) - Math.log1p(-probability);
  return Math.min(MAX_LOG_ODDS, Math.max(-MAX_LOG_ODDS, logOdds));
}

export function toProbability(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

/**
 * A monotonic map of log odds: points in order, with straight lines between them, and lines of
 * slope 1 before the first and behind the last. Without points it changes nothing. It corrects
 * probabilities that are too high in one range and too low in another, as isotonic regression does
 * (Zadrozny and Elkan, "Transforming Classifier Scores into Accurate Multiclass Probability
 * Estimates", 2002).
 */
export type LogOddsCurve = readonly { from: number; to: number }[];

export function applyCurve(curve: LogOddsCurve, logOdds: number): number {
  const after = curve.findIndex(({ from }) => logOdds < from);
  const next = curve[after];
  const last = after === -1 ? curve.at(-1) : curve[after - 1];
  if (!last || !next) {
    const end = last ?? next;
    return end ? logOdds + end.to - end.from : logOdds;
  }
  const share = (logOdds - last.from) / (next.from - last.from);
  return last.to + share * (next.to - last.to);
}

/** Ids of the embedding models that signals come from. */
export interface EmbeddingModels {
  /** `TEXT_EMBEDDINGS_MODEL`, or without it `MODELS.embedText.id`. */
  text: string;
  /** `IMAGE_EMBEDDINGS_MODEL`, which may be empty; null without image embeddings. */
  image: string | null;
}

/** Evidence models that were fitted for one combination of embedding models. */
export interface CalibrationEntry {
  models: EmbeddingModels;
  /** What the parameters were fitted on. */
  source: string;
  /** For text queries: matched terms, and text embeddings. */
  text: readonly EvidenceModel[];
  /** Corrects what all models of `text` say together. */
  textCurve: LogOddsCurve;
  /** For text queries: image embeddings; null without them. */
  image: EvidenceModel | null;
  /** The same where hardly a segment has text: the images alone tell what is relevant. */
  imageAlone: EvidenceModel | null;
  /** For queries by example. */
  example: EvidenceModel;
}

export function isEntryOf({ models }: CalibrationEntry, { text, image }: EmbeddingModels): boolean {
  return models.text === text && models.image === image;
}

/**
 * Returns the entry that is nearest to the models: if possible with image embeddings as they have
 * them, then of the same text model, then of the same image model. The first of equally near ones.
 */
export function nearestEntry(
  entries: readonly CalibrationEntry[],
  { text, image }: EmbeddingModels,
): CalibrationEntry {
  const nearness = ({ models }: CalibrationEntry) =>
    4 * Number((models.image === null) === (image === null)) +
    2 * Number(models.text === text) +
    Number(models.image === image);
  const highest = maxOf(entries.map(nearness));
  return entries.find((entry) => nearness(entry) === highest)!;
}
