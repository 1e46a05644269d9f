import { toCamelFields } from "../field-names.ts";
import { requireAssets } from "../http/caller-records.ts";
import { countWork } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { calibrationField, countField, number, oneOf, share, text } from "../http/fields.ts";
import { strictInt } from "../http/validation.ts";
import * as z from "../http/zod.ts";
import { AGGREGATE } from "../parameters.ts";
import { UNITS, aggregate } from "../search/aggregate.ts";
import { parseGrouping } from "../store/index-database/groups.ts";
import { Timings } from "../timings.ts";
import { ASSET_KINDS } from "../types.ts";
import { isObject } from "../user-metadata.ts";
import {
  groupingName,
  modesField,
  queryText,
  searchFields,
  filterField,
  readFilter,
} from "./records/search-request.ts";
import { keyField } from "./records/search-result.ts";
import { requireSearchableIndex } from "./searchable-index.ts";

const count = number("How many, exactly.", 12);

const aggregateRecord = z
  .object({
    groups: z
      .array(
        z.object({
          key: keyField,
          title: text("Title of the asset, if each asset is a group; else null.", null).nullable(),
          count,
        }),
      )
      .describe("The groups with the largest numbers, largest first."),
    other: z
      .object({ groups: countField("Groups that aren't listed.", 3), count })
      .describe("The other groups together. What is in several of them counts for each."),
    total: z
      .object({ count })
      .describe("All that is counted, each once: groups of labels and lists overlap."),
    unit: z.enum(UNITS).describe("What was counted, as requested."),
    scope: z
      .object({
        segments: countField("Segments that the filter and the modes select.", 214),
        scored: countField(
          "How many of them the query was compared with: the best by words and by vectors. 0 " +
            "without a query.",
          180,
        ),
      })
      .describe("What was counted from."),
    query: z
      .object({
        excluded: z
          .array(z.string())
          .describe("Words and phrases that nothing counted has: those after a minus.")
          .openapi({ example: [] }),
        corrected: text("The query with a word corrected, if that was counted.", null).nullable(),
      })
      .describe("What the query was taken for."),
    calibration: calibrationField,
  })
  .openapi("Aggregate", { description: "Numbers of segments, seconds or assets, by groups." });

export const aggregateRoutes = createRouter("Search");

const aggregateBody = z
  .object({
    query: queryText()
      .optional()
      .describe("What to count, in everyday words. Without it, all that the filter selects."),
    filter: filterField,
    modes: searchFields.shape.modes,
    asset_ids: searchFields.shape.asset_ids,
    group_by: groupingName
      .default("asset_type")
      .describe(
        "What a group shares: `asset`, `asset_type`, `label`, a field of the metadata or of the " +
          "file's facts (`metadata.camera`, `technical.lens`), or `taken_at.year`, `.month` or " +
          "`.day` (UTC).",
      ),
    unit: oneOf(UNITS, "What to count. An image is one segment of 0 seconds.").default("segments"),
    top: strictInt()
      .min(1)
      .max(AGGREGATE.maxTop)
      .default(AGGREGATE.defaultTop)
      .describe("Groups to return, the largest first."),
    top_p: share("With a query: lowest score of a hit that is counted.").default(
      AGGREGATE.defaultTopP,
    ),
    correct: searchFields.shape.correct,
  })
  .refine(
    ({ query, modes }) =>
      query !== undefined || modes.every((mode) => ASSET_KINDS.some((kind) => kind === mode)),
    {
      path: ["modes"],
      message: "A kind of evidence needs a query",
      when: ({ value }) => isObject(value) && modesField.safeParse(value["modes"]).success,
    },
  );

addEndpoint(aggregateRoutes, "POST /index/{index_name}/aggregate", {
  operationId: "aggregateIndex",
  summary: "Count by groups",
  description:
    "Counts segments, their seconds, or assets, by groups. With a query, it counts the hits whose " +
    "scores are `top_p` or more; near-duplicates count each. Counts as a search. " +
    "docs/search.md explains it.",
  errors: { upstream_unavailable: "Counting takes too long, or a database does not answer." },
  scope: "read",
  body: aggregateBody,
  examples: {
    "How much there is of each kind": { unit: "segments" },
    "How many seconds of dogs, by year": {
      query: "dog",
      group_by: "taken_at.year",
      unit: "seconds",
    },
    "The labels of videos of 2024 and later": {
      group_by: "label",
      modes: ["video"],
      filter: { year: { $gte: 2024 } },
      top: 10,
    },
  },
  response: aggregateRecord,
  async handle(c, { params, body }) {
    const index = await requireSearchableIndex(c, params.index_name);
    await requireAssets(c.env.DB, index.indexId, body.asset_ids);
    const timings = new Timings();
    const { query = "", filter, group_by, ...fields } = body;
    const grouping = parseGrouping(group_by)!;
    const request = { ...toCamelFields(fields), query, conditions: readFilter(filter), grouping };
    const counted = await aggregate(c.env, index, request, timings);
    countWork(c, "searches");
    c.header("Server-Timing", timings.toHeader());
    return counted;
  },
});
