import { CONNECTIONS, mapConcurrent } from "../../concurrency.ts";
import { SEARCH } from "../../config.ts";
import { LOGIC } from "../../parameters.ts";
import type { Timings } from "../../timings.ts";
import { exampleFromTarget } from "../example.ts";
import { NO_FEEDBACK, readFeedback } from "../feedback.ts";
import { type SearchTarget, targetDatabases } from "../index-group.ts";
import { compileQuery, type CorrectedCondition } from "../query.ts";
import { type SearchRequest, toSearchScope } from "../request.ts";
import { findCandidates } from "../search.ts";
import { correctQuery } from "../spelling.ts";
import { type Subquery, subqueryModes } from "../subquery.ts";
import type { LogicCondition } from "./conditions.ts";

/** A search with conditions beside its query, or in place of it. */
export interface LogicRequest extends SearchRequest {
  logic: NonNullable<SearchRequest["logic"]>;
}

/** The query of a search, if it has one, and its conditions, with words of the index. */
export interface CompiledConditions {
  conditions: LogicCondition[];
  /** The query's text that was searched for instead; null if it was searched as written. */
  corrected: string | null;
  correctedConditions: CorrectedCondition[];
}

/** Parts of a search that are searched for at a time. */
const CONCURRENCY = Math.floor(CONNECTIONS / 2);

/**
 * Searches for the query and for each condition by itself. Throws `not_found` if the example of one
 * names nothing in the index.
 */
export async function compileConditions(
  env: Env,
  target: SearchTarget,
  request: LogicRequest,
  timings: Timings,
): Promise<CompiledConditions> {
  const { query, similarTo, modes } = request;
  const hasQuery = query !== "" || similarTo !== null;
  const asked: Pick<LogicCondition, "kind" | "subquery">[] = [
    ...(hasQuery ? [{ kind: "query" as const, subquery: { query, similarTo, modes } }] : []),
    ...request.logic.all.map((subquery) => ({ kind: "all" as const, subquery })),
    ...request.logic.none.map((subquery) => ({ kind: "none" as const, subquery })),
  ];
  const databases = targetDatabases(env, target);
  const found = await mapConcurrent(asked, CONCURRENCY, async ({ kind, subquery }) => {
    const search = (words: Subquery) => findCondition(env, target, request, kind, words, timings);
    const condition = await search(subquery);
    const { query, pass } = condition;
    // A condition is searched for once more if words of it are corrected.
    const corrected =
      request.correct && subquery.query !== ""
        ? await correctQuery(databases, subquery.query, query, pass.frequencies)
        : null;
    if (corrected === null) return { condition, corrected };
    return { condition: await search({ ...subquery, query: corrected }), corrected };
  });
  const [first] = found;
  return {
    conditions: found.map(({ condition }) => condition),
    corrected: first?.condition.kind === "query" ? first.corrected : null,
    correctedConditions: found.flatMap(({ condition: { kind }, corrected }, i) => {
      if (kind === "query" || corrected === null) return [];
      return [{ kind, query: asked[i]!.subquery.query, corrected }];
    }),
  };
}

async function findCondition(
  env: Env,
  target: SearchTarget,
  request: LogicRequest,
  kind: LogicCondition["kind"],
  subquery: Subquery,
  timings: Timings,
): Promise<LogicCondition> {
  const { similarTo } = subquery;
  const isQuery = kind === "query";
  const example = similarTo === null ? null : await exampleFromTarget(env, target, similarTo);
  const query = compileQuery(subquery.query, example);
  const modes = isQuery ? request.modes : subqueryModes(subquery.modes, request.modes);
  const scope = toSearchScope({ ...request, modes, useBoxes: request.useBoxes || !isQuery });
  const pass = await findCandidates(
    env,
    target,
    {
      scope,
      query,
      feedback: isQuery ? await readFeedback(env, target, request) : NO_FEEDBACK,
      depth: kind === "none" ? SEARCH.maxCandidates : LOGIC.candidateDepth,
      excludedIds: new Set(),
    },
    timings,
  );
  return { kind, subquery, query, scope, pass };
}
