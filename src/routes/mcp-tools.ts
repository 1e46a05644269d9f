import { z } from "@hono/zod-openapi";
import type { McpServer } from "@modelcontextprotocol/server";
import { ANSWER, LIMITS } from "../config.ts";
import { ID_CHARACTERS } from "../ids.ts";
import { MODES } from "../search/request.ts";
import { ASSET_STATES, ASSET_TYPES } from "../types.ts";
import { formatAnswer, formatAssets, formatIndices, formatMoments } from "./mcp-text.ts";
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
import { mcpAnswer, mcpAssetPage, mcpIndexPage, mcpSearchResult } from "./records/mcp-record.ts";

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
      "for an hour. Give query, similar_to or both.",
    input: z.object({
      index_name: INDEX_NAME,
      query: text.optional().describe("What to find."),
      similar_to: z
        .string()
        .max(ID_CHARACTERS)
        .optional()
        .describe("A segment_id or asset_id: finds what looks and sounds like it."),
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
    }),
    output: mcpSearchResult,
    toRequest: ({ index_name: name, ...body }) => ({ path: `${indexPath(name)}/search`, body }),
    formatOutput: formatMoments,
  }),
  defineTool("answer", {
    title: "Answer a question",
    description:
      "Answers a question from what is said, written and shown in an index's videos and images. " +
      "Each claim is marked [1], and each marker's citation is a moment that proves it, with " +
      "times and a clip_url. Where nothing supports an answer, grounded is false. To see the " +
      "moments themselves, use search.",
    input: z.object({
      index_name: INDEX_NAME,
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
    }),
    output: mcpAnswer,
    toRequest: ({ index_name: name, ...query }) => ({ path: `${indexPath(name)}/answer`, query }),
    formatOutput: formatAnswer,
  }),
];

/** Registers all tools with a server; those that write only if `canWrite`. */
export function addTools(server: McpServer, send: SendToolRequest, canWrite: boolean): void {
  for (const { isReadOnly, add } of [...TOOLS, ...WATCH_TOOLS]) {
    if (isReadOnly || canWrite) add(server, send);
  }
}
