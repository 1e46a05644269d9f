import { z } from "@hono/zod-openapi";
import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import { ANSWER, LIMITS } from "../config.ts";
import { DEFAULT_PAGE_SIZE } from "../http/pagination.ts";
import { ID_CHARACTERS } from "../ids.ts";
import { INDEX_GROUP } from "../parameters.ts";
import { MODES } from "../search/request.ts";
import { ASSET_STATES, ASSET_TYPES } from "../types.ts";
import { indexNameOrAll } from "./index-names.ts";
import {
  formatAnswer,
  formatAssets,
  formatIndices,
  formatMatches,
  formatMoments,
  formatWatches,
} from "./mcp-text.ts";
import { indexName } from "./records/index-record.ts";
import {
  mcpAnswer,
  mcpAssetPage,
  mcpIndexPage,
  mcpMatchPage,
  mcpSearchResult,
  mcpWatchPage,
} from "./records/mcp-record.ts";

/** An API request made by a tool. */
export interface ToolRequest {
  path: string;
  query?: object;
  /** JSON body of a POST request. Without it, the method is GET. */
  body?: object;
}

/** Sends an API request. Resolves to the response's record, or to the error's `detail`. */
export type SendToolRequest = (
  request: ToolRequest,
) => Promise<{ record: unknown } | { detail: string }>;

interface Tool<I extends z.ZodObject, O extends z.ZodObject> {
  title: string;
  description: string;
  input: I;
  /** Fields of the response that are passed on to the model. */
  output: O;
  toRequest: (input: z.output<I>) => ToolRequest;
  formatOutput: (output: z.output<O>) => string;
}

const index_name = indexName.describe("The index, as list_indices names it.");
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
const cursor = z.string().describe("The next_cursor of the page before, for the next one.");
const limit = z.int().min(1).max(LIMITS.pageSize).default(DEFAULT_PAGE_SIZE);
const text = z.string().min(1).max(LIMITS.queryCharacters);

const TOOLS = [
  defineTool("list_indices", {
    title: "List indices",
    description:
      "Lists the indices (collections of videos and images) that can be searched, with what each " +
      "holds. Start here unless you know the index_name.",
    input: z.object({ limit, cursor: cursor.optional() }),
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
      index_name,
      type: z.enum(ASSET_TYPES).optional(),
      state: z.enum(ASSET_STATES).optional().describe("Only `ready` ones are searched in full."),
      limit,
      cursor: cursor.optional(),
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
    input: z
      .object({
        index_name: index_name.optional(),
        index_names,
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
        filter: z
          .record(z.string(), z.unknown())
          .default({})
          .describe(
            'Rules on the assets\' metadata, created_at and duration_seconds: {"camera": "A", ' +
              '"year": {"$gte": 2024}}. Operators: $eq $ne $in $nin $lt $lte $gt $gte.',
          ),
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
        cursor: cursor.optional(),
      })
      .refine(namesOneOrSeveral, ONE_OR_SEVERAL),
    output: mcpSearchResult,
    toRequest: ({ index_name: name, ...body }) => {
      return { path: name === undefined ? "/search" : `${indexPath(name)}/search`, body };
    },
    formatOutput: formatMoments,
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
        index_name: index_name.optional(),
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
  defineTool("list_watches", {
    title: "List watches",
    description:
      "Lists the watches of an index: queries that announce each new moment which matches, with " +
      "how many have matched so far.",
    input: z.object({ index_name, limit, cursor: cursor.optional() }),
    output: mcpWatchPage,
    toRequest: ({ index_name: name, ...query }) => ({ path: `${indexPath(name)}/watches`, query }),
    formatOutput: formatWatches,
  }),
  defineTool("list_watch_matches", {
    title: "List the matches of a watch",
    description:
      "Lists the moments that have matched a watch, of the newest videos and images first, with " +
      "their times in seconds, scores and clip_url.",
    input: z.object({
      index_name,
      watch_id: z.string().max(ID_CHARACTERS).describe("The watch, as list_watches names it."),
      limit,
      cursor: cursor.optional(),
    }),
    output: mcpMatchPage,
    toRequest: ({ index_name: name, watch_id: id, ...query }) => ({
      path: `${indexPath(name)}/watches/${encodeURIComponent(id)}/matches`,
      query,
    }),
    formatOutput: formatMatches,
  }),
];

/** Registers all tools with a server. */
export function addTools(server: McpServer, send: SendToolRequest): void {
  for (const add of TOOLS) add(server, send);
}

function defineTool<I extends z.ZodObject, O extends z.ZodObject>(
  name: string,
  { title, description, input, output, toRequest, formatOutput }: Tool<I, O>,
) {
  const annotations = { readOnlyHint: true, openWorldHint: false };
  const inputSchema: z.ZodObject = input;
  const config = { title, description, inputSchema, outputSchema: output, annotations };
  return (server: McpServer, send: SendToolRequest) => {
    server.registerTool(name, config, async (args): Promise<CallToolResult> => {
      const sent = await send(toRequest(args as z.output<I>));
      if ("detail" in sent) return { isError: true, ...textContent(sent.detail) };
      const structuredContent = output.parse(sent.record);
      return { ...textContent(formatOutput(structuredContent)), structuredContent };
    });
  };
}

function textContent(text: string) {
  return { content: [{ type: "text" as const, text }] };
}

function indexPath(name: string): string {
  return `/index/${encodeURIComponent(name)}`;
}
