import { COMPOSED } from "../models/describe.ts";
import { type FoundSegment, listSegmentsInScope } from "../store/segments.ts";
import { allOf, anyOf, inColumns } from "../store/words.ts";
import type { Timings } from "../timings.ts";
import type { Segment } from "../types.ts";
import { calibrationFor } from "./calibration.ts";
import { askChannels, type Finding, type Question } from "./channels.ts";
import { findPassages, type Passage, toldShareOf } from "./evidence.ts";
import { probabilityOf } from "./fuse.ts";
import type { Scope } from "./request.ts";
import { mergeSignals, type Signals } from "./signals.ts";

/** A segment that may answer a question. */
export interface Candidate extends FoundSegment {
  found: Finding[];
  passages: Passage[];
  signals: Signals;
  score: number;
  /** How deep each channel was asked when it was found. */
  depth: number;
}

/**
 * What every channel finds among its best `depth`, less what is out of scope and the segments `without`, in no order.
 * `isAll`: no channel has more.
 */
export async function findCandidates(
  env: Env,
  scope: Scope,
  question: Question,
  depth: number,
  without: ReadonlySet<string>,
  timings: Timings,
): Promise<{ candidates: Candidate[]; isAll: boolean }> {
  const { query, terms } = question;
  const { findings, weights, isAll } = await askChannels(env, scope, question, depth, timings);
  const bySegment = Map.groupBy(findings, ({ segmentId }) => segmentId);
  const ids = [...bySegment.keys()].filter((id) => !without.has(id));
  const phrases = allOf(query.phrases);
  const must = phrases && inColumns(phrases, scope.columns);
  const rules = { must, mustNot: anyOf(query.excluded) };
  const { segments, total: inScope } = await timings.time("rows", () =>
    listSegmentsInScope(env.DB, ids, scope.assets, rules),
  );
  const calibration = calibrationFor(env, question);
  const few = -Math.log(Math.max(1, inScope));
  const candidates = segments.map((row): Candidate => {
    const found = bySegment.get(row.segment.segmentId)!;
    const passages = findPassages(row.segment, terms, scope);
    const signals = { ...signalsOf(row.segment, found, passages, weights), few };
    const score = probabilityOf(signals, calibration);
    return Object.assign(row, { found, passages, signals, score, depth });
  });
  return { candidates, isAll };
}

/**
 * What was found of a segment. A caption that was composed of what was detected tells no more than its labels do:
 * either's words are `detected`, as those of boxes are, and what it means doesn't count.
 */
export function signalsOf(
  { captionModel }: Pick<Segment, "captionModel">,
  found: readonly Pick<Finding, "signals" | "evidence">[],
  passages: readonly Omit<Passage, "text">[],
  weights: readonly number[],
): Signals {
  const isComposed = captionModel === COMPOSED;
  const isDetected = ({ kind, isBoxes }: Omit<Passage, "text">) =>
    isBoxes || (isComposed && (kind === "caption" || kind === "visual"));
  const detected = toldShareOf(passages.filter(isDetected), weights);
  const told = toldShareOf(
    passages.filter((one) => !isDetected(one)),
    weights,
  );
  const counted = found.filter(({ evidence }) => !(isComposed && evidence?.kind === "caption"));
  const { bm25, ...signals } = mergeSignals(counted.map((one) => one.signals));
  return {
    ...signals,
    ...(told > 0 && { told, bm25: Math.min(told, bm25 ?? 0) }),
    ...(detected > 0 && { detected }),
  };
}
