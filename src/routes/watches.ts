import { z } from "@hono/zod-openapi";
import { invalid } from "../errors.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { requireCostQuota } from "../http/metering.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";
import { webhookUrlIssues } from "../http/webhook-url.ts";
import { newId } from "../ids.ts";
import { embedWatch } from "../search/watches/watch-vectors.ts";
import {
  deleteWatch,
  insertWatch,
  listWatches,
  requireWatch,
  updateWatch,
  type Watch,
  type WatchRequest,
} from "../store/d1/watches.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { countMatches, deleteMatches } from "../store/index-database/matches.ts";
import { indexObject } from "../store/index-object.ts";
import type { MediaIndexRow } from "../types.ts";
import { RECORDS_FULL } from "./records/fields.ts";
import { indexParams } from "./records/index-record.ts";
import {
  newImageWatch,
  newWatch,
  requireQuery,
  toWatchRecord,
  toWatchRequest,
  watchChange,
  watchId,
  watchParams,
  watchRecord,
} from "./records/watch-record.ts";
import { imageForm, readImageForm } from "./watch-form.ts";

export const watchRoutes = createRouter("Watches");

const WATCHES_FULL =
  "The index has its 200 watches, or the account's bytes of records are used up.";

addEndpoint(
  watchRoutes,
  {
    method: "post",
    path: "/index/{index_name}/watches",
    operationId: "createWatch",
    summary: "Create a watch",
    description:
      "Announces from now on each new segment that matches: by the event `watch.matched`, once, " +
      "with its probability. A segment is scored as a search scores it. Send JSON, or, to watch " +
      "for an image, a form with `image_file` and the other fields as JSON in `watch`. " +
      "docs/watches.md has recipes.",
    errors: { account_full: WATCHES_FULL },
    scope: "write",
    creates: "record",
    params: indexParams,
    body: newWatch,
    form: imageForm(newImageWatch),
    examples: {
      words: {
        summary: "Words",
        value: { name: "Red truck at the gate", query: "red truck at the gate" },
      },
      speech: {
        summary: "What is said, in videos of one camera",
        value: {
          name: "Our product",
          query: "Sightline",
          modes: ["speech"],
          filter: { channel: "news" },
          min_probability: 0.8,
        },
      },
    },
    rules: (c, { body }) => webhookUrlIssues(c.env, body["webhook_url"], ["body", "webhook_url"]),
    response: watchRecord,
  },
  createWatch,
);

async function createWatch(
  c: Context,
  { params, body }: Input<typeof indexParams, z.ZodObject, typeof newWatch>,
) {
  const index = await requireCallerIndex(c, params.index_name);
  await requireCostQuota(c);
  const form = await readImageForm(c, newImageWatch);
  const fields = form?.fields ?? body;
  const image = form?.image ?? null;
  if (form) throwIssues(webhookUrlIssues(c.env, fields.webhook_url, ["body", "webhook_url"]));
  const request = toWatchRequest(fields, image !== null);
  const vectors = await embedWatch(c.env, index, request, image);
  const now = Date.now();
  const watch = {
    watchId: newId("wat", now),
    accountId: index.accountId,
    indexId: index.indexId,
    name: fields.name,
    request,
    minProbability: fields.min_probability,
    webhookUrl: fields.webhook_url ?? null,
    paused: Number(fields.paused),
    createdAt: now,
    updatedAt: now,
    image,
    vectors,
    nearest: null,
  };
  await insertWatch(c.env.DB, watch);
  return (await toRecords(c, index, [watch]))[0]!;
}

function throwIssues(issues: ReturnType<typeof webhookUrlIssues>): void {
  const [issue] = issues;
  if (issue) throw invalid(issue.loc, issue.type, issue.msg.replace("Value error, ", ""));
}

/** Makes the records of watches, with the numbers of their matches. */
async function toRecords(c: Context, index: MediaIndexRow, watches: readonly Watch[]) {
  const ids = watches.map((watch) => watch.watchId);
  const counts = await countMatches(indexDatabases(c.env, index), ids);
  const caller = c.get("caller");
  const isSigned = caller.scopes.includes("admin") && watches.some((each) => each.webhookUrl);
  const object = indexObject(c.env, index.indexId);
  const secrets = isSigned ? await object.webhookSecrets() : [];
  return watches.map((watch) => {
    const facts = { indexName: index.name, matches: counts.get(watch.watchId) ?? 0, secrets };
    return toWatchRecord(watch, facts, caller);
  });
}

addEndpoint(
  watchRoutes,
  {
    method: "get",
    path: "/index/{index_name}/watches",
    operationId: "listWatches",
    summary: "List the watches of an index",
    description: "Lists the watches of an index, the oldest first.",
    scope: "read",
    params: indexParams,
    query: pageQuery,
    response: pageOf("watches", watchRecord),
  },
  listIndexWatches,
);

