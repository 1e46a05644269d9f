import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { requireAssets } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { countWork } from "../http/metering.ts";
import { bodyInt } from "../http/validation.ts";
import { AGGREGATE } from "../parameters.ts";
import { aggregate } from "../search/aggregate/aggregate.ts";
import { UNITS } from "../search/aggregate/counts.ts";
import { parseGrouping } from "../search/aggregate/group-keys.ts";
import { MODES } from "../search/request.ts";
import { Timings } from "../timings.ts";
import { ASSET_KINDS } from "../types.ts";
import { isObject } from "../user-metadata.ts";
import { MODES_DESCRIPTION, queryText } from "./example-query.ts";
import { aggregateRecord, toAggregateRecord } from "./records/aggregate-record.ts";
import { groupingName } from "./records/grouping.ts";
import { indexParams } from "./records/index-record.ts";
import { FILTER_DESCRIPTION, readFilter, searchFilter } from "./search-filter.ts";
import { requireSearchableIndex } from "./searchable-index.ts";

export const aggregateRoutes = createRouter("Search");

const modeList = z.array(z.enum(MODES)).max(MODES.length);

const aggregateBody = z
  .object({
    query: queryText()
      .optional()
      .describe("What to count, in everyday words. Without it, all that the filter selects."),
    filter: searchFilter.default({}).describe(FILTER_DESCRIPTION),
    modes: modeList.default([]).describe(MODES_DESCRIPTION),
    asset_ids: z
      .array(z.string())
      .max(LIMITS.assetIdCount)
      .default([])
      .describe("Ids of videos and images to count in. Empty: all."),
    group_by: groupingName
      .default("asset_type")
      .describe(
        "What a group shares: `asset`, `asset_type`, `label`, a field of the metadata or of the " +
          "file's facts (`metadata.camera`, `technical.lens`), or `taken_at.year`, `.month` or " +
          "`.day` (UTC).",
      ),
    unit: z
      .enum(UNITS)
      .default("segments")
      .describe("What to count. An image is one segment of 0 seconds."),
    top: bodyInt()
      .min(1)
      .max(AGGREGATE.maxTop)
      .default(AGGREGATE.defaultTop)
      .describe("Groups to return, the largest first."),
    correct: z
      .boolean()
      .default(true)
      .describe("Whether a word that no segment has is corrected, as in a search."),
  })
  .refine(
    ({ query, modes }) =>
      query !== undefined || modes.every((mode) => ASSET_KINDS.some((kind) => kind === mode)),
    {
      path: ["modes"],
      message: "A kind of evidence needs a query",
      when: ({ value }) => isObject(value) && modeList.safeParse(value["modes"]).success,
    },
  );

addEndpoint(
  aggregateRoutes,
  {
    method: "post",
    path: "/index/{index_name}/aggregate",
    operationId: "aggregateIndex",
    summary: "Count by groups",
    description:
      "Counts segments, their seconds, or assets, by groups. Without a query, numbers are exact. " +
      "With one, each is the expected number, computed from the probabilities of all segments, " +
      "with an interval of 90 %: nothing is cut off at a threshold. Near-duplicates count each. " +
      "Counts as a search. docs/search-guide.md explains it.",
    errors: { upstream_unavailable: "Counting takes too long, or a database does not answer." },
    scope: "read",
    params: indexParams,
    body: aggregateBody,
    examples: {
      facts: { summary: "How much there is of each kind", value: { unit: "segments" } },
      query: {
        summary: "How many seconds of dogs, by year",
        value: { query: "dog", group_by: "taken_at.year", unit: "seconds" },
      },
      labels: {
        summary: "The labels of videos of 2024 and later",
        value: {
          group_by: "label",
          modes: ["video"],
          filter: { year: { $gte: 2024 } },
          top: 10,
        },
      },
    },
    response: aggregateRecord,
  },
  aggregateIndex,
);

async function aggregateIndex(
  c: Context,
  { params, body }: Input<typeof indexParams, z.ZodObject, typeof aggregateBody>,
): Promise<z.input<typeof aggregateRecord>> {
  const index = await requireSearchableIndex(c, params.index_name);
  await requireAssets(c.env.DB, index.indexId, body.asset_ids);
  const timings = new Timings();
  const request = {
    query: body.query ?? "",
    correct: body.correct,
    assetIds: body.asset_ids,
    conditions: readFilter(body.filter),
    modes: body.modes,
    grouping: parseGrouping(body.group_by)!,
    unit: body.unit,
    top: body.top,
  };
  const counted = await aggregate(c.env, index, request, timings);
  countWork(c, "searches");
  c.header("Server-Timing", timings.toHeader());
  return toAggregateRecord(counted, body.unit);
}
