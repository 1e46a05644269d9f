import { ndcg } from "../../tools/ndcg.ts";
import { quantile, round } from "../../tools/suite.ts";
import type { CorpusQuery } from "./corpus.ts";
import type { TimedSearch } from "./systems.ts";

/** Latency percentiles in ms. */
export interface LatencyPercentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** Measurements of one system at one corpus size. */
export interface SearchFigures {
  segments: number;
  name: string;
  /** Latency of new queries, whose vectors are computed first. */
  uncached: LatencyPercentiles;
  /** Latency of the same queries again. */
  cached: LatencyPercentiles;
  /** Throughput of repeated queries, eight at once. */
  perSecond: number;
  /** nDCG@10 in percent. */
  ndcg10: number;
  /** Medians of the `Server-Timing` parts in ms, for repeated and for new queries. */
  parts: Record<string, number>;
  uncachedParts: Record<string, number>;
  /** Resident memory of the server process in MiB. */
  mib: number;
}

export function toPercentiles(searches: readonly TimedSearch[]): LatencyPercentiles {
  const times = searches.map(({ ms }) => ms);
  const at = (share: number) => round(quantile(times, share), 1);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** Returns the mean nDCG@10 in percent. */
export function meanNdcg(
  searches: readonly TimedSearch[],
  queries: readonly CorpusQuery[],
): number {
  const gains = searches.map(({ segmentIds }, at) =>
    ndcg(segmentIds.map((id) => id === queries[at]?.segmentId)),
  );
  return round((100 * gains.reduce((sum, gain) => sum + gain, 0)) / gains.length, 1);
}

/** Embedding spaces, which are queried at the same time: the header sums their times. */
const SPACES = 2;

/**
 * Returns medians of the server's parts. For our service also `worker`, the total without the
 * critical path through the parts (full text next to embedding and kNN of one space, then
 * hydration), and `network`, the client's time beyond the total: it includes work before and after
 * the search.
 */
export function toParts(searches: readonly TimedSearch[]): Record<string, number> {
  const all = searches.map(({ timing, ms }) => {
    const { total } = timing;
    if (total === undefined) return timing;
    const { embed = 0, fulltext = 0, knn = 0, hydrate = 0 } = timing;
    const worker = Math.max(0, total - Math.max(fulltext, (embed + knn) / SPACES) - hydrate);
    return { ...timing, worker, network: ms - total };
  });
  const names = new Set(all.flatMap((parts) => Object.keys(parts)));
  return Object.fromEntries(
    [...names].map((name) => {
      const values = all.map((parts: Record<string, number>) => parts[name] ?? 0);
      return [name, round(quantile(values, 0.5), 1)];
    }),
  );
}

/**
 * Returns ratios of our median latency to each other system's at the same size, with and without
 * the time of an empty route of our runtime (`emptyRoute`, if it was measured); below 1 ours is
 * faster.
 */
export function toRatios(figures: readonly SearchFigures[], ours: string, emptyRoute: string) {
  return figures.flatMap(({ segments, name, uncached, cached, ndcg10 }) => {
    const find = (system: string) =>
      figures.find((other) => other.name === system && other.segments === segments);
    const reference = find(ours);
    if (!reference || name === ours || name === emptyRoute) return [];
    const emptyMs = find(emptyRoute)?.uncached.p50 ?? 0;
    const ratio = (a: LatencyPercentiles, b: LatencyPercentiles, less = 0) =>
      round((a.p50 - less) / b.p50);
    return {
      segments,
      name,
      uncached: ratio(reference.uncached, uncached),
      cached: ratio(reference.cached, cached),
      uncached_net: ratio(reference.uncached, uncached, emptyMs),
      cached_net: ratio(reference.cached, cached, emptyMs),
      ndcg_points: round(reference.ndcg10 - ndcg10, 1),
    };
  });
}
