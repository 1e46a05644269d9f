import { z } from "@hono/zod-openapi";
import { IMPORTS } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { userMetadata } from "../http/json-object.ts";
import { jsonText, queryBool, queryInt } from "../http/query-params.ts";
import { bodyInt } from "../http/validation.ts";
import { newId } from "../ids.ts";
import type { ImportRequest } from "../platforms/platform.ts";
import { PHOTONET, platformFor, VIDEONET } from "../platforms/registry.ts";
import { startJob } from "../store/jobs.ts";
import { requireQuota } from "../store/quotas.ts";
import { putSource } from "../store/sources.ts";
import type { JsonObject } from "../types.ts";
import { indexParams } from "./index-record.ts";
import { requireCallerIndex } from "./indices.ts";
import { queuedJob } from "./job-record.ts";

export const importRoutes = createRouter("Imports");

const url = z.string().min(1).max(2000).optional();
const name = z.string().min(1).max(500).optional();

const startedImport = queuedJob.extend({ source_id: z.string() }).openapi("StartedImport");

/** Options of an import in the query string. `maxItems` is the number of items it may add. */
function queryOptions(platforms: readonly string[], maxItems: number) {
  return {
    platform: z.enum(platforms).optional(),
    metadata: jsonText(userMetadata),
    follow: queryBool(false),
    limit: queryInt(1, maxItems, Math.min(IMPORTS.defaultLimit, maxItems)),
  };
}

/** Options of an import in a JSON body. They override those in the query string. */
function bodyOptions(platforms: readonly string[], maxItems: number) {
  return {
    platform: z.enum(platforms).optional(),
    metadata: userMetadata.optional(),
    follow: z.boolean().optional(),
    limit: bodyInt().min(1).max(maxItems).optional(),
  };
}

interface Options {
  platform?: string | undefined;
  metadata?: JsonObject | undefined;
  follow?: boolean | undefined;
  limit?: number | undefined;
}

/** Input of an import whose target is given by one of the fields `Name`. */
interface ImportInput<Name extends string> {
  params: { index_name: string };
  query: { [name in Name]?: string | undefined } & Options & { follow: boolean; limit: number };
  body: { [name in Name]?: string | undefined } & Options;
}

addEndpoint(
  importRoutes,
  {
    method: "post",
    path: "/index/{index_name}/videonet/url",
    summary: "Index From Video-Platform Url",
    scope: "write",
    params: indexParams,
    query: z.object({ url, ...queryOptions(VIDEONET, 1) }),
    body: z.object({ url, ...bodyOptions(VIDEONET, 1) }),
    bodyOptional: true,
    creates: "record",
    response: startedImport,
  },
  importVideo,
);

async function importVideo(c: Context, input: ImportInput<"url">) {
  return startImport(c, input, ["url"], (target) => ({ kind: "url", url: target.value }));
}

addEndpoint(
  importRoutes,
  {
    method: "post",
    path: "/index/{index_name}/videonet/playlist",
    summary: "Index From Video-Platform Playlist",
    scope: "write",
    params: indexParams,
    query: z.object({ url, playlist_id: name, ...queryOptions(VIDEONET, IMPORTS.maxListedItems) }),
    body: z.object({ url, playlist_id: name, ...bodyOptions(VIDEONET, IMPORTS.maxListedItems) }),
    bodyOptional: true,
    creates: "record",
    response: startedImport,
  },
  importPlaylist,
);

async function importPlaylist(c: Context, input: ImportInput<"url" | "playlist_id">) {
  return startImport(c, input, ["url", "playlist_id"], ({ field, value }) =>
    field === "url" ? { kind: "playlist", url: value } : { kind: "playlist", playlistId: value },
  );
}

