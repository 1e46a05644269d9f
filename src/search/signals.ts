/**
 * Inputs of the score, one number each per segment:
 * - `term_coverage`: 0–1, share of query terms in the text, weighted by inverse document frequency.
 * - `bm25_normalized`: 0–1, BM25 over the query's maximum, at most `term_coverage`.
 * - `label_coverage`: 0–1, like `term_coverage`, in labels of boxes and in template captions.
 * - `text_margin`: best cosine of the text embeddings minus the mean of the 100 nearest: high for a
 *   distinct match, low for one of many similar segments.
 * - `image_similarity`, `image_margin`: cosine of the keyframe or a region, and its margin.
 * - `log_prior`: −ln(segments in scope): with fewer segments, chance matches are rarer.
 * - `copy_similarity`: 0–1, similarity to a copy of the example.
 */
export const SIGNALS = [
  "term_coverage",
  "bm25_normalized",
  "label_coverage",
  "text_margin",
  "image_similarity",
  "image_margin",
  "log_prior",
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
