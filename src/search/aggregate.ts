import { raceAbort } from "../concurrency.ts";
import { AppError } from "../errors.ts";
import { AGGREGATE } from "../parameters.ts";
import {
  addSizes,
  compareKeys,
  type Group,
  type Grouping,
  type GroupList,
  listGroups,
  NO_SIZES,
  type Sizes,
  groupByKey,
} from "../store/index-database/groups.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import type { Timings } from "../timings.ts";
import type { NamedIndexRef } from "../types.ts";
import { calibrationState } from "./calibration.ts";
import { type Candidate, findForQuery, toQuerySearch } from "./find-for-query.ts";
import { type QueryInterpretation, toInterpretation } from "./query.ts";
import { makeSearchRequest, type SearchRequest, toSearchScope } from "./request.ts";
import { searchInTurn } from "./search.ts";

/** What counts are in: segments, their seconds, or the assets that have such a segment. */
export const UNITS = ["segments", "seconds", "assets"] as const;
type CountUnit = (typeof UNITS)[number];

/** What to count. An empty query counts all that is in scope. */
export interface AggregateRequest extends Pick<
  SearchRequest,
  "query" | "topP" | "correct" | "assetIds" | "conditions" | "modes"
> {
  grouping: Grouping;
  unit: CountUnit;
  /** Groups to return, the largest first. */
  top: number;
}

/** What was counted, in which segments, and what the query was taken for. */
interface Counted {
  list: GroupList;
  /** Segments in scope, and how many of them the query was compared with. */
  scope: { segments: number; scored: number };
  query: QueryInterpretation;
}

const SIZE_OF_UNIT = {
  segments: "segments",
  seconds: "durationMs",
  assets: "assets",
} as const satisfies Record<CountUnit, keyof Sizes>;

/**
 * Counts what is in an index, or the hits of a query, by groups. In `other`, what is in several
 * groups counts for each. Throws `upstream_unavailable` if that takes too long.
 */
export async function aggregate(
  env: Env,
  index: NamedIndexRef,
  request: AggregateRequest,
  timings: Timings,
) {
  const { unit, top } = request;
  const counting = request.query === "" ? countFacts : countHits;
  const deadline = AbortSignal.timeout(AGGREGATE.deadlineMs);
  const count = () => counting(env, index, request, timings);
  const counted = await raceAbort(deadline, searchInTurn(index.accountId, 1, count)).catch(
    (cause: unknown) => {
      if (cause !== deadline.reason) throw cause;
      const message = "Counting takes too long; count fewer assets by a filter, or try again.";
      throw new AppError("upstream_unavailable", message, { cause });
    },
  );
  const { list, scope, query } = counted;
  const size = SIZE_OF_UNIT[unit];
  const toCount = (sizes: Sizes) => sizes[size] / (unit === "seconds" ? 1000 : 1);
  const groups = list.groups.slice(0, top);
  const others = groups.reduce((rest, group) => rest - group[size], list.sum[size]);
  return {
    groups: groups.map(({ key, title, ...sizes }) => ({ key, title, count: toCount(sizes) })),
    other: {
      groups: list.groupCount - groups.length,
      count: toCount({ ...NO_SIZES, [size]: others }),
    },
    total: { count: toCount(list.total) },
    unit,
    scope,
    query,
    calibration: calibrationState(env),
  };
}

async function countFacts(
  env: Env,
  index: NamedIndexRef,
  request: AggregateRequest,
  timings: Timings,
): Promise<Counted> {
  const scope = toSearchScope(makeSearchRequest(request)).assets;
  const options = { order: SIZE_OF_UNIT[request.unit], limit: AGGREGATE.maxGroups };
  const list = await timings.time("count", () =>
    listGroups(indexDatabases(env, index), scope, request.grouping, options),
  );
  const query = { excluded: [], corrected: null };
  return { list, scope: { segments: list.total.segments, scored: 0 }, query };
}

/** Counts the hits of a query whose scores are high enough. */
async function countHits(
  env: Env,
  index: NamedIndexRef,
  request: AggregateRequest,
  timings: Timings,
): Promise<Counted> {
  const { grouping, topP, unit } = request;
  const search = await toQuerySearch(env, index, makeSearchRequest(request));
  const { vectorDepth: depth, fullTextDepth } = AGGREGATE;
  const deep = { ...search, depth, fullTextDepth };
  const { query, corrected, candidates } = await findForQuery(env, index, deep, timings);
  const { total } = await timings.time("count", () =>
    listGroups(
      indexDatabases(env, index),
      search.scope.assets,
      { by: "asset_type" },
      { order: "segments", limit: 1 },
    ),
  );
  const hits = candidates.filter(({ score }) => score >= topP);
  return {
    list: groupHits(hits, grouping, SIZE_OF_UNIT[unit]),
    scope: { segments: total.segments, scored: candidates.length },
    query: toInterpretation(query, corrected),
  };
}

function groupHits(hits: readonly Candidate[], grouping: Grouping, order: keyof Sizes): GroupList {
  const groups = groupByKey(grouping, hits).map(([key, members]): Group => {
    const title = grouping.by === "asset" ? members[0]!.asset.title : null;
    return Object.assign(sizesOf(members), { key, title });
  });
  return {
    groups: groups.toSorted((a, b) => b[order] - a[order] || compareKeys(a.key, b.key)),
    groupCount: groups.length,
    sum: groups.reduce(addSizes, NO_SIZES),
    total: sizesOf(hits),
  };
}

function sizesOf(hits: readonly Candidate[]): Sizes {
  const durations = hits.map(({ segment }) => (segment.endMs ?? 0) - (segment.startMs ?? 0));
  return {
    segments: hits.length,
    durationMs: durations.reduce((sum, duration) => sum + duration, 0),
    assets: new Set(hits.map(({ asset }) => asset.assetId)).size,
  };
}