addEndpoint(
  importRoutes,
  {
    method: "post",
    path: "/index/{index_name}/videonet/search",
    summary: "Index From Video-Platform Search",
    scope: "write",
    params: indexParams,
    query: z.object({ query: name, ...queryOptions(VIDEONET, IMPORTS.maxFoundItems) }),
    body: z.object({ query: name, ...bodyOptions(VIDEONET, IMPORTS.maxFoundItems) }),
    bodyOptional: true,
    creates: "record",
    response: startedImport,
  },
  importVideoSearch,
);

async function importVideoSearch(c: Context, input: ImportInput<"query">) {
  return startImport(c, input, ["query"], (target) => ({ kind: "search", query: target.value }));
}

addEndpoint(
  importRoutes,
  {
    method: "post",
    path: "/index/{index_name}/photonet/profile",
    summary: "Index From Photo-Network Profile",
    scope: "write",
    params: indexParams,
    query: z.object({ username: name, url, ...queryOptions(PHOTONET, IMPORTS.maxListedItems) }),
    body: z.object({ username: name, url, ...bodyOptions(PHOTONET, IMPORTS.maxListedItems) }),
    bodyOptional: true,
    creates: "record",
    response: startedImport,
  },
  importProfile,
);

async function importProfile(c: Context, input: ImportInput<"username" | "url">) {
  return startImport(c, input, ["username", "url"], ({ field, value }) =>
    field === "url" ? { kind: "profile", url: value } : { kind: "profile", username: value },
  );
}

/** A field that names what to import, and its value. */
interface ImportTarget<Name extends string> {
  field: Name;
  value: string;
}

/** Returns the one field that names the target. Throws a `ValidationError` for none or several. */
function requireTarget<Name extends string>(
  { query, body }: ImportInput<Name>,
  fields: readonly Name[],
): ImportTarget<Name> {
  const given = fields.flatMap((field) => {
    const value = body[field] ?? query[field];
    return value === undefined ? [] : [{ field, value }];
  });
  const [target, second] = given;
  const loc = ["body", second?.field ?? fields[0]!];
  if (!target) throw invalid(loc, "missing", `Give ${fields.join(" or ")}`);
  if (!second) return target;
  throw invalid(loc, "value_error", `Give one of ${fields.join(" and ")}, not both`);
}

/**
 * Stores the source and starts a job that imports its items. If the source has an unfinished job,
 * the response names that job instead.
 */
async function startImport<Name extends string>(
  c: Context,
  input: ImportInput<Name>,
  fields: readonly Name[],
  toRequest: (target: ImportTarget<Name>) => ImportRequest,
) {
  const { params, query, body } = input;
  const { accountId, indexId } = await requireCallerIndex(c, params.index_name);
  const request = toRequest(requireTarget(input, fields));
  const platform = requirePlatform(c.env, fields, request, body.platform ?? query.platform);
  await requireQuota(c.env.DB, accountId, { concurrent_ingests: 1, stored_bytes: 1 });
  const now = Date.now();
  const jobId = newId("job", now);
  const source = await putSource(c.env.DB, {
    sourceId: newId("src", now),
    accountId,
    indexId,
    platform,
    request,
    itemLimit: body.limit ?? query.limit,
    metadata: body.metadata ?? query.metadata ?? {},
    follow: (body.follow ?? query.follow) ? 1 : 0,
    jobId,
    createdAt: now,
  });
  const { sourceId } = source;
  if (source.jobId === jobId) {
    const job = { kind: "import", jobId, accountId, indexId, sourceId } as const;
    await startJob(c.env, { ...job, trigger: "request" }, now);
  }
  return { job_id: source.jobId, state: "queued" as const, source_id: sourceId };
}

/** Returns the platform's name. Throws a `ValidationError` if no platform supports the request. */
function requirePlatform(
  env: Env,
  fields: readonly string[],
  request: ImportRequest,
  platform?: string,
): string {
  try {
    return platformFor(env, request, platform).name;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "unsupported_platform") throw error;
    const field = fields.find((each) => each in request) ?? fields[0]!;
    const loc = ["body", platform === undefined ? field : "platform"];
    throw invalid(loc, "value_error", error.message);
  }
}
