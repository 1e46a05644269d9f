import type { SegmentId } from "../../ids.ts";
import { maxOf } from "../../lists.ts";
import { LOGIC } from "../../parameters.ts";
import type { FoundSegment } from "../../store/index-database/find-segments.ts";
import type { FtsColumn } from "../../store/index-database/fulltext.ts";
import { type EvidenceKind, type Segment, TEMPLATE } from "../../types.ts";
import {
  type Evidence,
  FIELD_READERS,
  scoreSignals,
  type SegmentFindings,
  type SegmentScore,
  toEvidence,
} from "../evidence.ts";
import type { QueryPass } from "../find-for-query.ts";
import { boxesForTerms } from "../localization.ts";
import type { CompiledQuery } from "../query.ts";
import type { SearchScope, Subquery } from "../request.ts";

/** The query of a search, or a condition beside it, with what its own search found. */
export interface LogicCondition {
  kind: "query" | "all" | "none";
  subquery: Subquery;
  scope: SearchScope;
  pass: QueryPass;
}

/** A segment as it meets a condition. */
export interface ConditionScore extends FoundSegment, SegmentFindings, SegmentScore {}

export type ConditionScores = ReadonlyMap<SegmentId, ConditionScore>;

export interface ConditionResult {
  /** Probability that the condition holds. */
  score: number;
  /** The segment in scope that it rests on most; null if none can have what is asked for. */
  basis: ConditionScore | null;
}

/**
 * Returns what judges how a candidate meets a condition, by the segments in its scope, itself
 * first. The query is for the candidate itself; what has to be there is as probable as in the best
 * segment of the scope; what mustn't be there is absent if no segment of the scope has it.
 */
export function judgeOf(
  { kind, scope: { columns }, pass: { query, models } }: LogicCondition,
  scores: ConditionScores,
): (scope: readonly SegmentId[]) => ConditionResult {
  const isAbsence = kind === "none";
  const presences = isAbsence ? correctPresences([...scores.values()], query, columns) : null;
  const background = scoreSignals({}, models).score;
  return (ids) => {
    const inScope = kind === "query" ? ids.slice(0, 1) : ids;
    const found = inScope.filter((id) => scores.has(id));
    const presenceOf = (id: SegmentId) => presences?.get(id) ?? scores.get(id)!.score;
    const probabilities = found.map(presenceOf);
    const highest = maxOf(probabilities, 0);
    const basis = scores.get(found[probabilities.indexOf(highest)]!) ?? null;
    const score = isAbsence ? absenceProbability(probabilities, background) : highest;
    return { score, basis };
  };
}

/**
 * Returns what a condition's result rests on. Of `none`, that is each kind that was examined, with
 * what speaks for presence, the most first. A score of 0 says that nothing does.
 */
export function toConditionEvidence(
  { kind, pass: { query }, scope }: Pick<LogicCondition, "kind" | "pass" | "scope">,
  { basis }: ConditionResult,
): Evidence[] {
  if (!basis) return [];
  const evidence = toEvidence(basis, query);
  if (kind !== "none") return evidence;
  const found = new Set(evidence.map((one) => one.kind));
  const kinds = examinedKinds(basis, scope.columns).filter((examined) => !found.has(examined));
  return [...evidence, ...kinds.map((examined) => ({ kind: examined, score: 0 }))];
}

type ExaminedSegment = Pick<ConditionScore, "segment" | "signals">;

/** Tests whether a detector or a model has described the keyframe, and whether it saw anything. */
function isDescribed({ described, error, hasKeyframe }: Segment): boolean {
  return described && error === null && hasKeyframe;
}

/** Returns the kinds of evidence in scope that a segment has, whatever they say. */
export function examinedKinds(
  { segment, signals }: ExaminedSegment,
  columns: readonly FtsColumn[],
): EvidenceKind[] {
  const has: Record<FtsColumn, boolean> = {
    caption: segment.caption !== "" && segment.captionModel !== TEMPLATE,
    transcript: segment.transcript !== "",
    on_screen_text: segment.onScreenText !== "",
    labels: isDescribed(segment) || signals.image_similarity !== undefined,
  };
  return columns.filter((column) => has[column]).map((column) => FIELD_READERS[column].kind);
}

