import { z } from "@hono/zod-openapi";
import type { McpServer } from "@modelcontextprotocol/server";
import { ANSWER, LIMITS } from "../config.ts";
import { ID_CHARACTERS } from "../ids.ts";
import { AGGREGATE, INDEX_GROUP } from "../parameters.ts";
import { UNITS } from "../search/aggregate/counts.ts";
import { MODES } from "../search/request.ts";
import { ASSET_STATES, ASSET_TYPES } from "../types.ts";
import { indexNameOrAll } from "./index-names.ts";
import {
  formatAnswer,
  formatAssets,
  formatCounts,
  formatIndices,
  formatMoments,
} from "./mcp-text.ts";
import {
  CURSOR,
  defineTool,
  FILTER,
  INDEX_NAME,
  indexPath,
  LIMIT,
  type SendToolRequest,
} from "./mcp-tool.ts";
import { WATCH_TOOLS } from "./mcp-watch-tools.ts";
import { aggregateRecord } from "./records/aggregate-record.ts";
import { groupingName } from "./records/grouping.ts";
import { mcpAnswer, mcpAssetPage, mcpIndexPage, mcpSearchResult } from "./records/mcp-record.ts";
import { sequenceFields } from "./records/sequence-fields.ts";
import { MAX_SUBQUERIES } from "./records/subquery.ts";

const index_names = z
  .array(indexNameOrAll)
  .min(1)
  .max(INDEX_GROUP.maxIndices)
  .optional()
  .describe(
    `Instead of index_name: up to ${INDEX_GROUP.maxIndices} indices at once, or ["*"] for all. ` +
      "Without asset_ids.",
  );

/** Tests whether a tool's input names one index, or several. */
const namesOneOrSeveral = (input: {
  index_name?: string | undefined;
  index_names?: string[] | undefined;
}) => (input.index_name === undefined) !== (input.index_names === undefined);
const ONE_OR_SEVERAL = { path: ["index_name"], message: "give either index_name or index_names" };

const asset_ids = z
  .array(z.string())
  .max(LIMITS.assetIdCount)
  .describe("Only in these videos and images, by their asset_id.");
const text = z.string().min(1).max(LIMITS.queryCharacters);

