import { SEARCH } from "../../config.ts";
import type { Timings } from "../../timings.ts";
import { exampleFromTarget } from "../example.ts";
import { NO_FEEDBACK } from "../feedback.ts";
import { type SearchTarget, targetDatabases } from "../index-group.ts";
import { type CompiledQuery, compileQuery } from "../query.ts";
import { type SearchRequest, type SearchScope, toSearchScope } from "../request.ts";
import { type Candidate, findCandidates, type PassResult } from "../search.ts";
import { correctQuery } from "../spelling.ts";
import { type Subquery, subqueryModes } from "../subquery.ts";

/** A step of a sequence, and the segments of videos that may be it. */
export interface FoundStep {
  subquery: Subquery;
  query: CompiledQuery;
  /** The text that was searched for instead; null if it was searched as written. */
  corrected: string | null;
  scope: SearchScope;
  /** The example, which isn't a hit. */
  excludedId: string | null;
  pass: StepPass;
}

type StepPass = Omit<PassResult, "context">;

/**
 * Finds the best candidates of a step as a search for it alone does. Their number doesn't depend on
 * the page, so that all pages have the same chains. Throws `not_found` for an unknown example.
 */
export async function findStep(
  env: Env,
  target: SearchTarget,
  request: SearchRequest,
  subquery: Subquery,
  timings: Timings,
): Promise<FoundStep> {
  const { query: text, similarTo } = subquery;
  const example = similarTo === null ? null : await exampleFromTarget(env, target, similarTo);
  const scope = toStepScope(request, subquery, example?.exclude.assetId ?? null);
  const excludedId = example?.exclude.segmentId ?? null;
  const step = { subquery, query: compileQuery(text, example), scope, excludedId };
  const corrected = null;
  if (scope.assets.kinds.length === 0) return { ...step, corrected, pass: NOTHING };
  const pass = await findAll(env, target, step, timings);
  if (!request.correct || similarTo !== null) return { ...step, corrected, pass };
  const databases = targetDatabases(env, target);
  const correction = await correctQuery(databases, text, step.query, pass.frequencies);
  if (correction === null) return { ...step, corrected, pass };
  const other = { ...step, query: compileQuery(correction) };
  return { ...other, corrected: correction, pass: await findAll(env, target, other, timings) };
}

/** What a search finds in which no kind of asset is left. */
const NOTHING: StepPass = {
  candidates: [],
  isExhaustive: true,
  hasText: false,
  searched: [],
  frequencies: { total: 0, byStem: new Map() },
};

function findAll(
  env: Env,
  target: SearchTarget,
  { scope, query, excludedId }: Omit<FoundStep, "pass" | "corrected">,
  timings: Timings,
): Promise<StepPass> {
  const excludedIds = new Set(excludedId === null ? [] : [excludedId]);
  const feedback = NO_FEEDBACK;
  const depth = SEARCH.maxCandidates;
  return findCandidates(env, target, { scope, query, feedback, depth, excludedIds }, timings);
}

/**
 * Finds more candidates of a step in some videos, scored as the first ones: with the same margins
 * and evidence models.
 */
export async function deepenStep(
  env: Env,
  target: SearchTarget,
  { scope, query, excludedId, pass }: FoundStep,
  assetIds: readonly string[],
  timings: Timings,
): Promise<Candidate[]> {
  if (pass.isExhaustive || assetIds.length === 0) return [];
  const excludedIds = new Set<string>(pass.candidates.map(({ segment }) => segment.segmentId));
  if (excludedId !== null) excludedIds.add(excludedId);
  const depth = SEARCH.maxCandidates;
  const deeper = {
    scope: { ...scope, assets: { ...scope.assets, assetIds: [...assetIds] } },
    query,
    feedback: NO_FEEDBACK,
    depth,
    fullTextDepth: SEARCH.deepeningFactor * depth,
    excludedIds,
    hasText: pass.hasText,
    searched: pass.searched,
  };
  return (await findCandidates(env, target, deeper, timings)).candidates;
}

/** Makes the scope of a step: without images, which have no time. */
function toStepScope(
  request: SearchRequest,
  subquery: Subquery,
  exceptAssetId: string | null,
): SearchScope {
  const modes = subqueryModes(subquery.modes, request.modes);
  const scope = toSearchScope({ ...request, modes }, exceptAssetId);
  const kinds = scope.assets.kinds.filter((kind) => kind !== "image");
  return { ...scope, assets: { ...scope.assets, kinds } };
}
