import { z } from "@hono/zod-openapi";
import { type IndexId, newId } from "../ids.ts";
import type { JobMessage } from "../queues/messages.ts";
import { listAssets } from "../store/assets.ts";
import { indexObject } from "../store/index-object.ts";
import * as store from "../store/indices.ts";
import { startJob } from "../store/jobs.ts";
import { listTallies } from "../store/tallies.ts";
import { ASSET_STATES, ASSET_TYPES, type MediaIndexRow } from "../types.ts";
import { assetRecord, toAssetRecord } from "./asset-record.ts";
import { addEndpoint, type Context, createRouter } from "./endpoint.ts";
import {
  indexName,
  indexParams,
  indexRecord,
  indexSettings,
  toIndexRecord,
} from "./index-record.ts";
import { queuedJob } from "./job-record.ts";
import { userMetadata } from "./json-object.ts";
import { mediaUrls } from "./media-url.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "./page.ts";
import { requireWebhookUrl } from "./webhook-url.ts";

const change = z.object({
  description: z.string().max(2000).optional(),
  metadata: userMetadata.optional(),
  settings: indexSettings.optional(),
});

export const indexRoutes = createRouter("Indices");

addEndpoint(
  indexRoutes,
  {
    method: "post",
    path: "/index",
    summary: "Create Index",
    scope: "write",
    query: z.object({ index_name: indexName.optional() }),
    body: change.extend({ index_name: indexName.optional() }),
    bodyOptional: true,
    adds: "record",
    response: indexRecord,
  },
  async (c, { query, body }) => {
    const now = Date.now();
    const index: MediaIndexRow = {
      indexId: newId("ind", now),
      accountId: c.get("caller").accountId,
      name: body.index_name ?? query.index_name ?? newId("ind", now).toLowerCase(),
      description: body.description ?? "",
      metadata: body.metadata ?? {},
      settings: body.settings ?? {},
      createdAt: now,
      updatedAt: now,
      lastTraversedAt: null,
      revision: 0,
    };
    const url = body.settings?.webhook_url;
    if (url !== undefined) requireWebhookUrl(url, c.env.FETCH_ALLOW);
    await store.insertIndex(c.env.DB, index);
    if (url !== undefined) await setWebhook(c, index, url);
    return toIndexRecord(index, []);
  },
);

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
  async (c, { query }) => {
    const { accountId } = c.get("caller");
    const [page, tallies] = await Promise.all([
      store.listIndices(c.env.DB, accountId, pageRequest(query)),
      listTallies(c.env.DB, accountId),
    ]);
    const indices = page.items.map((index) => toIndexRecord(index, tallies));
    return { indices, total: page.total, next_cursor: nextCursor(page) };
  },
);

addEndpoint(
  indexRoutes,
  {
    method: "get",
    path: "/index/{index_name}",
    summary: "List Assets",
    scope: "read",
    params: indexParams,
    query: pageQuery.extend({
      state: z.enum(ASSET_STATES).optional(),
      type: z.enum(ASSET_TYPES).optional(),
    }),
    response: pageOf("assets", assetRecord).extend({ index: indexRecord }),
  },
  async (c, { params, query }) => {
    const index = await requireOwnIndex(c, params.index_name);
    const [page, tallies] = await Promise.all([
      listAssets(c.env.DB, index.indexId, query, pageRequest(query)),
      listTallies(c.env.DB, index.accountId, index.indexId),
    ]);
    const urlOf = mediaUrls(c);
    return {
      index: toIndexRecord(index, tallies),
      assets: await Promise.all(page.items.map((asset) => toAssetRecord(asset, urlOf))),
      total: page.total,
      next_cursor: nextCursor(page),
    };
  },
);

addEndpoint(
  indexRoutes,
  {
    method: "patch",
    path: "/index/{index_name}",
    summary: "Update Index",
    scope: "write",
    params: indexParams,
    body: change,
    response: indexRecord,
  },
  async (c, { params, body }) => {
    const own = await requireOwnIndex(c, params.index_name);
    const { indexId, accountId } = own;
    if (body.settings) {
      const url = body.settings.webhook_url ?? null;
      if (url !== null) requireWebhookUrl(url, c.env.FETCH_ALLOW);
      await setWebhook(c, own, url);
    }
    await store.updateIndex(c.env.DB, indexId, body, Date.now());
    const [index, tallies] = await Promise.all([
      requireOwnIndex(c, params.index_name),
      listTallies(c.env.DB, accountId, indexId),
    ]);
    return toIndexRecord(index, tallies);
  },
);

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
  async (c, { params }) => {
    const { indexId, accountId } = await requireOwnIndex(c, params.index_name);
    const now = Date.now();
    const job: JobMessage = {
      kind: "delete_index",
      jobId: newId("job", now),
      accountId,
      indexId,
    };
    await store.hideIndex(c.env.DB, indexId, now);
    await indexObject(c.env, indexId).close();
    await startJob(c.env, job, now);
    return { job_id: job.jobId, state: "queued" as const };
  },
);

/** Where an index's events are sent is its object's to know; the settings show it. */
async function setWebhook(c: Context, { indexId, name }: MediaIndexRow, url: string | null) {
  await indexObject(c.env, indexId).setWebhook({ indexId, indexName: name }, url);
}

/** The caller's index of that name; another account's looks like one that doesn't exist. */
export function requireOwnIndex(c: Context, name: string): Promise<MediaIndexRow> {
  return store.requireIndex(c.env.DB, c.get("caller").accountId, name);
}

/** To search in it: throws `limit_reached` where the account has had its day's searches. */
export function requireSearchableIndex(c: Context, name: string): Promise<MediaIndexRow> {
  const { accountId } = c.get("caller");
  return store.requireIndexWithRoom(c.env.DB, accountId, name, { searches_per_day: 1 });
}

/** Of indices that were asked lately, their ids by account and name. */
const guesses = new Map<string, IndexId>();
const MAX_GUESSES = 10_000;

/**
 * Searches the caller's index while its name is looked up, taking it for the one that this isolate met
 * last by that name: one round trip less. What a wrong guess brings is thrown away. Throws as
 * `requireSearchableIndex` does.
 */
export async function searchOwnIndex<T>(
  c: Context,
  name: string,
  find: (indexId: IndexId) => Promise<T>,
): Promise<T> {
  const place = `${c.get("caller").accountId} ${name}`;
  const guess = guesses.get(place);
  const early = guess === undefined ? null : find(guess);
  early?.catch(() => {}); // seen only if the guess was right
  const { indexId } = await requireSearchableIndex(c, name);
  if (early && indexId === guess) return early;
  if (guesses.size >= MAX_GUESSES) guesses.clear();
  guesses.set(place, indexId);
  return find(indexId);
}
