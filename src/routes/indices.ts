import { linesOfText } from "../clean-text.ts";
import type { ValidationIssue } from "../errors.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import { type Context, createMediaUrlSigner } from "../http/context.ts";
import { addEndpoint, createRouter, type SentInput } from "../http/endpoint.ts";
import { indexName, userMetadata } from "../http/fields.ts";
import { pageOf, pageQuery, pageRecord, pageRequest } from "../http/pagination.ts";
import { webhookUrlIssues } from "../http/webhook-url.ts";
import * as z from "../http/zod.ts";
import { newId } from "../ids.ts";
import { listAssets } from "../store/d1/assets.ts";
import * as store from "../store/d1/indices.ts";
import { listTallies } from "../store/d1/indices.ts";
import { indexObject } from "../store/index-object.ts";
import { ASSET_TYPES } from "../types.ts";
import { isObject } from "../user-metadata.ts";
import { assetRecord, stateFilter, toAssetRecord } from "./records/asset-record.ts";
import { indexRecord, indexSettings, toIndexRecord } from "./records/index-record.ts";
import { queuedJob, queueJob } from "./records/job-record.ts";

const indexChange = z.object({
  description: linesOfText(2000).optional().describe("What the index is for."),
  metadata: userMetadata.optional(),
  settings: indexSettings.optional(),
});
const newName = indexName
  .optional()
  .describe(
    "Unique name: 1 to 64 letters, digits, dots, dashes, underscores. It starts with a letter or " +
      "a digit. Default: an id.",
  );
const newIndex = indexChange.extend({ index_name: newName });

export const indexRoutes = createRouter("Indices");

addEndpoint(indexRoutes, "POST /index", {
  operationId: "createIndex",
  summary: "Create an index",
  description:
    "Creates an empty index. All fields are optional: without a name, one is generated. The name " +
    "may be in the query instead of the body.",
  errors: {
    conflict: "An index with this name exists.",
    account_full: "The account has its maximum number of indices or of bytes of records.",
  },
  query: z.object({ index_name: newName }),
  body: newIndex,
  bodyOptional: true,
  examples: {
    "An index with a name": { index_name: "holidays", description: "Clips of summer 2026" },
    "With a language and metadata": {
      index_name: "lectures",
      metadata: { team: "physics" },
      settings: { language: "pt-BR", traverse_every_hours: 168 },
    },
  },
  rules: settingsIssues,
  creates: "record",
  response: indexRecord,
  async handle(c, { query, body }) {
    const { description = "", metadata = {}, settings = {} } = body;
    const now = Date.now();
    const index = {
      indexId: newId("ind", now),
      accountId: c.get("caller").accountId,
      name: body.index_name ?? query.index_name ?? newId("ind", now).toLowerCase(),
      description,
      metadata,
      settings,
      createdAt: now,
      updatedAt: now,
      lastTraversedAt: null,
    };
    await store.insertIndex(c.env, index);
    if (settings.webhook_url) await setWebhook(c, index, settings);
    return toIndexRecord(c, index, []);
  },
});

addEndpoint(indexRoutes, "GET /index", {
  operationId: "listIndices",
  summary: "List the indices",
  description:
    "Lists the indices (collections of videos and images) of the account by their creation, with " +
    "what each contains.",
  query: pageQuery,
  response: pageOf("indices", indexRecord),
  async handle(c, { query }) {
    const { accountId } = c.get("caller");
    const [page, tallies] = await Promise.all([
      store.listIndices(c.env.DB, accountId, pageRequest(query)),
      listTallies(c.env.DB, accountId),
    ]);
    return pageRecord("indices", page, (index) => toIndexRecord(c, index, tallies));
  },
});

const assetsQuery = pageQuery.extend({
  state: stateFilter,
  type: z.enum(ASSET_TYPES).optional().describe("Lists only videos or only images."),
});

addEndpoint(indexRoutes, "GET /index/{index_name}", {
  operationId: "listAssets",
  summary: "Get an index and list its assets",
  description: "Returns the record of an index and a page of its videos and images.",
  query: assetsQuery,
  response: pageOf("assets", assetRecord)
    .extend({ index: indexRecord })
    .openapi("IndexWithAssets", { description: "An index and a page of its assets." }),
  async handle(c, { query }) {
    const index = await requireCallerIndex(c);
    const [page, tallies] = await Promise.all([
      listAssets(c.env.DB, index.indexId, query, pageRequest(query)),
      listTallies(c.env.DB, index.accountId, index.indexId),
    ]);
    const signUrl = createMediaUrlSigner(c);
    const assets = await pageRecord("assets", page, (asset) => toAssetRecord(asset, signUrl));
    return { index: toIndexRecord(c, index, tallies), ...assets };
  },
});

addEndpoint(indexRoutes, "PATCH /index/{index_name}", {
  operationId: "updateIndex",
  summary: "Update an index",
  description:
    "Changes the description, the metadata or the settings. A field that is left out stays as it " +
    "is; `metadata` and `settings` are replaced as a whole.",
  examples: { "Change the description": { description: "Clips of summer 2026, sorted" } },
  body: indexChange,
  rules: settingsIssues,
  response: indexRecord,
  async handle(c, { body }) {
    const index = await requireCallerIndex(c);
    await store.updateIndex(c.env.DB, index, body, Date.now());
    if (body.settings) await setWebhook(c, index, body.settings);
    const [updated, tallies] = await Promise.all([
      requireCallerIndex(c),
      listTallies(c.env.DB, index.accountId, index.indexId),
    ]);
    return toIndexRecord(c, updated, tallies);
  },
});

addEndpoint(indexRoutes, "DELETE /index/{index_name}", {
  operationId: "deleteIndex",
  summary: "Delete an index",
  description:
    "Deletes an index with all assets, files and vectors. It can't be searched from this moment " +
    "on; a job removes what is stored.",
  response: queuedJob,
  async handle(c) {
    const { indexId, accountId } = await requireCallerIndex(c);
    await store.softDeleteIndex(c.env.DB, indexId, Date.now());
    await indexObject(c.env, indexId).close();
    return queueJob(c.env, { kind: "delete_index", accountId, indexId }, "none");
  },
});

function settingsIssues(c: Context, { body: { settings } }: SentInput): ValidationIssue[] {
  const url = isObject(settings) ? settings["webhook_url"] : undefined;
  return webhookUrlIssues(c.env, url, ["body", "settings", "webhook_url"]);
}

/** Sets the webhook in the index's object, which sends the events; the settings only show it. */
async function setWebhook(
  c: Context,
  { indexId, name }: store.NewMediaIndex,
  { webhook_url: url, webhook_events: events }: z.infer<typeof indexSettings>,
) {
  await indexObject(c.env, indexId).setWebhook({ indexId, indexName: name }, url ?? null, events);
}
