import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../config.ts";
import { invalid } from "../../errors.ts";
import { anyObject } from "../../http/json-object.ts";
import { publicWebhookUrl } from "../../http/webhook-url.ts";
import { ID_CHARACTERS } from "../../ids.ts";
import { WATCHES } from "../../parameters.ts";
import { hasWord } from "../../search/query.ts";
import { MODES, type Mode } from "../../search/request.ts";
import type { Watch, WatchRequest } from "../../store/d1/watches.ts";
import { ASSET_KINDS, type Caller, type WebhookSecret } from "../../types.ts";
import { isObject } from "../../user-metadata.ts";
import { NO_WORD } from "../example-query.ts";
import { FILTER_DESCRIPTION, readFilter, searchFilter } from "../search-filter.ts";
import { countField, idField, time } from "./fields.ts";
import { indexParams, isoTime } from "./index-record.ts";
import { hitRecord } from "./segment-record.ts";

export const watchId = idField("watch", "Id of the watch.");
export const watchParams = indexParams.extend({ watch_id: watchId });

const name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .describe("What it is called in events.")
  .openapi({ example: "Red truck at the gate" });
const probability = z.number().min(0).max(1);
const minProbability = probability
  .describe("Lowest `score` of a match: of those at 0.9, at least nine in ten are right.")
  .openapi({ example: 0.9 });
const webhookUrl = z
  .url({ protocol: /^https?$/ })
  .max(LIMITS.urlCharacters)
  .describe(
    "Public https URL to which its events are sent, instead of the webhook of the index. Keys " +
      "without the scope `write` see only its origin.",
  )
  .openapi({ example: "https://hooks.your-site.dev/truck" });
const paused = z.boolean().describe("Whether nothing is announced for now.");
const modes = z.array(z.enum(MODES)).max(MODES.length);
const assetTypes = z.array(z.enum(ASSET_KINDS)).max(ASSET_KINDS.length);

/** Fields that say which segments match. */
const requestFields = {
  filter: searchFilter.describe(FILTER_DESCRIPTION),
  modes: modes.describe("Kinds of evidence that count, as in a search. Default: all."),
  asset_types: assetTypes.describe("Kinds of assets that are compared. Default: all."),
};

/** What a watch searches for. */
const queryFields = z.object({
  query: z
    .string()
    .min(1)
    .max(LIMITS.queryCharacters)
    .optional()
    .describe("What to watch for, in everyday words. Required without an example.")
    .openapi({ example: "red truck at the gate" }),
  similar_to: z
    .string()
    .max(ID_CHARACTERS)
    .optional()
    .describe("Id of a segment or an asset of the index: matches are like it.")
    .openapi({ example: undefined }),
  filter: requestFields.filter.default({}),
  modes: requestFields.modes.default([]),
  asset_types: requestFields.asset_types.default([]),
  min_probability: minProbability.default(WATCHES.minProbability),
});

const withWord = {
  path: ["query"],
  message: NO_WORD,
  when: ({ value }: { value: unknown }) => isObject(value),
};
const required = { ...withWord, message: "Field required", params: { type: "missing" } };

/**
 * Checks another query of a stored watch, whose example may need no words. Throws a
 * `ValidationError`.
 */
export function requireQuery(query: string | null, hasExample: boolean): void {
  if (hasExample) return;
  if (query === null) throw invalid(["body", "query"], "missing", "Field required");
  if (!hasWord(query)) throw invalid(["body", "query"], "value_error", NO_WORD);
}

type QueryInput = { query?: string | undefined; similar_to?: string | undefined };
const hasQuery = ({ query, similar_to }: QueryInput) =>
  query !== undefined || similar_to !== undefined;
const hasWords = ({ query, similar_to }: QueryInput) =>
  query === undefined || similar_to !== undefined || hasWord(query);

const settings = { webhook_url: webhookUrl.optional(), paused: paused.default(false) };
const named = queryFields.extend({ name, ...settings });

/** Body of a new watch; with a form, its part `watch`, whose query may be missing. */
export const newWatch = named.refine(hasQuery, required).refine(hasWords, withWord);
export const newImageWatch = named.omit({ similar_to: true });

/** Body of a preview. */
export const previewBody = queryFields.refine(hasQuery, required).refine(hasWords, withWord);

