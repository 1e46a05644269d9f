import { z } from "@hono/zod-openapi";
import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import { LIMITS } from "../config.ts";
import { DEFAULT_PAGE_SIZE } from "../http/pagination.ts";
import { indexName } from "./records/index-record.ts";

/** An API request made by a tool. */
export interface ToolRequest {
  /** Default: POST with a body, GET without. */
  method?: "POST" | "PATCH" | "DELETE";
  path: string;
  query?: object;
  /** JSON. */
  body?: object;
}

/** Sends an API request. Resolves to the response's record, or to the error's `detail`. */
export type SendToolRequest = (
  request: ToolRequest,
) => Promise<{ record: unknown } | { detail: string }>;

interface Tool<I extends z.ZodObject, O extends z.ZodObject> {
  title: string;
  /** What a tool that writes does to what is there; without it, the tool only reads. */
  writes?: "adds" | "changes" | "deletes";
  description: string;
  input: I;
  /** Fields of the response that are passed on to the model. */
  output: O;
  toRequest: (input: z.output<I>) => ToolRequest;
  formatOutput: (output: z.output<O>) => string;
}

/** A tool, which is registered with a server. */
export interface RegisteredTool {
  isReadOnly: boolean;
  add: (server: McpServer, send: SendToolRequest) => void;
}

/** Arguments of several tools. */
export const INDEX_NAME = indexName.describe("The index, as list_indices names it.");
export const CURSOR = z.string().describe("The next_cursor of the page before, for the next one.");
export const LIMIT = z.int().min(1).max(LIMITS.pageSize).default(DEFAULT_PAGE_SIZE);

export const FILTER = z
  .record(z.string(), z.unknown())
  .describe(
    'Rules on the assets\' metadata, created_at and duration_seconds: {"camera": "A", ' +
      '"year": {"$gte": 2024}}. Operators: $eq $ne $in $nin $lt $lte $gt $gte.',
  );

export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(
  name: string,
  { title, writes, description, input, output, toRequest, formatOutput }: Tool<I, O>,
): RegisteredTool {
  const isReadOnly = writes === undefined;
  const annotations = {
    readOnlyHint: isReadOnly,
    openWorldHint: false,
    ...(!isReadOnly && { destructiveHint: writes === "deletes" }),
  };
  const inputSchema: z.ZodObject = input;
  const config = { title, description, inputSchema, outputSchema: output, annotations };
  const add: RegisteredTool["add"] = (server, send) => {
    server.registerTool(name, config, async (args): Promise<CallToolResult> => {
      const sent = await send(toRequest(args as z.output<I>));
      if ("detail" in sent) return { isError: true, ...textContent(sent.detail) };
      const structuredContent = output.parse(sent.record);
      return { ...textContent(formatOutput(structuredContent)), structuredContent };
    });
  };
  return { isReadOnly, add };
}

function textContent(text: string) {
  return { content: [{ type: "text" as const, text }] };
}

export function indexPath(name: string): string {
  return `/index/${encodeURIComponent(name)}`;
}
