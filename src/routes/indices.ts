import { z } from "@hono/zod-openapi";
import { AppError, invalid, type ValidationIssue } from "../errors.ts";
import { requirePublicUrl } from "../fetching/public-url.ts";
import { type AccountId, newId } from "../ids.ts";
import type { JobMessage } from "../messages.ts";
import { listAssets } from "../store/assets.ts";
import { indexObject } from "../store/index-object.ts";
import * as store from "../store/indices.ts";
import { startJob } from "../store/jobs.ts";
import { nearestReplica } from "../store/sql.ts";
import { listTallies } from "../store/tallies.ts";
import { ASSET_STATES, ASSET_TYPES, type MediaIndexRow, type NamedIndexRef } from "../types.ts";
import { assetRecord, toAssetRecord } from "./asset-record.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input, type SentInput } from "../http/endpoint.ts";
import {
  indexName,
  indexParams,
  indexRecord,
  indexSettings,
  toIndexRecord,
} from "./index-record.ts";
import { queuedJob } from "./job-record.ts";
import { isObject, userMetadata } from "../http/json-object.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";
const indexChange = z.object({
  description: z.string().max(2000).optional(),
  metadata: userMetadata.optional(),
  settings: indexSettings.optional(),
});
const createIndexQuery = z.object({ index_name: indexName.optional() });
const newIndex = indexChange.extend({ index_name: indexName.optional() });

export const indexRoutes = createRouter("Indices");

addEndpoint(
  indexRoutes,
  {
    method: "post",
    path: "/index",
    summary: "Create Index",
    scope: "write",
    query: createIndexQuery,
    body: newIndex,
    bodyOptional: true,
    rules: webhookUrlIssues,
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
  return toIndexRecord(index, []);
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
  };
}

addEndpoint(
  indexRoutes,
  {
    method: "get",
    path: "/index",
    summary: "List Indices",
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
  const indices = page.items.map((index) => toIndexRecord(index, tallies));
  return { indices, total: page.total, next_cursor: nextCursor(page) };
}

const assetsQuery = pageQuery.extend({
  state: z.enum(ASSET_STATES).optional(),
  type: z.enum(ASSET_TYPES).optional(),
});

addEndpoint(
  indexRoutes,
  {
    method: "get",
    path: "/index/{index_name}",
    summary: "List Assets",
    scope: "read",
    params: indexParams,
    query: assetsQuery,
    response: pageOf("assets", assetRecord).extend({ index: indexRecord }),
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
    index: toIndexRecord(index, tallies),
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
    summary: "Update Index",
    scope: "write",
    params: indexParams,
    body: indexChange,
    rules: webhookUrlIssues,
    response: indexRecord,
  },
  updateIndex,
);

async function updateIndex(
  c: Context,
  { params, body }: Input<typeof indexParams, z.ZodObject, typeof indexChange>,
) {
  const index = await requireCallerIndex(c, params.index_name);
  if (body.settings) {
    const url = body.settings.webhook_url ?? null;
    await setWebhook(c, index, url);
  }
  await store.updateIndex(c.env.DB, index.indexId, body, Date.now());
  const [updated, tallies] = await Promise.all([
    requireCallerIndex(c, params.index_name),
    listTallies(c.env.DB, index.accountId, index.indexId),
  ]);
  return toIndexRecord(updated, tallies);
}

addEndpoint(
  indexRoutes,
  {
    method: "delete",
    path: "/index/{index_name}",
    summary: "Delete Index",
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
  await startJob(c.env, job, now);
  return { job_id: jobId, state: "queued" as const };
}

/**
 * Returns an issue unless webhooks may be sent to the URL in the settings: https to a public
 * address, or any of the hosts in `FETCH_ALLOW`.
 */
function webhookUrlIssues(c: Context, { body: { settings } }: SentInput): ValidationIssue[] {
  const url = isObject(settings) ? settings["webhook_url"] : undefined;
  if (typeof url !== "string" || !URL.canParse(url)) return []; // the schema has an issue then
  const loc = ["body", "settings", "webhook_url"];
  const allowed = c.env.FETCH_ALLOW;
  try {
    const { protocol, host } = requirePublicUrl(url, allowed);
    if (protocol === "https:" || allowed.split(",").includes(host)) return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return invalid(loc, "value_error", error.message).issues;
  }
  return invalid(loc, "url_parsing", "Give an https URL").issues;
}

/** Sets the webhook in the index's object, which sends the events; the settings only show it. */
async function setWebhook(c: Context, { indexId, name }: store.NewMediaIndex, url: string | null) {
  await indexObject(c.env, indexId).setWebhook({ indexId, indexName: name }, url);
}

/** Returns the caller's index. Throws `not_found`, also for another account's index. */
export function requireCallerIndex(c: Context, name: string): Promise<MediaIndexRow> {
  return store.requireIndex(c.env.DB, c.get("caller").accountId, name);
}

/** Returns the caller's index. Throws `limit_reached` if the day's searches are used up. */
export function requireSearchableIndex(c: Context, name: string): Promise<MediaIndexRow> {
  const { accountId } = c.get("caller");
  return store.requireIndexWithinQuota(c.env.DB, accountId, name, { searches_per_day: 1 });
}

/** Recently searched indices, by account and name. */
const recentIndices = new Map<string, NamedIndexRef>();
const MAX_RECENT_INDICES = 10_000;

/**
 * Searches the caller's index speculatively: `find` starts with the index that this isolate last
 * resolved for the name, or that a replica of D1 has, while the primary resolves it. That saves a
 * round trip; the result is discarded if the primary has another index. Throws as
 * `requireSearchableIndex` does.
 */
export async function searchCallerIndex<T>(
  c: Context,
  name: string,
  find: (index: NamedIndexRef) => Promise<T>,
): Promise<T> {
  const { accountId } = c.get("caller");
  const cacheKey = `${accountId} ${name}`;
  const resolving = requireSearchableIndex(c, name);
  resolving.catch(() => {}); // awaited below
  const expected =
    recentIndices.get(cacheKey) ??
    (await store.findIndex(nearestReplica(c.env.DB), accountId, name));
  const speculative = expected && find(expected);
  speculative?.catch(() => {}); // its errors count only if the index is current
  const { indexId, shards } = await resolving;
  const isCurrent = indexId === expected?.indexId && shards.length === expected.shards.length;
  if (recentIndices.size >= MAX_RECENT_INDICES) recentIndices.clear();
  const index = { accountId, indexId, name, shards };
  recentIndices.set(cacheKey, index);
  return speculative && isCurrent ? speculative : find(index);
}
