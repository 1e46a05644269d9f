import { z } from "@hono/zod-openapi";
import type { ValidationIssue } from "../errors.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input, type SentInput } from "../http/endpoint.ts";
import { userMetadata } from "../http/json-object.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { webhookUrlIssues } from "../http/webhook-url.ts";
import { type AccountId, newId } from "../ids.ts";
import type { JobMessage } from "../messages.ts";
import { listAssets } from "../store/d1/assets.ts";
import * as store from "../store/d1/indices.ts";
import { listTallies } from "../store/d1/tallies.ts";
import { indexObject } from "../store/index-object.ts";
import { startJob } from "../store/job-queue.ts";
import { ASSET_STATES, ASSET_TYPES } from "../types.ts";
import { isObject } from "../user-metadata.ts";
import { assetRecord, toAssetRecord } from "./records/asset-record.ts";
import { RECORDS_FULL } from "./records/fields.ts";
import {
  indexName,
  indexParams,
  indexRecord,
  indexSettings,
  toIndexRecord,
} from "./records/index-record.ts";
import { queuedJob } from "./records/job-record.ts";
const indexChange = z.object({
  description: z.string().max(2000).optional().describe("What the index is for."),
  metadata: userMetadata.optional(),
  settings: indexSettings.optional(),
});
const newName = indexName
  .optional()
  .describe(
    "Name of the index: 1 to 64 letters, digits, dots, dashes, underscores. Default: an id.",
  );
const createIndexQuery = z.object({ index_name: newName });
const newIndex = indexChange.extend({ index_name: newName });

export const indexRoutes = createRouter("Indices");

addEndpoint(
  indexRoutes,
  {
    method: "post",
    path: "/index",
    operationId: "createIndex",
    summary: "Create an index",
    description:
      "Creates an empty index. All fields are optional: without a name, one is generated. The name " +
      "may be in the query instead of the body.",
    errors: {
      conflict: "An index with this name exists.",
      account_full: "The account has its maximum number of indices or of bytes of records.",
    },
    scope: "write",
    query: createIndexQuery,
    body: newIndex,
    bodyOptional: true,
    examples: {
      named: {
        summary: "An index with a name",
        value: { index_name: "holidays", description: "Clips of summer 2026" },
      },
      settings: {
        summary: "With a language and metadata",
        value: {
          index_name: "lectures",
          metadata: { team: "physics" },
          settings: { language: "pt-BR", traverse_every_hours: 168 },
        },
      },
    },
    rules: settingsIssues,
    creates: "record",
    response: indexRecord,
  },
  createIndex,
);

async function createIndex(
  c: Context,
  { query, body }: Input<z.ZodObject, typeof createIndexQuery, typeof newIndex>,
) {
  const { accountId } = c.get("caller");
  const index = toIndexRow(accountId, { ...body, index_name: body.index_name ?? query.index_name });
  const url = body.settings?.webhook_url;
  await store.insertIndex(c.env, index);
  if (url !== undefined) await setWebhook(c, index, url);
  return toIndexRecord(c, index, []);
}

/** Fills in the defaults of a new index. The default name is its id in lower case. */
function toIndexRow(accountId: AccountId, fields: z.output<typeof newIndex>): store.NewMediaIndex {
  const now = Date.now();
  return {
    indexId: newId("ind", now),
    accountId,
    name: fields.index_name ?? newId("ind", now).toLowerCase(),
    description: fields.description ?? "",
    metadata: fields.metadata ?? {},
    settings: fields.settings ?? {},
    createdAt: now,
    updatedAt: now,
    lastTraversedAt: null,
    revision: 0,
    calibration: null,
  };
}

addEndpoint(
  indexRoutes,
  {
    method: "get",
    path: "/index",
    operationId: "listIndices",
    summary: "List the indices",
    description: "Lists the indices of the account by their creation, with what each contains.",
    scope: "read",
    query: pageQuery,
    response: pageOf("indices", indexRecord),
  },
  listCallerIndices,
);

async function listCallerIndices(c: Context, { query }: Input<z.ZodObject, typeof pageQuery>) {
  const { accountId } = c.get("caller");
  const [page, tallies] = await Promise.all([
    store.listIndices(c.env.DB, accountId, pageRequest(query)),
    listTallies(c.env.DB, accountId),
  ]);
  const indices = page.items.map((index) => toIndexRecord(c, index, tallies));
  return { indices, total: page.total, next_cursor: nextCursor(page) };
}

