import { z } from "@hono/zod-openapi";
import { IMPORTS } from "../config.ts";
import { AppError, invalid, type ValidationIssue } from "../errors.ts";
import { requirePublicUrl } from "../fetching/public-url.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type SentInput } from "../http/endpoint.ts";
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

/** A field that names what to import, its value, and the part of the request it is in. */
interface ImportTarget<Name extends string> {
  part: "body" | "query";
  field: Name;
  value: string;
}

/** How an endpoint reads its target: the fields for it, and the request that they make. */
interface TargetReader<Name extends string> {
  platforms: readonly string[];
  fields: readonly Name[];
  toRequest: (target: ImportTarget<Name>) => ImportRequest;
}

const VIDEO: TargetReader<"url"> = {
  platforms: VIDEONET,
  fields: ["url"],
  toRequest: ({ value }) => ({ kind: "url", url: value }),
};
const PLAYLIST: TargetReader<"url" | "playlist_id"> = {
  platforms: VIDEONET,
  fields: ["url", "playlist_id"],
  toRequest: ({ field, value }) =>
    field === "url" ? { kind: "playlist", url: value } : { kind: "playlist", playlistId: value },
};
const VIDEO_SEARCH: TargetReader<"query"> = {
  platforms: VIDEONET,
  fields: ["query"],
  toRequest: ({ value }) => ({ kind: "search", query: value }),
};
const PROFILE: TargetReader<"username" | "url"> = {
  platforms: PHOTONET,
  fields: ["username", "url"],
  toRequest: ({ field, value }) =>
    field === "url" ? { kind: "profile", url: value } : { kind: "profile", username: value },
};

function listTargets<Name extends string>(
  { query, body }: SentInput,
  fields: readonly Name[],
): ImportTarget<Name>[] {
  return fields.flatMap((field) => {
    const part = (body[field] ?? null) === null ? "query" : "body";
    const value = part === "body" ? body[field] : query[field];
    return typeof value === "string" && value !== "" ? [{ part, field, value }] : [];
  });
}

/**
 * Makes the rules of an endpoint: exactly one target, a URL that may be fetched, and a platform
 * that knows it.
 */
function targetRules<Name extends string>({ platforms, fields, toRequest }: TargetReader<Name>) {
  return (c: Context, sent: SentInput): ValidationIssue[] => {
    const [target, second] = listTargets(sent, fields);
    if (!target) {
      return invalid(["body", fields[0]!], "missing", `Give ${fields.join(" or ")}`).issues;
    }
    if (second) {
      const message = `Give one of ${fields.join(" and ")}, not both`;
      return invalid([second.part, second.field], "value_error", message).issues;
    }
    const platform = sent.body["platform"] ?? sent.query["platform"];
    try {
      if (target.field === "url") requirePublicUrl(target.value, c.env.FETCH_ALLOW);
      const name = platforms.find((each) => each === platform);
      const isKnown = platform === undefined || name !== undefined; // else the schema has an issue
      if (isKnown) platformFor(c.env, toRequest(target), name);
      return [];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "platform_not_configured") return []; // the handler throws it
      return invalid([target.part, target.field], "value_error", error.message).issues;
    }
  };
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
    rules: targetRules(VIDEO),
    creates: "record",
    response: startedImport,
  },
  importVideo,
);

async function importVideo(c: Context, input: ImportInput<"url">) {
  return startImport(c, input, VIDEO);
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
    rules: targetRules(PLAYLIST),
    creates: "record",
    response: startedImport,
  },
  importPlaylist,
);

async function importPlaylist(c: Context, input: ImportInput<"url" | "playlist_id">) {
  return startImport(c, input, PLAYLIST);
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
    rules: targetRules(VIDEO_SEARCH),
    creates: "record",
    response: startedImport,
  },
  importVideoSearch,
);

async function importVideoSearch(c: Context, input: ImportInput<"query">) {
  return startImport(c, input, VIDEO_SEARCH);
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
    rules: targetRules(PROFILE),
    creates: "record",
    response: startedImport,
  },
  importProfile,
);

async function importProfile(c: Context, input: ImportInput<"username" | "url">) {
  return startImport(c, input, PROFILE);
}

/**
 * Stores the source and starts a job that imports its items. If the source has an unfinished job,
 * the response names that job instead.
 */
async function startImport<Name extends string>(
  c: Context,
  { params, query, body }: ImportInput<Name>,
  { fields, toRequest }: TargetReader<Name>,
) {
  const { accountId, indexId } = await requireCallerIndex(c, params.index_name);
  const [target] = listTargets({ query, body }, fields);
  const request = toRequest(target!);
  const platform = platformFor(c.env, request, body.platform ?? query.platform).name;
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
