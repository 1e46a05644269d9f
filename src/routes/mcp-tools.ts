import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import { toJsonLine, toVisibleText } from "../clean-text.ts";
import type { Operation } from "../http/endpoint.ts";
import { indexName, list, text } from "../http/fields.ts";
import * as z from "../http/zod.ts";
import { ID_CHARACTERS } from "../ids.ts";
import { INDEX_GROUP } from "../parameters.ts";
import { indexNameOrAll, partialField } from "./searchable-index.ts";

/** Sends a request of an endpoint. Resolves to the record, or to the error's `detail`. */
export type SendToolRequest = (
  endpoint: Operation,
  fields: Record<string, unknown>,
) => Promise<{ record: unknown } | { detail: string }>;

/** A tool: an endpoint of the API, with the fields that a model has use for. */
interface Tool {
  operationId: string;
  /** What a model needs to know, if that is more or less than the endpoint's description says. */
  description?: string;
  /** Arguments that differ from the endpoint's. */
  fields?: z.ZodRawShape;
}

const INDEX_NAME = indexName.describe("The index, as list_indices names it.");
const INDEX_NAMES = list(
  indexNameOrAll,
  `Instead of index_name: up to ${INDEX_GROUP.maxIndices} indices at once, or ["*"] for all. ` +
    "Without asset_ids.",
)
  .min(1)
  .max(INDEX_GROUP.maxIndices)
  .optional();

/** Arguments that are the same in all tools, in place of the endpoints' fields. */
const SHARED_FIELDS: z.ZodRawShape = {
  index_name: INDEX_NAME,
  watch_id: z.string().max(ID_CHARACTERS).describe("The watch, as list_watches names it."),
  filter: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'Rules on the assets\' metadata, created_at and duration_seconds: {"camera": "A", ' +
        '"year": {"$gte": 2024}}. Operators: $eq $ne $in $nin $lt $lte $gt $gte.',
    ),
  cursor: text("The next_cursor of the page before, for the next one.").optional(),
};

/** Fields that a model can't set. A transcript could tell it to set a webhook. */
const OMITTED = new Set(
  "webhook_url skipped scope_seconds use_boxes use_masks queue_job facets stream".split(" "),
);

/**
 * Fields that a model doesn't get: without use to it, they would fill its context. A webhook isn't
 * for every key to read.
 */
const HIDDEN = new Set(
  [
    ["settings", "webhook_url", "webhook_secret", "filter", "last_traversed_at", "updated_at"],
    ["index", "video_id", "image_id", "source", "content_type", "size_bytes", "sha256"],
    ["width", "height", "fps", "has_audio", "has_video", "taken_at", "technical", "progress"],
    ["working_copy", "storyboard", "original_url", "caption_model", "boxes", "mask"],
    ["conditions", "duplicates", "signals", "related", "model", "usage", "facets", "job_id"],
  ].flat(),
);

/** Returns the schema of a record without hidden fields, also of its items. */
function shownOf(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodArray) return z.array(shownOf(schema.element));
  if (schema instanceof z.ZodOptional) return z.optional(shownOf(schema.unwrap()));
  if (!(schema instanceof z.ZodObject)) return schema;
  const shown = Object.entries(schema.shape as z.core.$ZodShape)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, field]) => [name, shownOf(field)]);
  return z.object(Object.fromEntries(shown) as z.core.$ZodShape);
}

