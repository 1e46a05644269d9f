import type { ScoredJudgment } from "../index-calibration.ts";
import { JUDGMENTS } from "../parameters.ts";
import { calibrationErrorInterval, type Interval, wilsonInterval } from "./intervals.ts";
import { applyLine, IDENTITY, type JudgedScore, type LogOddsLine } from "./log-odds-line.ts";
import { ndcg } from "./ndcg.ts";
import { binForecasts, calibrationError, type ReliabilityBin } from "./reliability.ts";

/** Lowest scores of the segments whose precision is given. */
const THRESHOLDS = [0.1, 0.3, 0.5, 0.7, 0.9] as const;

/** How often segments with a score of `threshold` or more were judged relevant. */
interface PrecisionAt {
  threshold: number;
  /** Judgments of segments with such a score. */
  count: number;
  /** Null without any. */
  precision: number | null;
  interval: Interval | null;
}

/** What judgments tell of the results of searches. Figures are null if there are too few. */
export interface Quality {
  count: number;
  relevantCount: number;
  isEnough: boolean;
  precision: PrecisionAt[] | null;
  /** Expected calibration error. */
  calibrationError: (Interval & { value: number }) | null;
  /** Mean of the queries with a relevant judgment, over judged segments only. */
  ndcg: { value: number; queryCount: number } | null;
  bins: QualityBin[] | null;
}

/** A point of the reliability diagram, with the interval of `observed`. */
export type QualityBin = ReliabilityBin & Interval;

/** Selects the judgments of segments that were found, with scores of the present parameters. */
export function toJudgedScores(judgments: readonly ScoredJudgment[], tag: number): JudgedScore[] {
  return judgments.flatMap(({ queryKey, isRelevant, logOdds, calibrationTag }) =>
    logOdds === null || calibrationTag !== tag ? [] : [{ queryKey, isRelevant, logOdds }],
  );
}

/** Computes figures of judgments whose scores have one scale, and are adjusted by `line`. */
export function measureQuality(
  judgments: readonly ScoredJudgment[],
  line: LogOddsLine = IDENTITY,
): Quality {
  const found = judgments.flatMap(({ queryKey, isRelevant, logOdds }) =>
    logOdds === null ? [] : [{ queryKey, isRight: isRelevant, score: applyLine(line, logOdds) }],
  );
  const isEnough = found.length >= JUDGMENTS.minMeasured;
  const counts = {
    count: judgments.length,
    relevantCount: judgments.filter(({ isRelevant }) => isRelevant).length,
    isEnough,
  };
  if (!isEnough) {
    return { ...counts, precision: null, calibrationError: null, ndcg: null, bins: null };
  }
  const bins = binForecasts(found);
  return {
    ...counts,
    precision: THRESHOLDS.map((threshold) => {
      const selected = found.filter(({ score }) => score >= threshold);
      const relevantCount = selected.filter(({ isRight }) => isRight).length;
      const count = selected.length;
      const isEmpty = count === 0;
      return {
        threshold,
        count,
        precision: isEmpty ? null : relevantCount / count,
        interval: isEmpty ? null : wilsonInterval(relevantCount, count),
      };
    }),
    calibrationError: { value: calibrationError(bins), ...calibrationErrorInterval(found) },
    ndcg: meanNdcg(judgments),
    bins: bins.map((bin) => {
      const interval = wilsonInterval(Math.round(bin.observed * bin.count), bin.count);
      return Object.assign(bin, interval);
    }),
  };
}

/**
 * Averages the nDCG@10 of queries. Segments without a judgment are left out of a ranking (condensed
 * lists: Sakai, "Alternatives to Bpref", SIGIR 2007). Null if no query has a relevant segment.
 */
function meanNdcg(judgments: readonly ScoredJudgment[]): Quality["ndcg"] {
  const queries = [...Map.groupBy(judgments, ({ queryKey }) => queryKey).values()];
  const values = queries.flatMap((ofQuery) => {
    const relevantCount = ofQuery.filter(({ isRelevant }) => isRelevant).length;
    if (relevantCount === 0) return [];
    const ranking = ofQuery
      .filter(({ logOdds }) => logOdds !== null)
      .toSorted((a, b) => b.logOdds! - a.logOdds!)
      .map(({ isRelevant }) => isRelevant);
    return [ndcg(ranking, relevantCount)];
  });
  if (values.length === 0) return null;
  const sum = values.reduce((total, value) => total + value, 0);
  return { value: sum / values.length, queryCount: values.length };
}
