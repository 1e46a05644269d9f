import { SEARCH } from "../config.ts";

/** What one way of searching found: ids, the best first. */
export type Ranking = readonly string[];

export interface Fused {
  id: string;
  /** 1 where every ranking has the id first; towards 0 the later and the fewer. Not a probability yet. */
  score: number;
}

/**
 * Reciprocal-rank fusion: Σ 1 / (k + rank), as a share of what the first place everywhere would give.
 * Cormack, Clarke, Büttcher: "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
 * Learning Methods", SIGIR 2009. Ties go by id, so that pages are stable.
 */
export function fuse(rankings: readonly Ranking[], k: number = SEARCH.rankConstant): Fused[] {
  const sums = new Map<string, number>();
  for (const ranking of rankings) {
    for (const [index, id] of ranking.entries()) {
      sums.set(id, (sums.get(id) ?? 0) + 1 / (k + index + 1));
    }
  }
  const best = rankings.length / (k + 1);
  return [...sums]
    .map(([id, sum]) => ({ id, score: sum / best }))
    .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}
