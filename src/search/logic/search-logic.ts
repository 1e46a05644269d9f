import { TimeSlice } from "../../concurrency.ts";
import { LOGIC } from "../../parameters.ts";
import { listSegmentTimes } from "../../store/index-database/scope-segments.ts";
import type { Timings } from "../../timings.ts";
import { mergeEvidence, textLength } from "../evidence.ts";
import { rankCandidates, takePage, toHitAsset } from "../hits.ts";
import {
  listIndices,
  type SearchTarget,
  targetCalibration,
  targetDatabases,
} from "../index-group.ts";
import { localizeHits, type UnlocalizedHit } from "../localization.ts";
import { compileQuery } from "../query.ts";
import type { SearchResults } from "../search.ts";
import { listLogicCandidates } from "./candidates.ts";
import { compileConditions, type LogicRequest } from "./compile-conditions.ts";
import { type LogicCondition, scoreConditions } from "./conditions.ts";
import { conjunction } from "./probability.ts";
import { type ConditionResult, judgeCondition, toConditionEvidence } from "./results.ts";
import { makeScopes, type Scopes, type SegmentPosition } from "./scopes.ts";

/**
 * Finds the segments for which the query and all conditions hold together: the product of their
 * probabilities. Candidates come from the query and from `all`; each is scored for each condition.
 */
export async function searchLogic(
  env: Env,
  target: SearchTarget,
  request: LogicRequest,
  timings: Timings,
): Promise<SearchResults> {
  const compiled = await compileConditions(env, target, request, timings);
  const { conditions, corrected, correctedConditions } = compiled;
  const rows = await listLogicCandidates(env, target, request, conditions);
  const scopes = await findScopes(env, target, request, rows);
  const ids = [...new Set([...scopes.values()].flat())];
  const scores = await timings.time("conditions", () =>
    scoreConditions(env, target, conditions, ids),
  );
  const results = conditions.map((condition, i) => judgeCondition(condition, scores[i]!, scopes));
  const indices = new Map(listIndices(target).map((index) => [index.indexId, index]));
  const candidates = rows
    .filter(({ segment }) => scopes.has(segment.segmentId))
    .map(({ segment, keyframeHash, ...row }) => {
      const parts = results.map((result) => result.get(segment.segmentId)!);
      return {
        segment,
        keyframeHash,
        asset: toHitAsset(row.asset, indices.get(segment.indexId)!),
        parts,
        score: conjunction(parts.map(({ score }) => score)),
        generalScore: conjunction(parts.map(({ generalScore }) => generalScore)),
        signals: conditions[0]!.kind === "none" ? {} : (parts[0]!.basis?.signals ?? {}),
        depth: LOGIC.candidateDepth,
      };
    })
    .filter(({ score }) => score > 0);
  const { selected, total, next, facets } = takePage(rankCandidates(candidates, request), request);
  const slice = new TimeSlice();
  const page: UnlocalizedHit[] = [];
  for (const { candidate, duplicates } of selected) {
    const { segment, asset, score, generalScore, signals, parts } = candidate;
    for (const { basis } of parts) await slice.use(basis ? textLength(basis.segment) : 0);
    const rank = request.offset + page.length + 1;
    const scored = { score, generalScore, signals };
    const explained = explain(conditions, parts);
    page.push({ segment, asset, rank, ...scored, timeRange: null, duplicates, ...explained });
  }
  const query = conditions.find(({ kind }) => kind !== "none")?.query ?? compileQuery("");
  const hits = await timings.time("localize", () => localizeHits(env, page, query, request));
  const [first] = conditions;
  const excluded = first?.kind === "query" ? first.query.excluded : [];
  const interpretation = {
    excluded: excluded.map((words) => words.join(" ")),
    corrected,
    correctedConditions,
    suggested: null,
  };
  const calibration = targetCalibration(env, target);
  return { hits, total, next, facets, query, calibration, interpretation };
}

/** Returns the segments in the scope of each candidate, as many candidates as are ranked. */
async function findScopes(
  env: Env,
  target: SearchTarget,
  { logic: { scopeSeconds } }: LogicRequest,
  rows: readonly { segment: SegmentPosition }[],
): Promise<Scopes> {
  const candidates = rows.map(({ segment }) => segment).slice(0, LOGIC.maxCandidates);
  if (scopeSeconds === 0) return makeScopes(candidates, [], 0);
  const ranges = candidates.flatMap(({ assetId, startMs, endMs }) => {
    if (startMs === null || endMs === null) return [];
    const marginMs = 1000 * scopeSeconds;
    return [{ assetId, startMs: startMs - marginMs, endMs: endMs + marginMs }];
  });
  const positions = await listSegmentTimes(targetDatabases(env, target), ranges);
  return makeScopes(candidates, positions, scopeSeconds);
}

/** Makes the evidence of a hit, which without a query is that of `all`, and its conditions. */
function explain(
  conditions: readonly LogicCondition[],
  parts: readonly ConditionResult[],
): Pick<UnlocalizedHit, "evidence"> & Required<Pick<UnlocalizedHit, "conditions">> {
  const all = conditions.map((condition, i) => {
    return { condition, part: parts[i]!, evidence: toConditionEvidence(condition, parts[i]!) };
  });
  const query = all.find(({ condition }) => condition.kind === "query");
  const required = all.filter(({ condition }) => condition.kind === "all");
  return {
    evidence: query?.evidence ?? mergeEvidence(required.flatMap(({ evidence }) => evidence)),
    conditions: all.flatMap(({ condition: { kind, subquery }, part, evidence }) => {
      if (kind === "query") return [];
      const { query: text, similarTo } = subquery;
      return [{ kind, query: text || null, similarTo, score: part.score, evidence }];
    }),
  };
}
