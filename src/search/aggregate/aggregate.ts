import { raceAbort } from "../../concurrency.ts";
import { AppError } from "../../errors.ts";
import { AGGREGATE } from "../../parameters.ts";
import {
  type Group,
  type GroupList,
  listGroups,
  type Sizes,
} from "../../store/index-database/groups.ts";
import { indexDatabases } from "../../store/index-database/index-database.ts";
import type { Timings } from "../../timings.ts";
import { calibrationState, type SearchableIndexRef } from "../calibration.ts";
import { makeSearchRequest, toSearchScope } from "../request.ts";
import {
  type Aggregate,
  type AggregateRequest,
  type CountedNumber,
  type CountUnit,
  SIZE_OF_UNIT,
  sizeIn,
} from "./counts.ts";
import { estimateCounts } from "./estimate-counts.ts";

/**
 * Counts what is in an index, or what a query finds in it, by groups. Throws `upstream_unavailable`
 * if that takes too long.
 */
export async function aggregate(
  env: Env,
  index: SearchableIndexRef,
  request: AggregateRequest,
  timings: Timings,
): Promise<Aggregate> {
  const counting = request.query === "" ? countFacts : estimateCounts;
  const deadline = AbortSignal.timeout(AGGREGATE.deadlineMs);
  const counted = await raceAbort(deadline, counting(env, index, request, timings)).catch(
    (cause: unknown) => {
      if (cause !== deadline.reason) throw cause;
      const message = "Counting takes too long; count fewer assets by a filter, or try again.";
      throw new AppError("upstream_unavailable", message, { cause });
    },
  );
  return { ...counted, calibration: calibrationState(env, index.calibration) };
}

/** Counts all that is in scope. */
async function countFacts(
  env: Env,
  index: SearchableIndexRef,
  { grouping, unit, top, ...request }: AggregateRequest,
  timings: Timings,
): Promise<Omit<Aggregate, "calibration">> {
  const { assets: scope } = toSearchScope(makeSearchRequest({ topK: 0, ...request }));
  const options = { order: SIZE_OF_UNIT[unit], limit: AGGREGATE.maxGroups };
  const list = await timings.time("count", () =>
    listGroups(indexDatabases(env, index), scope, grouping, options),
  );
  return { ...toFacts(list, unit, top), interpretation: { excluded: [], corrected: null } };
}

function toFacts(
  { groups, groupCount, sum, total }: GroupList,
  unit: CountUnit,
  top: number,
): Omit<Aggregate, "calibration" | "interpretation"> {
  const toCount = (sizes: Sizes): CountedNumber => ({ count: sizeIn(unit, sizes), interval: null });
  const toGroup = ({ key, title, ...sizes }: Group) => ({ key, title, ...toCount(sizes) });
  const returned = groups.slice(0, top);
  const others = returned.reduce(
    (rest, group) => ({
      segments: rest.segments - group.segments,
      durationMs: rest.durationMs - group.durationMs,
      assets: rest.assets - group.assets,
    }),
    sum,
  );
  return {
    groups: returned.map(toGroup),
    other: { groupCount: groupCount - returned.length, ...toCount(others) },
    total: toCount(total),
    scope: { segments: total.segments, scored: 0 },
  };
}
