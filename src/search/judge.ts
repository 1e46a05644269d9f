import { LIMITS, SEARCH } from "../config.ts";
import { AppError } from "../errors.ts";
import { fingerprint } from "../fingerprint.ts";
import { newId, type SegmentId } from "../ids.ts";
import { JUDGMENTS } from "../parameters.ts";
import { requireJob } from "../store/d1/jobs.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import {
  deleteJudgment,
  type Judgment,
  putJudgment,
  type ScoredJudgment,
} from "../store/index-database/judgments.ts";
import { listKnownSegments } from "../store/index-database/segments.ts";
import { fold } from "../text/fold.ts";
import type { NamedIndexRef } from "../types.ts";
import { calibrationTag } from "./calibration.ts";
import { toLogOdds, toProbability } from "./fuse.ts";
import type { Hit } from "./hits.ts";
import { makeSearchRequest } from "./request.ts";
import type { StoredResults } from "./results.ts";
import { search } from "./search.ts";

type ScoredHit = Pick<Hit, "score" | "evidence">;

/**
 * Stores a judgment with the score that a search gives the segment now, or gave it in the queued
 * search; null deletes the one that is there. Throws `not_found`, and `conflict` if the index has
 * its maximum of judgments, the search hasn't ended, or it was for a sequence.
 */
export async function judge(
  env: Env,
  index: NamedIndexRef,
  {
    query: sent = "",
    searchId,
    segment,
  }: { query?: string | undefined; searchId?: string | undefined; segment: string },
  isRelevant: boolean | null,
): Promise<Judgment | null> {
  const databases = indexDatabases(env, index);
  const results = searchId === undefined ? null : await requireResults(env, index, searchId);
  const { query, isExample } = results ?? { query: sent, isExample: false };
  const words = fold(query).replaceAll(/\s+/g, " ").trim();
  const queryKey = fingerprint(isExample ? results!.jobId : words);
  const [segmentId] = await listKnownSegments(databases, [segment]);
  if (segmentId === undefined) {
    throw new AppError("not_found", `There is no segment "${segment}" in this index.`);
  }
  if (isRelevant === null) {
    await deleteJudgment(databases, { segmentId, queryKey });
    return null;
  }
  const hit = results
    ? requireStoredHit(results, segmentId)
    : await findHit(env, index, query, segmentId);
  const now = Date.now();
  const judgment: Judgment = {
    judgmentId: newId("jud", now),
    segmentId,
    query,
    queryKey,
    searchId: isExample ? results!.jobId : null,
    relevant: Number(isRelevant),
    logOdds: hit && toLogOdds(hit.score),
    evidenceKind: hit?.evidence[0]?.kind ?? null,
    calibrationTag: calibrationTag(env),
    judgedAt: now,
  };
  const judgmentId = await putJudgment(databases, judgment);
  if (judgmentId === null) {
    const limit = `An index has at most ${JUDGMENTS.maxCount} judgments; remove some first.`;
    throw new AppError("conflict", limit);
  }
  return { ...judgment, judgmentId };
}

async function requireResults(env: Env, { accountId, indexId }: NamedIndexRef, searchId: string) {
  const { jobId, kind, state, result, ...job } = await requireJob(env.DB, accountId, searchId);
  if (job.indexId !== indexId) throw new AppError("not_found", `There is no job "${searchId}".`);
  if (kind !== "search") throw new AppError("not_found", `The job "${searchId}" is no search.`);
  if (state !== "succeeded") {
    throw new AppError("conflict", `The search has no results: it is ${state}.`);
  }
  return { ...(result as StoredResults), jobId };
}

/**
 * Finds a segment in a search for a text: as a search of few results scores it, or else one of as
 * many as there can be. Null if neither finds the segment.
 */
async function findHit(
  env: Env,
  index: NamedIndexRef,
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

function requireStoredHit({ hits }: StoredResults, segmentId: SegmentId): ScoredHit {
  const hit = hits.find((one) => one.segmentId === segmentId);
  if (!hit) throw new AppError("not_found", "The segment isn't among the results of the search.");
  if (hit.steps) {
    const remedy = "judge a segment by the query of its step";
    throw new AppError("conflict", `A sequence is more than one segment: ${remedy}.`);
  }
  return hit;
}

/**
 * Counts judgments, those that say relevant, and both for each tenth of the scores that segments
 * had. Segments that weren't found, and scores of other parameters than `tag`, are in no tenth.
 */
export function countJudgments(judgments: readonly ScoredJudgment[], tag: number) {
  const tenths = Array.from({ length: 10 }, (_, i) => ({ from: i / 10, judged: 0, right: 0 }));
  const quality = { judged: judgments.length, right: 0, unfound: 0, outdated: 0, tenths };
  for (const { relevant, logOdds, calibrationTag: usedTag } of judgments) {
    quality.right += relevant;
    if (logOdds === null) quality.unfound++;
    else if (usedTag === tag) {
      const tenth = tenths[Math.min(9, Math.floor(10 * toProbability(logOdds)))]!;
      tenth.judged++;
      tenth.right += relevant;
    } else quality.outdated++;
  }
  return quality;
}