/**
 * Tests whether a segment was examined enough to say that a thing isn't there: its image, if images
 * are in scope and it has one, or else any text. Silence in an asset of which other segments have
 * speech (`isTranscribed`) was listened to.
 */
export function isExamined(
  found: ExaminedSegment,
  columns: readonly FtsColumn[],
  isTranscribed: boolean,
): boolean {
  const kinds = examinedKinds(found, columns);
  if (found.segment.hasKeyframe && columns.includes("labels")) {
    return kinds.includes("visual") || kinds.includes("caption");
  }
  return kinds.length > 0 || (isTranscribed && columns.includes("transcript"));
}

/** Share of the words of a thing above which labels name it: all of them, in any form. */
const ALL_WORDS = 0.99;

/**
 * Corrects the probabilities that segments have a thing, which are fitted to segments that were
 * found by it. Returns them by the segments' ids.
 * - A box that is named as the thing is as probable as its detector says.
 * - Where a detector has described the image without naming the thing, which it names in other
 *   segments, it is less probable: by the share of things that detectors miss.
 * - Where nothing was examined, it is as probable as in the other segments on average.
 */
export function correctPresences(
  presences: readonly Pick<ConditionScore, "segment" | "signals" | "score">[],
  { labelWords }: Pick<CompiledQuery, "labelWords">,
  columns: readonly FtsColumn[],
): Map<SegmentId, number> {
  const spoken = presences.filter(({ segment }) => segment.transcript !== "");
  const transcribed = new Set(spoken.map(({ segment }) => segment.assetId));
  const isNamed = ({ signals }: ExaminedSegment) => (signals.label_coverage ?? 0) > ALL_WORDS;
  const isKnownToDetectors = presences.some(isNamed);
  const correct = ({ segment, signals, score }: (typeof presences)[number]): number => {
    if (!columns.includes("labels") || !isDescribed(segment)) return score;
    const share = signals.label_coverage ?? 0;
    if (share > ALL_WORDS) {
      const [best] = boxesForTerms(segment.boxes, labelWords);
      return Math.max(score, best?.score ?? 0);
    }
    return isKnownToDetectors && share === 0 ? scaleOdds(score, LOGIC.labelMissRate) : score;
  };
  const corrected = presences.map((presence) => {
    const isTranscribed = transcribed.has(presence.segment.assetId);
    const wasExamined = isExamined(presence, columns, isTranscribed);
    return { id: presence.segment.segmentId, score: correct(presence), wasExamined };
  });
  const examined = corrected.filter(({ wasExamined }) => wasExamined);
  const expected = expectedProbability(examined.map(({ score }) => score));
  return new Map(
    corrected.map(({ id, score, wasExamined }) => {
      return [id, wasExamined ? score : Math.max(score, expected)];
    }),
  );
}

/** Returns the probability that all of several independent events happen. */
export function conjunction(probabilities: readonly number[]): number {
  return probabilities.reduce((product, probability) => product * probability, 1);
}

/**
 * Returns the probability that none of the segments of a scope has a thing, by the probability that
 * each has it. `background` is the probability for a segment in which nothing speaks for it. The
 * segments of a scene are alike, so that it counts once for all of them; what speaks for the thing
 * beyond it counts in each (noisy-or with a leak: Henrion, "Some practical issues in constructing
 * belief networks", 1989). For one segment it is 1 − presence.
 */
export function absenceProbability(presences: readonly number[], background: number): number {
  const leak = Math.min(background, maxOf(presences, 0));
  if (leak >= 1) return 0;
  return presences.reduce(
    (absence, presence) => absence * Math.min(1, (1 - presence) / (1 - leak)),
    1 - leak,
  );
}

/** Multiplies the odds of a probability: Bayes' rule, with a likelihood ratio. */
export function scaleOdds(probability: number, ratio: number): number {
  const scaled = probability * ratio;
  return scaled === 0 ? 0 : scaled / (scaled + 1 - probability);
}

/** Mean of the probabilities with one observation of even odds: near .5 while there are few. */
export function expectedProbability(probabilities: readonly number[]): number {
  const sum = probabilities.reduce((total, probability) => total + probability, 0);
  return (sum + 0.5) / (probabilities.length + 1);
}
