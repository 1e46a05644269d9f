import { LIMITS, SEARCH } from "../config.ts";
import { AppError } from "../errors.ts";
import { fingerprint } from "../fingerprint.ts";
import { newId, type SegmentId } from "../ids.ts";
import type { IndexCalibration } from "../index-calibration.ts";
import { fold } from "../normal-form/fold.ts";
import { JUDGMENTS } from "../parameters.ts";
import { updateCalibration } from "../store/d1/indices.ts";
import { requireJob } from "../store/d1/jobs.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import {
  deleteJudgment,
  type Judgment,
  listScoredJudgments,
  putJudgment,
} from "../store/index-database/judgments.ts";
import { listKnownSegments } from "../store/index-database/segments.ts";
import { calibrationTag, type SearchableIndexRef } from "./calibration.ts";
import type { Hit } from "./hits.ts";
import { selectLine, toLogOdds } from "./log-odds-line.ts";
import { toJudgedScores } from "./quality.ts";
import { makeSearchRequest } from "./request.ts";
import { search } from "./search.ts";
import type { StoredResults } from "./stored-results.ts";

/** A query of words, or a queued search by its id. */
export type JudgedQuery = { query: string } | { searchId: string };

/** What a judgment names: a query and a segment of an index, as the caller sent them. */
export interface JudgmentTarget {
  judgedQuery: JudgedQuery;
  segment: string;
}

type QueryFields = Pick<Judgment, "query" | "queryKey" | "searchId">;
type ScoredHit = Pick<Hit, "generalScore" | "evidence">;

/**
 * Stores a judgment with the score that a search gives the segment now, or gave it in the queued
 * search. Fits the index's calibration again. Throws `not_found`, and `conflict` if the index has
 * its maximum of judgments or the search hasn't ended.
 */
export async function judge(
  env: Env,
  index: SearchableIndexRef,
  { judgedQuery, segment }: JudgmentTarget,
  isRelevant: boolean,
): Promise<{ judgment: Judgment; fitted: IndexCalibration | null }> {
  const databases = indexDatabases(env, index);
  const { fields, results } = await readQuery(env, index, judgedQuery);
  const segmentId = await requireSegment(env, index, segment);
  const hit = results
    ? requireStoredHit(results, segmentId)
    : await findHit(env, index, fields.query, segmentId);
  const now = Date.now();
  const judgment: Judgment = {
    judgmentId: newId("jud", now),
    segmentId,
    ...fields,
    isRelevant,
    logOdds: hit && toLogOdds(hit.generalScore),
    evidenceKind: hit?.evidence[0]?.kind ?? null,
    calibrationTag: calibrationTag(env),
    judgedAt: now,
  };
  const judgmentId = await putJudgment(databases, judgment);
  if (judgmentId === null) {
    const limit = `An index has at most ${JUDGMENTS.maxCount} judgments; remove some first.`;
    throw new AppError("conflict", limit);
  }
  const fitted = await fitIndexCalibration(env, index);
  return { judgment: { ...judgment, judgmentId }, fitted };
}

/**
 * Deletes a judgment, if there is one, and fits the calibration again. Throws `not_found` for an
 * unknown segment or search.
 */
export async function removeJudgment(
  env: Env,
  index: SearchableIndexRef,
  { judgedQuery, segment }: JudgmentTarget,
): Promise<IndexCalibration | null> {
  const { fields } = await readQuery(env, index, judgedQuery);
  const segmentId = await requireSegment(env, index, segment);
  await deleteJudgment(indexDatabases(env, index), { segmentId, queryKey: fields.queryKey });
  return fitIndexCalibration(env, index);
}

/** Fits the calibration of an index to its newest judgments, and stores it. */
async function fitIndexCalibration(
  env: Env,
  index: SearchableIndexRef,
): Promise<IndexCalibration | null> {
  const tag = calibrationTag(env);
  const judgments = await listScoredJudgments(indexDatabases(env, index), JUDGMENTS.maxFitted);
  const line = selectLine(toJudgedScores(judgments, tag));
  const fitted = line && { ...line, tag };
  await updateCalibration(env.DB, index.indexId, fitted);
  return fitted;
}

/** Returns what identifies a query, and the results of a queued search. */
async function readQuery(
  env: Env,
  index: SearchableIndexRef,
  judgedQuery: JudgedQuery,
): Promise<{ fields: QueryFields; results: StoredResults | null }> {
  if ("query" in judgedQuery) return { fields: toTextFields(judgedQuery.query), results: null };
  const { searchId } = judgedQuery;
  const { jobId, kind, indexId, state, result } = await requireJob(
    env.DB,
    index.accountId,
    searchId,
  );
  if (indexId !== index.indexId) throw new AppError("not_found", `There is no job "${searchId}".`);
  if (kind !== "search") throw new AppError("not_found", `The job "${searchId}" is no search.`);
  if (state !== "succeeded") {
    throw new AppError("conflict", `The search has no results: it is ${state}.`);
  }
  const results = result as StoredResults;
  const { query = "", isExample = true } = results;
  if (!isExample) return { fields: toTextFields(query), results };
  return { fields: { query, queryKey: fingerprint(jobId), searchId: jobId }, results };
}

function toTextFields(query: string): QueryFields {
  const queryKey = fingerprint(fold(query).replaceAll(/\s+/g, " ").trim());
  return { query, queryKey, searchId: null };
}

async function requireSegment(
  env: Env,
  index: SearchableIndexRef,
  segment: string,
): Promise<SegmentId> {
  const [segmentId] = await listKnownSegments(indexDatabases(env, index), [segment]);
  if (segmentId !== undefined) return segmentId;
  throw new AppError("not_found", `There is no segment "${segment}" in this index.`);
}

/**
 * Finds a segment in a search for a text: as a search of few results scores it, or else one of as
 * many as there can be. Null if neither finds the segment.
 */
async function findHit(
  env: Env,
  index: SearchableIndexRef,
  query: string,
  segmentId: SegmentId,
): Promise<ScoredHit | null> {
  for (const topK of [SEARCH.maxCandidates, LIMITS.topK]) {
    const request = makeSearchRequest({ query, topK, correct: true, collapse: false });
    const { hits } = await search(env, index, request);
    const hit = hits.find(({ segment }) => segment.segmentId === segmentId);
    if (hit) return hit;
  }
  return null;
}

/**
 * Throws `not_found` if a queued search didn't return the segment, and `conflict` if it was for a
 * sequence, whose hits are several segments.
 */
function requireStoredHit({ hits }: StoredResults, segmentId: SegmentId): ScoredHit {
  const hit = hits.find((one) => one.segmentId === segmentId);
  if (!hit) throw new AppError("not_found", "The segment isn't among the results of the search.");
  if (hit.steps) {
    const remedy = "judge a segment by the query of its step";
    throw new AppError("conflict", `A sequence is more than one segment: ${remedy}.`);
  }
  return { ...hit, generalScore: hit.generalScore ?? hit.score }; // earlier versions have no such
}
