import { AGGREGATE } from "../../parameters.ts";
import {
  compareKeys,
  countMatches,
  type GroupKey,
  listGroups,
} from "../../store/index-database/groups.ts";
import { indexDatabases } from "../../store/index-database/index-database.ts";
import type { Timings } from "../../timings.ts";
import type { SearchableIndexRef } from "../calibration.ts";
import { NO_FEEDBACK } from "../feedback.ts";
import { compileQuery } from "../query.ts";
import { makeSearchRequest, toSearchScope } from "../request.ts";
import { scoreSignals } from "../score-segment.ts";
import { findCandidates, toFtsSearch } from "../search.ts";
import { correctQuery } from "../spelling.ts";
import { type CountedHit, toCountInput } from "./count-input.ts";
import { COUNT_MODEL, excessOf } from "./count-model.ts";
import { type Aggregate, type AggregateRequest, SIZE_OF_UNIT } from "./counts.ts";
import { groupKeysOf } from "./group-keys.ts";
import { simulateCounts } from "./simulate-counts.ts";

/** Estimates how much of what is in scope a query finds. */
export async function estimateCounts(
  env: Env,
  index: SearchableIndexRef,
  { grouping, unit, top, correct, ...request }: AggregateRequest,
  timings: Timings,
): Promise<Omit<Aggregate, "calibration">> {
  const databases = indexDatabases(env, index);
  const scope = toSearchScope(makeSearchRequest({ topK: 0, ...request }));
  const pass = {
    scope,
    feedback: NO_FEEDBACK,
    depth: AGGREGATE.vectorDepth,
    fullTextDepth: AGGREGATE.fullTextDepth,
    excludedIds: new Set<string>(),
  };
  let query = compileQuery(request.query, null);
  let searched = await findCandidates(env, index, { ...pass, query }, timings);
  const corrected = correct
    ? await correctQuery(databases, request.query, query, searched.frequencies)
    : null;
  if (corrected !== null) {
    query = compileQuery(corrected, null);
    searched = await findCandidates(env, index, { ...pass, query }, timings);
  }
  const { candidates, context, hasText } = searched;
  const lowestScore = scoreSignals({}, context).score;
  const scored = candidates.map(({ segment, asset, score, channelHits }): CountedHit => {
    return {
      assetId: asset.assetId,
      durationMs: (segment.endMs ?? 0) - (segment.startMs ?? 0),
      excess: excessOf(score, lowestScore),
      hasWords: channelHits.some(({ evidence }) => evidence === null),
      keys: groupKeysOf(grouping, { segment, asset }),
    };
  });
  const assetIds = [...new Set(scored.map(({ assetId }) => assetId))];
  const [list, matchCount, assets] = await timings.time("count", () =>
    Promise.all([
      listGroups(databases, scope.assets, grouping, {
        order: SIZE_OF_UNIT[unit],
        limit: AGGREGATE.maxGroups,
      }),
      countMatches(databases, scope.assets, toFtsSearch(query, scope, 0)),
      listGroups(
        databases,
        { ...scope.assets, assetIds: assetIds.length > 0 ? assetIds : [""] },
        { by: "asset" },
        { order: "segments", limit: assetIds.length },
      ),
    ]),
  );
  const byAsset = new Map(assets.groups.map((group) => [String(group.key), group]));
  const isByAsset = grouping.by !== "label";
  const { keys, input } = toCountInput(
    scored,
    {
      unit,
      top,
      isByAsset,
      // An asset may not be among the largest groups.
      list: grouping.by === "asset" ? { ...list, groups: assets.groups } : list,
      assets: byAsset,
      matchCount,
      mayBeUnfound: query.phrases.length === 0,
      hasText,
    },
    COUNT_MODEL,
  );
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve));
  const counts = await timings.time("estimate", () => simulateCounts(input, COUNT_MODEL, pause));
  const titleOf = (key: GroupKey) =>
    grouping.by === "asset" ? (byAsset.get(String(key))?.title ?? null) : null;
  const other = { groupCount: list.groupCount - keys.length, ...counts[keys.length]! };
  return {
    groups: keys
      .map((key, at) => ({ key, title: titleOf(key), ...counts[at]! }))
      .toSorted((a, b) => b.count - a.count || compareKeys(a.key, b.key)),
    other,
    total: counts[keys.length + 1]!,
    scope: { segments: list.total.segments, scored: scored.length },
    interpretation: {
      excluded: query.excluded.map((words) => words.join(" ")),
      corrected,
    },
  };
}
