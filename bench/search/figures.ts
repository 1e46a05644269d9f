import { ndcg } from "../ndcg.ts";
import { quantile, round } from "../suite.ts";
import type { Answer } from "./contestants.ts";
import type { CorpusQuery } from "./corpus.ts";

/** How long searches took, in ms. */
export interface Spread {
  p50: number;
  p95: number;
  p99: number;
}

/** What was measured of one contestant at one size. */
export interface Figures {
  segments: number;
  name: string;
  /** Queries never asked before: each needs its vector first. */
  fresh: Spread;
  /** The same queries again. */
  known: Spread;
  /** Known queries a second, eight at once. */
  perSecond: number;
  /** Of the first ten, in percent. */
  ndcg10: number;
  /** Medians of what the server says its parts took, of known queries, in ms. */
  parts: Record<string, number>;
  freshParts: Record<string, number>;
  /** Resident memory of its process. */
  mib: number;
}

export function toSpread(answers: readonly Answer[]): Spread {
  const times = answers.map(({ ms }) => ms);
  const at = (share: number) => round(quantile(times, share), 1);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** In percent. */
export function meanNdcg(answers: readonly Answer[], queries: readonly CorpusQuery[]): number {
  const gains = answers.map(({ found }, at) =>
    ndcg(found.map((id) => id === queries[at]?.segmentId)),
  );
  return round((100 * gains.reduce((sum, gain) => sum + gain, 0)) / gains.length, 1);
}

/** Asked at the same time, each for its model and then its vectors, which the header adds up. */
const SPACES = 2;

/**
 * Medians of the parts that the server names. Of ours also `worker`, what is left of the total without the
 * longest way through the parts (words beside a space's model and vectors, then rows), and `network`, what
 * the client waited beyond the total: what stands before the search and behind it is in there.
 */
export function toParts(answers: readonly Answer[]): Record<string, number> {
  const all = answers.map(({ timing, ms }) => {
    const { total } = timing;
    if (total === undefined) return timing;
    const { model = 0, words = 0, vectors = 0, rows = 0 } = timing;
    const worker = Math.max(0, total - Math.max(words, (model + vectors) / SPACES) - rows);
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

/** Ours over each other's of the same size: below 1 we are the quicker. */
export function toRatios(figures: readonly Figures[], ours: string) {
  return figures.flatMap(({ segments, name, fresh, known, ndcg10 }) => {
    const own = figures.find((other) => other.name === ours && other.segments === segments);
    if (!own || name === ours) return [];
    const ratio = (a: Spread, b: Spread) => round(a.p50 / b.p50);
    return {
      segments,
      name,
      fresh: ratio(own.fresh, fresh),
      known: ratio(own.known, known),
      ndcg_points: round(own.ndcg10 - ndcg10, 1),
    };
  });
}
