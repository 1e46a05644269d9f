import { type Signal } from "../src/search/fuse.ts";

/** A hit with the signals that rankings sort by. */
export interface RankedHit {
  signals: Partial<Record<Signal, number>>;
  isRight: boolean;
}

/** Signal by which each retrieval channel ranks. */
const CHANNELS = {
  full_text: "bm25_normalized",
  text_vectors: "text_margin",
  image_vectors: "image_similarity",
} as const;
/** k of reciprocal-rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009. */
const RANK_CONSTANT = 60;

/**
 * Ranks hits in several ways: by our score (`fused`, the given order), by each channel alone, and
 * by the two usual fusions: reciprocal rank, and the sum of min-max normalised scores.
 */
export function rankByChannels<Hit extends RankedHit>(hits: readonly Hit[]): Record<string, Hit[]> {
  const channels = Object.entries(CHANNELS).map(([name, signal]) => {
    return [name, byDescending(hits, ({ signals }) => signals[signal])] as const;
  });
  const ranks = new Map<Hit, number>();
  const scores = new Map<Hit, number>();
  for (const [name, ranking] of channels) {
    const values = ranking.map(({ signals }) => signals[CHANNELS[name as keyof typeof CHANNELS]]!);
    const [max, min] = [values[0] ?? 0, values.at(-1) ?? 0];
    for (const [rank, hit] of ranking.entries()) {
      ranks.set(hit, (ranks.get(hit) ?? 0) + 1 / (RANK_CONSTANT + rank + 1));
      const share = max > min ? (values[rank]! - min) / (max - min) : 1;
      scores.set(hit, (scores.get(hit) ?? 0) + share);
    }
  }
  return {
    ...Object.fromEntries(channels),
    "reciprocal rank": byDescending(hits, (hit) => ranks.get(hit)),
    "min-max sum": byDescending(hits, (hit) => scores.get(hit)),
    fused: [...hits],
  };
}

/** Sorts by value, descending; omits hits without one. */
function byDescending<Hit>(hits: readonly Hit[], valueOf: (hit: Hit) => number | undefined): Hit[] {
  return hits
    .flatMap((hit) => {
      const value = valueOf(hit);
      return value === undefined ? [] : [{ hit, value }];
    })
    .toSorted((a, b) => b.value - a.value)
    .map(({ hit }) => hit);
}
