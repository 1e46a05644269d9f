/**
 * What can be said for a segment. Words: the share of what the query's words tell (by their rarity) that it tells,
 * and its BM25 as a share of the most that the query could have, no more than that; `detected`: the share that stands
 * in labels of boxes, and in labels and a caption where that was composed of them. Meaning and looks: the cosine of its
 * picture, and how far its best cosine is above the mean of the nearest hundred, which tells a find from one of many.
 * `few`: minus the logarithm of the number of segments in scope: the fewer, the less is found by accident. `same`:
 * the similarity of the very same picture.
 */
export const SIGNALS = [
  "told",
  "bm25",
  "detected",
  "meaningLead",
  "picture",
  "pictureLead",
  "few",
  "same",
] as const;
export type Signal = (typeof SIGNALS)[number];

/** A channel that found nothing of a segment leaves its signals out. */
export type Signals = Partial<Record<Signal, number>>;

/** Each signal as the strongest of several findings has it. */
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
