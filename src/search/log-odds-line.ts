import type { IndexCalibration } from "../index-calibration.ts";
import { JUDGMENTS } from "../parameters.ts";

/**
 * Own calibration of an index: a line that maps the log odds of scores to those that the judgments
 * of its users support (Platt, "Probabilistic outputs for support vector machines", 1999). It is
 * monotonic, so that it changes no order.
 */
export type LogOddsLine = Pick<IndexCalibration, "slope" | "offset">;

/** The general calibration. */
export const IDENTITY: LogOddsLine = { slope: 1, offset: 0 };

/** A score's log odds before the line, and whether a person judged the segment relevant. */
export interface JudgedScore {
  logOdds: number;
  isRelevant: boolean;
  /** Names the query: its judgments are held out together. */
  queryKey: string;
}

/** Bounds of log odds: a score of 1 would have infinite ones. */
const MAX_LOG_ODDS = 20;
/** Smallest slope: with 0, scores wouldn't tell anything apart. */
const MIN_SLOPE = 0.05;
/** Standard deviations of the Gaussian prior, whose mean is the general calibration. */
const PRIOR = { slope: 0.2, offset: 0.5 };
const FOLDS = 10;
/** Standard errors by which cross-validation has to show a gain: a one-sided test at 5 %. */
const MIN_GAIN = 1.645;
/** Newton steps: from the prior's mean, five are enough. */
const MAX_STEPS = 50;
const TOLERANCE = 1e-9;

export function toLogOdds(probability: number): number {
  const logOdds = Math.log(probability) - Math.log1p(-probability);
  return Math.min(MAX_LOG_ODDS, Math.max(-MAX_LOG_ODDS, logOdds));
}

export function toProbability(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

export function applyLine({ slope, offset }: LogOddsLine, logOdds: number): number {
  return toProbability(slope * logOdds + offset);
}

/**
 * Fits a line: the maximum of the posterior, by Newton's method with step halving. The negative
 * logarithm of the posterior is convex, so that there is one. A slope at its bound stays there, and
 * the offset is fitted to it.
 */
export function fitLine(judged: readonly JudgedScore[]): LogOddsLine {
  const free = minimize(judged, IDENTITY, false);
  return free.slope >= MIN_SLOPE ? free : minimize(judged, { slope: MIN_SLOPE, offset: 0 }, true);
}

function minimize(
  judged: readonly JudgedScore[],
  start: LogOddsLine,
  isSlopeFixed: boolean,
): LogOddsLine {
  let line = start;
  let loss = posteriorLoss(judged, line);
  for (let step = 0; step < MAX_STEPS; step++) {
    const change = newtonStep(judged, line, isSlopeFixed);
    let [next, nextLoss] = [line, Infinity];
    for (let share = 1; share > TOLERANCE && nextLoss > loss; share /= 2) {
      next = {
        slope: line.slope + share * change.slope,
        offset: line.offset + share * change.offset,
      };
      nextLoss = posteriorLoss(judged, next);
    }
    if (loss - nextLoss < TOLERANCE) break;
    [line, loss] = [next, nextLoss];
  }
  return line;
}

/** Solves the Newton equation of the negative log posterior at a line. */
function newtonStep(
  judged: readonly JudgedScore[],
  line: LogOddsLine,
  isSlopeFixed: boolean,
): LogOddsLine {
  let slopeGradient = (line.slope - IDENTITY.slope) / PRIOR.slope ** 2;
  let offsetGradient = line.offset / PRIOR.offset ** 2;
  let [slopeCurvature, offsetCurvature, mixed] = [PRIOR.slope ** -2, PRIOR.offset ** -2, 0];
  for (const { logOdds, isRelevant } of judged) {
    const probability = applyLine(line, logOdds);
    const error = probability - Number(isRelevant);
    const variance = probability * (1 - probability);
    slopeGradient += error * logOdds;
    offsetGradient += error;
    slopeCurvature += variance * logOdds ** 2;
    offsetCurvature += variance;
    mixed += variance * logOdds;
  }
  if (isSlopeFixed) return { slope: 0, offset: -offsetGradient / offsetCurvature };
  const determinant = slopeCurvature * offsetCurvature - mixed ** 2;
  return {
    slope: -(offsetCurvature * slopeGradient - mixed * offsetGradient) / determinant,
    offset: -(slopeCurvature * offsetGradient - mixed * slopeGradient) / determinant,
  };
}

function posteriorLoss(judged: readonly JudgedScore[], line: LogOddsLine): number {
  const prior =
    ((line.slope - IDENTITY.slope) / PRIOR.slope) ** 2 + (line.offset / PRIOR.offset) ** 2;
  return judged.reduce((sum, one) => sum + logLoss(line, one), prior / 2);
}

/** Returns the negative log likelihood of a judgment, in nats. */
export function logLoss(
  { slope, offset }: LogOddsLine,
  { logOdds, isRelevant }: Pick<JudgedScore, "logOdds" | "isRelevant">,
): number {
  const value = slope * logOdds + offset;
  const against = isRelevant ? -value : value;
  return against > 0 ? against + Math.log1p(Math.exp(-against)) : Math.log1p(Math.exp(against));
}

/** Decimals of a stored line, so that most judgments don't change it. */
const DECIMALS = 2;

/**
 * Returns the line of an index, or null for the general calibration: with too few judgments, or if
 * cross-validation doesn't show that lines fitted to other queries predict better, by log loss.
 */
export function selectLine(judged: readonly JudgedScore[]): LogOddsLine | null {
  if (judged.length < JUDGMENTS.minFitted) return null;
  const gains = crossValidate(judged);
  if (gains.length < 2) return null;
  const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  const squares = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0);
  const standardError = Math.sqrt(squares / (gains.length - 1) / gains.length);
  if (!(mean > MIN_GAIN * standardError)) return null;
  const { slope, offset } = fitLine(judged);
  const round = (value: number) => Number(value.toFixed(DECIMALS));
  return { slope: Math.max(MIN_SLOPE, round(slope)), offset: round(offset) };
}

/** Returns for each query how much better a line predicts it that was fitted without its fold. */
function crossValidate(judged: readonly JudgedScore[]): number[] {
  const byQuery = [...Map.groupBy(judged, ({ queryKey }) => queryKey)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const folds = Array.from({ length: Math.min(FOLDS, byQuery.length) }, (_, fold) => fold);
  return folds.flatMap((fold) => {
    const isInFold = (_: unknown, i: number) => i % FOLDS === fold;
    const others = byQuery.filter((query, i) => !isInFold(query, i));
    const line = fitLine(others.flatMap(([, ofQuery]) => ofQuery));
    return byQuery
      .filter(isInFold)
      .map(([, ofQuery]) =>
        ofQuery.reduce((sum, one) => sum + logLoss(IDENTITY, one) - logLoss(line, one), 0),
      );
  });
}
