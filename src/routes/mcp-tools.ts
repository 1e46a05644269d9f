import { z } from "@hono/zod-openapi";
import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import { ANSWER, LIMITS } from "../config.ts";
import { ID_CHARACTERS } from "../ids.ts";
import { MODES } from "../search/request.ts";
import { ASSET_STATES, ASSET_TYPES } from "../types.ts";
import { indexName } from "./index-record.ts";
import { foundAssets, foundIndices, foundMoments, groundedAnswer } from "./mcp-record.ts";
import { DEFAULT_PAGE_SIZE } from "./page.ts";
import { tellAnswer, tellAssets, tellIndices, tellMoments } from "./mcp-text.ts";

/** One of our own operations, as a tool asks for it. */
export interface Ask {
  path: string;
  query?: object;
  /** As JSON, by POST; without it the method is GET. */
  body?: object;
}

/** Does what is asked for. `detail` says why it isn't done. */
export type Send = (ask: Ask) => Promise<{ record: unknown } | { detail: string }>;

interface Tool<I extends z.ZodObject, O extends z.ZodObject> {
  title: string;
  description: string;
  input: I;
  /** Of what the operation answers, what is passed on. */
  output: O;
  ask: (input: z.output<I>) => Ask;
  tell: (output: z.output<O>) => string;
}

const index_name = indexName.describe("The index, as list_indices names it.");
const asset_ids = z
  .array(z.string())
  .max(LIMITS.assetIds)
  .describe("Only in these videos and images, by their asset_id.");
const cursor = z.string().describe("The next_cursor of the page before, for the next one.");
const limit = z.int().min(1).max(LIMITS.pageSize).default(DEFAULT_PAGE_SIZE);
const text = z.string().min(1).max(LIMITS.queryCharacters);

const TOOLS = [
  define("list_indices", {
    title: "List indices",
    description:
      "Lists the indices (collections of videos and images) that can be searched, with what each holds. " +
      "Start here unless you know the index_name.",
    input: z.object({ limit, cursor: cursor.optional() }),
    output: foundIndices,
    ask: (query) => ({ path: "/index", query }),
    tell: tellIndices,
  }),
  define("list_assets", {
    title: "List videos and images",
    description:
      "Lists the videos and images of an index with their asset_id, title, length, state and metadata. " +
      "It doesn't look into them: to find something that is seen, said or written, use search.",
    input: z.object({
      index_name,
      type: z.enum(ASSET_TYPES).optional(),
      state: z.enum(ASSET_STATES).optional().describe("Only `ready` ones are searched in full."),
      limit,
      cursor: cursor.optional(),
    }),
    output: foundAssets,
    ask: ({ index_name: name, ...query }) => ({ path: pathOf(name), query }),
    tell: tellAssets,
  }),
  define("search", {
    title: "Search moments",
    description:
      "Finds moments of videos, and images, by what is seen, said or written in them. Describe the moment in " +
      'plain words, in any language: "a dog jumps into the water". Put words that must be said or written as ' +
      "they are in double quotes, and a minus before a word that must not occur. Each result has its times in " +
      "seconds, a score (the probability that it is what was meant, 0 to 1), what is seen, said and written " +
      "there, and a clip_url that plays it for an hour. Give query, similar_to or both.",
    input: z.object({
      index_name,
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
        .describe("The least score: 0.5 leaves what is likelier right than wrong."),
      modes: z
        .array(z.enum(MODES))
        .max(MODES.length)
        .default([])
        .describe(
          "Which kinds of asset (video, image) and of evidence (visual, speech, text in the picture) count. " +
            "Empty: all.",
        ),
      asset_ids: asset_ids.default([]),
      filter: z
        .record(z.string(), z.unknown())
        .default({})
        .describe(
          'Rules on the assets\' metadata, created_at and duration_seconds: {"camera": "A", "year": ' +
            '{"$gte": 2024}}. Operators: $eq $ne $in $nin $lt $lte $gt $gte.',
        ),
      group_by: z
        .enum(["segment", "asset"])
        .default("segment")
        .describe("asset: only the best moment of each video."),
      cursor: cursor.optional(),
    }),
    output: foundMoments,
    ask: ({ index_name: name, ...body }) => ({ path: `${pathOf(name)}/search`, body }),
    tell: tellMoments,
  }),
  define("answer", {
    title: "Answer a question",
    description:
      "Answers a question from what is said, written and shown in an index's videos and images. Each claim is " +
      "marked [1], and each marker's citation is a moment that proves it, with times and a clip_url. Where " +
      "nothing supports an answer, grounded is false. To see the moments themselves, use search.",
    input: z.object({
      index_name,
      query: text.describe("The question, as a whole sentence."),
      top_k: z
        .int()
        .min(1)
        .max(LIMITS.answerTopK)
        .default(ANSWER.segments)
        .describe("How many moments are read for it at most."),
      asset_ids: asset_ids.optional(),
      language: z
        .string()
        .max(LIMITS.languageCharacters)
        .optional()
        .describe("Of the answer (BCP 47), such as `de`."),
      system_prompt: text.optional().describe("How the answer should be written."),
      markdown: z.boolean().default(false).describe("Markers link to the moments they cite."),
    }),
    output: groundedAnswer,
    ask: ({ index_name: name, ...query }) => ({ path: `${pathOf(name)}/answer`, query }),
    tell: tellAnswer,
  }),
];

/** Adds every tool to a server; `send` does what they ask for. */
export function addTools(server: McpServer, send: Send): void {
  for (const add of TOOLS) add(server, send);
}

function define<I extends z.ZodObject, O extends z.ZodObject>(
  name: string,
  { title, description, input, output, ask, tell }: Tool<I, O>,
) {
  const annotations = { readOnlyHint: true, openWorldHint: false };
  const inputSchema: z.ZodObject = input;
  const config = { title, description, inputSchema, outputSchema: output, annotations };
  return (server: McpServer, send: Send) => {
    server.registerTool(name, config, async (args): Promise<CallToolResult> => {
      const sent = await send(ask(args as z.output<I>));
      if ("detail" in sent) return { isError: true, ...said(sent.detail) };
      const structuredContent = output.parse(sent.record);
      return { ...said(tell(structuredContent)), structuredContent };
    });
  };
}

function said(words: string) {
  return { content: [{ type: "text" as const, text: words }] };
}

function pathOf(name: string): string {
  return `/index/${encodeURIComponent(name)}`;
}