const TOOLS = [
  defineTool("list_indices", {
    title: "List indices",
    description:
      "Lists the indices (collections of videos and images) that can be searched, with what each " +
      "holds. Start here unless you know the index_name.",
    input: z.object({ limit: LIMIT, cursor: CURSOR.optional() }),
    output: mcpIndexPage,
    toRequest: (query) => ({ path: "/index", query }),
    formatOutput: formatIndices,
  }),
  defineTool("list_assets", {
    title: "List videos and images",
    description:
      "Lists the videos and images of an index with their asset_id, title, length, state and " +
      "metadata. It doesn't look into them: to find something that is seen, said or written, use " +
      "search.",
    input: z.object({
      index_name: INDEX_NAME,
      type: z.enum(ASSET_TYPES).optional(),
      state: z.enum(ASSET_STATES).optional().describe("Only `ready` ones are searched in full."),
      limit: LIMIT,
      cursor: CURSOR.optional(),
    }),
    output: mcpAssetPage,
    toRequest: ({ index_name: name, ...query }) => ({ path: indexPath(name), query }),
    formatOutput: formatAssets,
  }),
  defineTool("search", {
    title: "Search moments",
    description:
      "Finds moments of videos, and images, by what is seen, said or written in them. Describe " +
      'the moment in plain words, in any language: "a dog jumps into the water". Put words that ' +
      "must be said or written as they are in double quotes, and a minus before a word that must " +
      "not occur. Each result has its times in seconds, a score (the probability that it is what " +
      "was meant, 0 to 1), what is seen, said and written there, and a clip_url that plays it " +
      "for an hour. Give query, similar_to or both; or, for moments that follow one another in one " +
      "video, a sequence: each result has them as steps. What must not be there goes into without: " +
      "in query, words such as no and without hardly count.",
    input: z
      .object({
        index_name: INDEX_NAME.optional(),
        index_names,
        query: text.optional().describe("What to find."),
        similar_to: z
          .string()
          .max(ID_CHARACTERS)
          .optional()
          .describe("A segment_id or asset_id: finds what looks and sounds like it."),
        sequence: z
          .array(text)
          .min(2)
          .max(MAX_SUBQUERIES)
          .optional()
          .describe("In place of query: what comes first, then what comes next in the same video."),
        within_seconds: sequenceFields.within_seconds.describe(
          "Longest time between two of these.",
        ),
        all: z
          .array(text)
          .max(MAX_SUBQUERIES)
          .default([])
          .describe("What has to be there, too, or instead of a query."),
        without: z
          .array(text)
          .max(MAX_SUBQUERIES)
          .default([])
          .describe('What must not be there: ["people"] for a beach without people.'),
        top_k: z.int().min(1).max(100).default(10).describe("How many results at most."),
        top_p: z
          .number()
          .min(0)
          .max(1)
          .default(0)
          .describe("The minimum score, 0 to 1: 0.5 returns what is more likely right than wrong."),
        modes: z
          .array(z.enum(MODES))
          .max(MODES.length)
          .default([])
          .describe(
            "Which kinds of asset (video, audio without pictures, image) and of evidence (visual, speech, text in the " +
              "picture) count. Empty: all.",
          ),
        asset_ids: asset_ids.default([]),
        filter: FILTER.default({}),
        group_by: z
          .enum(["segment", "asset"])
          .default("segment")
          .describe("asset: only the best moment of each video."),
        correct: z
          .boolean()
          .default(true)
          .describe(
            "Whether a word that nothing has is searched for as one that has nearly its letters.",
          ),
        cursor: CURSOR.optional(),
      })
      .refine(namesOneOrSeveral, ONE_OR_SEVERAL),
    output: mcpSearchResult,
    toRequest: ({ index_name: name, without: none, ...fields }) => {
      const body = { ...fields, none };
      return { path: name === undefined ? "/search" : `${indexPath(name)}/search`, body };
    },
    formatOutput: formatMoments,
  }),
  defineTool("count", {
    title: "Count moments",
    description:
      "Counts moments, their seconds, or videos and images, by groups: use it for questions like " +
      '"how many minutes of dogs are there, by year?". Without a query, it counts what there is, ' +
      "exactly. With a query, each count is the expected number, and its interval has the true " +
      "one with a probability of 90 %: say both.",
    input: z.object({
      index_name: INDEX_NAME,
      query: text.optional().describe("What to count, in plain words. Without it: everything."),
      group_by: groupingName
        .default("asset_type")
        .describe(
          "asset, asset_type, label, metadata.FIELD, technical.FIELD, taken_at.year, " +
            "taken_at.month or taken_at.day.",
        ),
      unit: z
        .enum(UNITS)
        .default("segments")
        .describe("What to count. An image is one segment of 0 seconds."),
      top: z
        .int()
        .min(1)
        .max(AGGREGATE.maxTop)
        .default(AGGREGATE.defaultTop)
        .describe("How many groups to list at most."),
      modes: z
        .array(z.enum(MODES))
        .max(MODES.length)
        .default([])
        .describe("Which kinds of asset and, with a query, of evidence count. Empty: all."),
      asset_ids: asset_ids.default([]),
      filter: FILTER.default({}),
      correct: z.boolean().default(true).describe("Whether unknown words are corrected."),
    }),
    output: aggregateRecord,
    toRequest: ({ index_name: name, ...body }) => ({ path: `${indexPath(name)}/aggregate`, body }),
    formatOutput: formatCounts,
  }),
  defineTool("answer", {
    title: "Answer a question",
    description:
      "Answers a question from what is said, written and shown in an index's videos and images. " +
      "Each claim is marked [1], and each marker's citation is a moment that proves it, with " +
      "times and a clip_url. Where nothing supports an answer, grounded is false. To see the " +
      "moments themselves, use search.",
    input: z
      .object({
        index_name: INDEX_NAME.optional(),
        index_names,
        query: text.describe("The question, as a whole sentence."),
        top_k: z
          .int()
          .min(1)
          .max(LIMITS.answerTopK)
          .default(ANSWER.defaultTopK)
          .describe("How many moments to read at most."),
        asset_ids: asset_ids.optional(),
        language: z
          .string()
          .max(LIMITS.languageCharacters)
          .optional()
          .describe("The language of the answer (BCP 47), such as `de`."),
        system_prompt: text.optional().describe("How the answer should be written."),
        markdown: z.boolean().default(false).describe("Markers link to the moments they cite."),
      })
      .refine(namesOneOrSeveral, ONE_OR_SEVERAL),
    output: mcpAnswer,
    toRequest: ({ index_name: name, ...query }) => {
      return { path: name === undefined ? "/answer" : `${indexPath(name)}/answer`, query };
    },
    formatOutput: formatAnswer,
  }),
];

/** Registers all tools with a server; those that write only if `canWrite`. */
export function addTools(server: McpServer, send: SendToolRequest, canWrite: boolean): void {
  for (const { isReadOnly, add } of [...TOOLS, ...WATCH_TOOLS]) {
    if (isReadOnly || canWrite) add(server, send);
  }
}