async function listIndexWatches(
  c: Context,
  { params, query }: Input<typeof indexParams, typeof pageQuery>,
) {
  const index = await requireCallerIndex(c, params.index_name);
  const page = await listWatches(c.env.DB, index.indexId, pageRequest(query));
  const watches = await toRecords(c, index, page.items);
  return { watches, total: page.total, next_cursor: nextCursor(page) };
}

addEndpoint(
  watchRoutes,
  {
    method: "get",
    path: "/index/{index_name}/watches/{watch_id}",
    operationId: "getWatch",
    summary: "Get a watch",
    description: "Returns a watch, and how many segments have matched it.",
    scope: "read",
    params: watchParams,
    response: watchRecord,
  },
  getWatch,
);

async function getWatch(c: Context, { params }: Input<typeof watchParams>) {
  const index = await requireCallerIndex(c, params.index_name);
  const watch = await requireWatch(c.env.DB, index.indexId, params.watch_id);
  return (await toRecords(c, index, [watch]))[0]!;
}

addEndpoint(
  watchRoutes,
  {
    method: "patch",
    path: "/index/{index_name}/watches/{watch_id}",
    operationId: "updateWatch",
    summary: "Change a watch",
    description:
      "Changes the fields that are given, for what becomes searchable from now on. Its matches " +
      "stay, and a segment that has matched doesn't match again. An example can't be changed: " +
      "create another watch.",
    errors: {
      account_full: RECORDS_FULL,
      conflict: "What it watches for was changed at the same time.",
    },
    scope: "write",
    params: watchParams,
    body: watchChange,
    examples: {
      pause: { summary: "Pause", value: { paused: true } },
      query: { summary: "Watch for something else", value: { query: "blue truck at the gate" } },
    },
    rules: (c, { body }) => webhookUrlIssues(c.env, body["webhook_url"], ["body", "webhook_url"]),
    response: watchRecord,
  },
  changeWatch,
);

async function changeWatch(
  c: Context,
  { params, body }: Input<typeof watchParams, z.ZodObject, typeof watchChange>,
) {
  const index = await requireCallerIndex(c, params.index_name);
  const watch = await requireWatch(c.env.DB, index.indexId, params.watch_id);
  const { request: stored } = watch;
  const { query } = body;
  const hasExample = stored.similarTo !== null || stored.hasImage;
  if (query !== undefined) requireQuery(query, hasExample);
  const isOther = query !== undefined && (query ?? "") !== stored.query;
  const isScoped = Boolean(body.filter ?? body.modes ?? body.asset_types);
  const request = toWatchRequest(
    {
      query: query === undefined ? stored.query : (query ?? undefined),
      similar_to: stored.similarTo ?? undefined,
      filter: body.filter ?? stored.filter,
      modes: body.modes ?? (stored.modes as z.output<typeof newWatch>["modes"]),
      asset_types: body.asset_types ?? stored.assetTypes,
    },
    stored.hasImage,
  );
  const change = {
    name: body.name,
    request: isScoped || isOther ? request : undefined,
    vectors: isOther ? await embedOther(c, index, request, watch.image) : undefined,
    minProbability: body.min_probability,
    webhookUrl: body.webhook_url,
    paused: body.paused,
  };
  await updateWatch(c.env.DB, watch, change, Date.now());
  const changed = await requireWatch(c.env.DB, index.indexId, params.watch_id);
  return (await toRecords(c, index, [changed]))[0]!;
}

async function embedOther(
  c: Context,
  index: MediaIndexRow,
  request: WatchRequest,
  image: string | null,
) {
  await requireCostQuota(c);
  return embedWatch(c.env, index, request, image);
}

addEndpoint(
  watchRoutes,
  {
    method: "delete",
    path: "/index/{index_name}/watches/{watch_id}",
    operationId: "deleteWatch",
    summary: "Delete a watch",
    description: "Deletes a watch and its list of matches. The segments stay.",
    scope: "write",
    params: watchParams,
    response: z
      .object({ watch_id: watchId, deleted: z.literal(true).describe("Always true.") })
      .openapi("DeletedWatch", { description: "The watch that was deleted." }),
  },
  deleteIndexWatch,
);

async function deleteIndexWatch(c: Context, { params }: Input<typeof watchParams>) {
  const index = await requireCallerIndex(c, params.index_name);
  const watch = await requireWatch(c.env.DB, index.indexId, params.watch_id);
  await deleteMatches(indexDatabases(c.env, index), watch.watchId);
  await deleteWatch(c.env.DB, watch.watchId);
  return { watch_id: params.watch_id, deleted: true as const };
}
