import type { FtsHit } from "../store/index-database/index-database.ts";
import type { ChannelHit } from "./channels.ts";

/**
 * Bound of a term's BM25 divided by its inverse document frequency: k1 + 1, with FTS5's k1 = 1.2.
 */
const MAX_BM25_PER_IDF = 2.2;

/** Converts full-text hits. `termWeights` are the inverse document frequencies of the terms. */
export function toFullTextHits(hits: FtsHit[], termWeights: readonly number[]): ChannelHit[] {
  const maxBm25 = MAX_BM25_PER_IDF * termWeights.reduce((sum, weight) => sum + weight, 0);
  return hits.map(({ segmentId, bm25 }) => {
    const signals = { bm25_normalized: maxBm25 > 0 ? Math.min(1, bm25 / maxBm25) : 0 };
    return { segmentId, signals, evidence: null, timeRange: null };
  });
}
