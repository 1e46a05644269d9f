import { SEARCH } from "../config.ts";

/** One way of searching: what it found, the best first, and how much its word counts. */
export interface Ranking {
  ids: readonly string[];
  weight: number;
}

export interface Fused {
  id: string;
  /** 1 where every ranking has the id first; towards 0 the later and the fewer. Not a probability yet. */
  score: number;
}

/**
 * Weighted reciprocal-rank fusion: Σ weight / (k + rank), as a share of what the first place
 * everywhere would give. Cormack, Clarke, Büttcher: "Reciprocal Rank Fusion outperforms Condorcet and
 * individual Rank Learning Methods", SIGIR 2009. Ties go by id, so that pages are stable.
 */
export function fuse(rankings: readonly Ranking[], k: number = SEARCH.rankConstant): Fused[] {
  const sums = new Map<string, number>();
  let best = 0;
  for (const { ids, weight } of rankings) {
    best += weight / (k + 1);
    for (const [index, id] of ids.entries()) {
      sums.set(id, (sums.get(id) ?? 0) + weight / (k + index + 1));
    }
  }
  return [...sums]
    .map(([id, sum]) => ({ id, score: sum / best }))
    .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}
