import type { Signal } from "../src/search/signals.ts";

/** A hit as far as its place in a ranking goes by it. */
export interface Ranked {
  signals: Partial<Record<Signal, number>>;
  isRight: boolean;
}

/** What each channel goes by. */
const CHANNELS = { words: "bm25", meaning: "meaningLead", looks: "picture" } as const;
/** k of reciprocal-rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009. */
const RANK_CONSTANT = 60;

/**
 * Hits, the best first by our score, also as each channel alone has them, and as the two usual ways to
 * fuse channels would: by reciprocal rank, and by the sum of scores that are stretched to 0–1 in each.
 */
export function rankings<Hit extends Ranked>(hits: readonly Hit[]): Record<string, Hit[]> {
  const channels = Object.entries(CHANNELS).map(([name, signal]) => {
    return [name, byDescending(hits, ({ signals }) => signals[signal])] as const;
  });
  const ranks = new Map<Hit, number>();
  const scores = new Map<Hit, number>();
  for (const [name, ranking] of channels) {
    const values = ranking.map(({ signals }) => signals[CHANNELS[name as keyof typeof CHANNELS]]!);
    const [most, least] = [values[0] ?? 0, values.at(-1) ?? 0];
    for (const [at, hit] of ranking.entries()) {
      ranks.set(hit, (ranks.get(hit) ?? 0) + 1 / (RANK_CONSTANT + at + 1));
      const share = most > least ? (values[at]! - least) / (most - least) : 1;
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

/** Without those that have no value. */
function byDescending<Hit>(hits: readonly Hit[], valueOf: (hit: Hit) => number | undefined): Hit[] {
  return hits
    .flatMap((hit) => {
      const value = valueOf(hit);
      return value === undefined ? [] : [{ hit, value }];
    })
    .toSorted((a, b) => b.value - a.value)
    .map(({ hit }) => hit);
}