const TOOLS: Readonly<Record<string, Tool>> = {
  list_indices: { operationId: "listIndices" },
  list_assets: {
    operationId: "listAssets",
    description:
      "Lists the videos and images of an index with their asset_id, title, length, state and " +
      "metadata. It doesn't look into them: to find something that is seen, said or written, use " +
      "search.",
  },
  search: {
    operationId: "searchIndex",
    description:
      "Finds moments of videos, and images, by what is seen, said or written in them. Describe " +
      'the moment in plain words, in any language: "a dog jumps into the water". Put words that ' +
      "must be said or written as they are in double quotes, and a minus before a word that must " +
      "not occur. Each result has its times in seconds, a score (the probability that it is what " +
      "was meant, 0 to 1), what is seen, said and written there, and a clip_url that plays it " +
      "for an hour. Give query, similar_to or both; or, for moments that follow one another in one " +
      "video, a sequence: each result has them as steps. What must not be there goes into without: " +
      "in query, words such as no and without hardly count.",
    fields: {
      index_names: INDEX_NAMES,
      top_k: z.int().min(1).max(100).default(10).describe("How many results at most."),
    },
  },
  count: {
    operationId: "aggregateIndex",
    description:
      "Counts moments, their seconds, or videos and images, by groups: use it for questions like " +
      '"how many minutes of dogs are there, by year?". Without a query, it counts what there is. ' +
      "With a query, it counts the moments whose score is top_p or more.",
  },
  answer: { operationId: "answerFromText", fields: { index_names: INDEX_NAMES } },
  list_watches: { operationId: "listWatches" },
  list_watch_matches: { operationId: "listWatchMatches" },
  create_watch: {
    operationId: "createWatch",
    description:
      "Announces from now on each new moment that matches words, or is like a segment or an asset. " +
      "What is there already doesn't match: use search for that. Give query, similar_to or both.",
  },
  update_watch: { operationId: "updateWatch" },
  delete_watch: { operationId: "deleteWatch" },
};

/** Adds the tools of the endpoints to a server; those that write only if `canWrite`. */
export function addTools(
  server: McpServer,
  endpoints: readonly Operation[],
  send: SendToolRequest,
  canWrite: boolean,
): void {
  for (const [name, tool] of Object.entries(TOOLS)) {
    const endpoint = endpoints.find(({ operationId }) => operationId === tool.operationId)!;
    const isReadOnly = endpoint.scope === "read";
    if (!isReadOnly && !canWrite) continue;
    const destructiveHint = endpoint.method === "delete";
    const outputSchema = outputOf(tool, endpoint);
    const config = {
      title: endpoint.summary,
      description: tool.description ?? endpoint.description,
      inputSchema: inputOf(tool, endpoint),
      outputSchema,
      annotations: { readOnlyHint: isReadOnly, openWorldHint: false, destructiveHint },
    };
    server.registerTool(name, config, async ({ without, ...fields }): Promise<CallToolResult> => {
      const sent = await send(endpoint, without ? { ...fields, none: without } : fields);
      if ("detail" in sent) return { isError: true, ...textContent(sent.detail) };
      const structuredContent = outputSchema.parse(sent.record);
      return { ...textContent(toVisibleText(toJsonLine(structuredContent))), structuredContent };
    });
  }
}

/** Makes the schema of a tool's arguments: one index or several, if it takes `index_names`. */
function inputOf({ fields = {} }: Tool, endpoint: Operation): z.ZodObject {
  const { params, query, body } = endpoint;
  const { none, ...shape } = { ...params.shape, ...query?.shape, ...body?.shape };
  const taken = Object.entries({ ...shape, ...(none && { without: none }) })
    .filter(([name]) => !OMITTED.has(name))
    .map(([name, schema]) => [name, SHARED_FIELDS[name] ?? schema]);
  const input = z.object({ ...Object.fromEntries(taken), ...fields });
  if (!("index_names" in fields)) return input;
  return input
    .extend({ index_name: INDEX_NAME.optional() })
    .refine((sent) => (sent.index_name === undefined) !== (sent["index_names"] === undefined), {
      path: ["index_name"],
      message: "give either index_name or index_names",
    });
}

function outputOf({ fields = {} }: Tool, { response }: Operation): z.ZodObject {
  const shown = shownOf(response!) as z.ZodObject;
  return "index_names" in fields ? shown.extend({ partial: partialField.optional() }) : shown;
}

function textContent(text: string) {
  return { content: [{ type: "text" as const, text }] };
}