const assetsQuery = pageQuery.extend({
  state: z.enum(ASSET_STATES).optional().describe("Lists only assets in this state."),
  type: z.enum(ASSET_TYPES).optional().describe("Lists only videos or only images."),
});

addEndpoint(
  indexRoutes,
  {
    method: "get",
    path: "/index/{index_name}",
    operationId: "listAssets",
    summary: "Get an index and list its assets",
    description: "Returns the record of an index and a page of its videos and images.",
    scope: "read",
    params: indexParams,
    query: assetsQuery,
    response: pageOf("assets", assetRecord)
      .extend({ index: indexRecord })
      .openapi("IndexWithAssets", { description: "An index and a page of its assets." }),
  },
  getIndex,
);

/** Responds with an index and a page of its assets. */
async function getIndex(
  c: Context,
  { params, query }: Input<typeof indexParams, typeof assetsQuery>,
) {
  const index = await requireCallerIndex(c, params.index_name);
  const [page, tallies] = await Promise.all([
    listAssets(c.env.DB, index.indexId, query, pageRequest(query)),
    listTallies(c.env.DB, index.accountId, index.indexId),
  ]);
  const signUrl = createMediaUrlSigner(c);
  return {
    index: toIndexRecord(c, index, tallies),
    assets: await Promise.all(page.items.map((asset) => toAssetRecord(asset, signUrl))),
    total: page.total,
    next_cursor: nextCursor(page),
  };
}

addEndpoint(
  indexRoutes,
  {
    method: "patch",
    path: "/index/{index_name}",
    operationId: "updateIndex",
    summary: "Update an index",
    description:
      "Changes the description, the metadata or the settings. A field that is left out stays as it " +
      "is; `metadata` and `settings` are replaced as a whole.",
    examples: {
      description: {
        summary: "Change the description",
        value: { description: "Clips of summer 2026, sorted" },
      },
    },
    errors: { account_full: RECORDS_FULL },
    scope: "write",
    params: indexParams,
    body: indexChange,
    rules: settingsIssues,
    response: indexRecord,
  },
  updateIndex,
);

async function updateIndex(
  c: Context,
  { params, body }: Input<typeof indexParams, z.ZodObject, typeof indexChange>,
) {
  const index = await requireCallerIndex(c, params.index_name);
  await store.updateIndex(c.env.DB, index, body, Date.now());
  if (body.settings) await setWebhook(c, index, body.settings.webhook_url ?? null);
  const [updated, tallies] = await Promise.all([
    requireCallerIndex(c, params.index_name),
    listTallies(c.env.DB, index.accountId, index.indexId),
  ]);
  return toIndexRecord(c, updated, tallies);
}

addEndpoint(
  indexRoutes,
  {
    method: "delete",
    path: "/index/{index_name}",
    operationId: "deleteIndex",
    summary: "Delete an index",
    description:
      "Deletes an index with all assets, files and vectors. It can't be searched from this moment " +
      "on; a job removes what is stored.",
    scope: "write",
    params: indexParams,
    response: queuedJob,
  },
  deleteIndex,
);

async function deleteIndex(c: Context, { params }: Input<typeof indexParams>) {
  const { indexId, accountId } = await requireCallerIndex(c, params.index_name);
  const now = Date.now();
  const jobId = newId("job", now);
  const job: JobMessage = { kind: "delete_index", jobId, accountId, indexId };
  await store.softDeleteIndex(c.env.DB, indexId, now);
  await indexObject(c.env, indexId).close();
  await startJob(c.env, job, now, "none");
  return { job_id: jobId, state: "queued" as const };
}

function settingsIssues(c: Context, { body: { settings } }: SentInput): ValidationIssue[] {
  const url = isObject(settings) ? settings["webhook_url"] : undefined;
  return webhookUrlIssues(c.env, url, ["body", "settings", "webhook_url"]);
}

/** Sets the webhook in the index's object, which sends the events; the settings only show it. */
async function setWebhook(c: Context, { indexId, name }: store.NewMediaIndex, url: string | null) {
  await indexObject(c.env, indexId).setWebhook({ indexId, indexName: name }, url);
}
