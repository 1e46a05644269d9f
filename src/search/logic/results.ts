import type { SegmentId } from "../../ids.ts";
import { type Evidence } from "../evidence.ts";
import { scoreSignals, toEvidence } from "../score-segment.ts";
import {
  absenceEvidence,
  correctPresences,
  examinedKinds,
  isExamined,
  type Presence,
} from "./absence.ts";
import type { LogicCondition, ConditionScore, ConditionScores } from "./conditions.ts";
import { absenceProbability } from "./probability.ts";
import type { Scopes } from "./scopes.ts";

/** How a candidate meets a condition. */
export interface ConditionResult {
  /** Probability that the condition holds. */
  score: number;
  /** The same before the index's own calibration. */
  generalScore: number;
  /** The segment in scope that it rests on most; null if none can have what is asked for. */
  basis: ConditionScore | null;
}

/**
 * Judges how each candidate meets a condition. The query is for the candidate itself; what has to
 * be there is as probable as in the best segment of the scope; what mustn't be there is absent if
 * no segment of the scope has it.
 */
export function judgeCondition(
  condition: LogicCondition,
  scores: ConditionScores,
  scopes: Scopes,
): Map<SegmentId, ConditionResult> {
  if (condition.kind === "none") return judgeAbsence(condition, scores, scopes);
  const isQuery = condition.kind === "query";
  return mapScopes(scopes, (ids) => {
    const inScope = (isQuery ? ids.slice(0, 1) : ids).flatMap((id) => scores.get(id) ?? []);
    const basis = highest(inScope, ({ score }) => score);
    return { score: basis?.score ?? 0, generalScore: basis?.generalScore ?? 0, basis };
  });
}

function judgeAbsence(
  { query, scope, pass: { context } }: LogicCondition,
  scores: ConditionScores,
  scopes: Scopes,
): Map<SegmentId, ConditionResult> {
  const all = [...scores.values()];
  const judge = (scoreOf: (score: ConditionScore) => number, background: number) => {
    const presences = all.map((score) => toPresence(score, scope.columns, scoreOf(score)));
    const corrected = correctPresences(presences, query, scope);
    const byId = new Map(all.map(({ segment }, i) => [segment.segmentId, corrected[i]!]));
    const inScope = (ids: readonly SegmentId[]) => ids.map((id) => byId.get(id) ?? 0);
    return { byId, absence: (ids: SegmentId[]) => absenceProbability(inScope(ids), background) };
  };
  const background = scoreSignals({}, context);
  const own = judge(({ score }) => score, background.score);
  const general = judge(({ generalScore }) => generalScore, background.generalScore);
  return mapScopes(scopes, (ids) => {
    const inScope = ids.flatMap((id) => scores.get(id) ?? []);
    const basis = highest(inScope, ({ segment }) => own.byId.get(segment.segmentId)!);
    return { score: own.absence(ids), generalScore: general.absence(ids), basis };
  });
}

function toPresence(
  { segment, signals }: ConditionScore,
  columns: LogicCondition["scope"]["columns"],
  probability: number,
): Presence {
  const kinds = examinedKinds(segment, columns, signals.image_similarity !== undefined);
  return { segment, probability, signals, isExamined: isExamined(segment, kinds, columns) };
}

/** Returns what a condition's result rests on. */
export function toConditionEvidence(
  { kind, query, scope }: LogicCondition,
  { basis }: ConditionResult,
): Evidence[] {
  if (!basis) return [];
  const evidence = toEvidence(basis, query);
  if (kind !== "none") return evidence;
  const hasImageVector = basis.signals.image_similarity !== undefined;
  return absenceEvidence(evidence, examinedKinds(basis.segment, scope.columns, hasImageVector));
}

function mapScopes(
  scopes: Scopes,
  judge: (ids: SegmentId[]) => ConditionResult,
): Map<SegmentId, ConditionResult> {
  return new Map([...scopes].map(([id, ids]) => [id, judge(ids)]));
}

/** Returns the first item with the highest value; null without any. */
function highest<T>(items: readonly T[], valueOf: (item: T) => number): T | null {
  let best: T | null = null;
  for (const item of items) if (best === null || valueOf(item) > valueOf(best)) best = item;
  return best;
}
