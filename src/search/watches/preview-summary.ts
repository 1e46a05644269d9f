import type { CompiledQuery } from "../query.ts";
import { type ScoredSegment, selectMatches, type WatchMatch } from "./find-matches.ts";

/** The scored segments of an asset, and when that was added. */
export interface ScoredAsset {
  createdAt: number;
  scored: readonly ScoredSegment[];
}

/** What a watch would have announced at one threshold. */
interface ThresholdSummary {
  min_probability: number;
  matches: number;
  /** Mean of the scores; null without matches. */
  expected_precision: number | null;
  /** Interval of 95 % of the share that is right; null without matches. */
  precision_interval: [number, number] | null;
}

/** What a watch would have announced, if it had been there from the beginning. */
export interface PreviewSummary {
  matches: number;
  /** Days (UTC) on which matching assets were added. */
  matches_by_day: { date: string; matches: number }[];
  thresholds: ThresholdSummary[];
  best: WatchMatch[];
  /** The ones whose scores are nearest to the threshold, above or below. */
  nearest: WatchMatch[];
}

/** Thresholds that are compared. */
const PREVIEW_THRESHOLDS = [0.5, 0.7, 0.8, 0.9, 0.95] as const;
/** Matches that are shown of each kind. */
const EXAMPLES = 10;

/** Summarizes what a watch would have announced, by the rules by which it announces. */
export function summarizePreview(
  assets: readonly ScoredAsset[],
  query: CompiledQuery,
  minProbability: number,
): PreviewSummary {
  const matchesAt = (threshold: number) =>
    assets.map(({ createdAt, scored }) => {
      return { createdAt, matches: selectMatches(scored, query, threshold) };
    });
  const matching = matchesAt(minProbability);
  const days = new Map<string, number>();
  for (const { createdAt, matches } of matching) {
    if (matches.length === 0) continue;
    const date = new Date(createdAt).toISOString().slice(0, 10);
    days.set(date, matches.length + (days.get(date) ?? 0));
  }
  const byScore = (a: WatchMatch, b: WatchMatch) => b.score - a.score;
  const best = matching.flatMap(({ matches }) => matches).toSorted(byScore);
  const distance = ({ score }: WatchMatch) => Math.abs(score - minProbability);
  const all = matchesAt(0).flatMap(({ matches }) => matches);
  return {
    matches: best.length,
    matches_by_day: [...days]
      .map(([date, matches]) => ({ date, matches }))
      .toSorted((a, b) => (a.date < b.date ? -1 : 1)),
    thresholds: PREVIEW_THRESHOLDS.map((threshold) => {
      const scores = matchesAt(threshold).flatMap(({ matches }) => matches.map((m) => m.score));
      const [mean, interval] = expectedPrecision(scores);
      return {
        min_probability: threshold,
        matches: scores.length,
        expected_precision: mean,
        precision_interval: interval,
      };
    }),
    best: best.slice(0, EXAMPLES),
    nearest: all.toSorted((a, b) => distance(a) - distance(b)).slice(0, EXAMPLES),
  };
}

/** Standard deviations of a normal distribution on both sides of its mean that have 95 % of it. */
const Z = 1.96;

/**
 * Returns the mean of probabilities, and the interval of the share of events that happen, each
 * independently: a Poisson binomial distribution, approximated by a normal one.
 */
export function expectedPrecision(
  scores: readonly number[],
): [mean: number | null, interval: [number, number] | null] {
  if (scores.length === 0) return [null, null];
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  const variance = scores.reduce((sum, score) => sum + score * (1 - score), 0);
  const margin = (Z * Math.sqrt(variance)) / scores.length;
  return [mean, [Math.max(0, mean - margin), Math.min(1, mean + margin)]];
}