/** Fields of a watch that can be changed. */
export const watchChange = z.object({
  name: name.optional(),
  query: queryFields.shape.query
    .unwrap()
    .nullable()
    .optional()
    .describe("What to watch for from now on; null, with an example, for what is like that alone.")
    .openapi({ example: "blue truck at the gate" }),
  filter: requestFields.filter.optional(),
  modes: requestFields.modes.optional(),
  asset_types: requestFields.asset_types.optional(),
  min_probability: minProbability.optional(),
  webhook_url: webhookUrl.nullable().optional(),
  paused: paused.optional(),
});

export const watchRecord = z
  .object({
    watch_id: watchId,
    index_name: z.string().describe("Name of the index.").openapi({ example: "holidays" }),
    name,
    query: z
      .string()
      .nullable()
      .describe("What it watches for; null if only for what is like an example.")
      .openapi({ example: "red truck at the gate" }),
    similar_to: z
      .string()
      .nullable()
      .describe("Id of the segment or asset that is the example; null without one.")
      .openapi({ example: null }),
    has_image: z
      .boolean()
      .describe("Whether the example is an uploaded image.")
      .openapi({ example: false }),
    filter: anyObject()
      .describe("Conditions on the assets; empty for all.")
      .openapi({
        example: { camera: "gate" },
      }),
    modes: modes.describe("Kinds of evidence that count; empty for all.").openapi({ example: [] }),
    asset_types: assetTypes
      .describe("Kinds of assets that are compared; empty for all.")
      .openapi({ example: ["video"] }),
    min_probability: minProbability,
    webhook_url: webhookUrl.nullable(),
    webhook_secret: z
      .string()
      .nullable()
      .describe(
        "Secret that signs what is sent to `webhook_url`: that of the index. Null without a URL, " +
          "and for keys without the scope `admin`.",
      )
      .openapi({ example: "whsec_C2FVsBQI…" }),
    paused: paused.openapi({ example: false }),
    matches: countField("Segments that have matched.", 3),
    created_at: time("Creation of the watch. Assets that were added before don't match."),
    updated_at: time("Last change of the watch."),
  })
  .openapi("Watch", { description: "A query that announces each new segment which matches." });

export const matchRecord = z
  .object({
    matched_at: time("When the segment became searchable, or its transcript made it match."),
    score: z
      .number()
      .min(0)
      .max(1)
      .describe("Probability that the segment is relevant, from 0 to 1, at that time.")
      .openapi({ example: 0.94 }),
    segment: hitRecord,
  })
  .openapi("WatchMatch", { description: "A segment that has matched a watch." });

/** What a record has beside the stored watch. */
export interface WatchFacts {
  indexName: string;
  matches: number;
  secrets: readonly WebhookSecret[];
}

export function toWatchRecord(
  watch: Watch,
  { indexName, matches, secrets }: WatchFacts,
  { scopes }: Pick<Caller, "scopes">,
): z.input<typeof watchRecord> {
  const { request, webhookUrl: url } = watch;
  return {
    watch_id: watch.watchId,
    index_name: indexName,
    name: watch.name,
    query: request.query === "" ? null : request.query,
    similar_to: request.similarTo,
    has_image: request.hasImage,
    filter: request.filter,
    modes: request.modes as Mode[],
    asset_types: request.assetTypes,
    min_probability: watch.minProbability,
    webhook_url: url === null ? null : publicWebhookUrl(url, scopes),
    webhook_secret: url !== null && scopes.includes("admin") ? (secrets[0]?.secret ?? null) : null,
    paused: watch.paused === 1,
    matches,
    created_at: isoTime(watch.createdAt),
    updated_at: isoTime(watch.updatedAt),
  };
}

type RequestInput = Pick<
  z.output<typeof queryFields>,
  "query" | "similar_to" | "filter" | "modes" | "asset_types"
>;

/** Makes the stored request of a watch. */
export function toWatchRequest(
  { query, similar_to, filter, modes: kinds, asset_types }: RequestInput,
  hasImage: boolean,
): WatchRequest {
  return {
    query: query ?? "",
    similarTo: similar_to ?? null,
    hasImage,
    filter,
    conditions: readFilter(filter),
    modes: kinds,
    assetTypes: asset_types,
  };
}
