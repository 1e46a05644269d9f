import { z } from "@hono/zod-openapi";
import { IMPORTS } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Wanted } from "../platforms/platform.ts";
import { PHOTONET, platformFor, VIDEONET } from "../platforms/platforms.ts";
import type { JobMessage } from "../queues/messages.ts";
import { startJob } from "../store/jobs.ts";
import { requireRoom } from "../store/limits.ts";
import { putSource } from "../store/sources.ts";
import type { JsonObject } from "../types.ts";
import { addEndpoint, type Context, createRouter } from "./endpoint.ts";
import { indexParams } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { queuedJob } from "./job-record.ts";
import { userMetadata } from "./json-object.ts";
import { jsonText, queryBool, queryInt } from "./query-types.ts";
import { bodyInt } from "./validation.ts";

/** Bringing in what platforms have. */
export const importRoutes = createRouter("Imports");

/** What names a thing on a platform; one of several is given. */
const NAMES = {
  url: z.string().min(1).max(2000),
  playlist_id: z.string().min(1).max(500),
  query: z.string().min(1).max(500),
  username: z.string().min(1).max(500),
};
type Name = keyof typeof NAMES;
type Named = { [name in Name]?: string | undefined };

interface Import {
  path: string;
  summary: string;
  names: Name[];
  platforms: readonly string[];
  /** The most things that may be asked for. */
  most: number;
  toWanted: (named: Named) => Wanted;
}

const IMPORT_ENDPOINTS: Import[] = [
  {
    path: "videonet/url",
    summary: "Index From Video-Platform Url",
    names: ["url"],
    platforms: VIDEONET,
    most: 1,
    toWanted: ({ url }) => ({ kind: "url", url: url! }),
  },
  {
    path: "videonet/playlist",
    summary: "Index From Video-Platform Playlist",
    names: ["url", "playlist_id"],
    platforms: VIDEONET,
    most: IMPORTS.mostListed,
    toWanted: ({ url, playlist_id }) =>
      url === undefined
        ? { kind: "playlist", playlistId: playlist_id! }
        : { kind: "playlist", url },
  },
  {
    path: "videonet/search",
    summary: "Index From Video-Platform Search",
    names: ["query"],
    platforms: VIDEONET,
    most: IMPORTS.mostFound,
    toWanted: ({ query }) => ({ kind: "search", query: query! }),
  },
  {
    path: "photonet/profile",
    summary: "Index From Photo-Network Profile",
    names: ["username", "url"],
    platforms: PHOTONET,
    most: IMPORTS.mostListed,
    toWanted: ({ url, username }) =>
      url === undefined ? { kind: "profile", username: username! } : { kind: "profile", url },
  },
];

const startedImport = queuedJob.extend({ source_id: z.string() }).openapi("StartedImport");

for (const endpoint of IMPORT_ENDPOINTS) {
  const { path, summary, names, platforms, most } = endpoint;
  const given = Object.fromEntries(names.map((name) => [name, NAMES[name].optional()]));
  const platform = z.enum(platforms).optional();
  const fallback = Math.min(IMPORTS.defaultLimit, most);
  addEndpoint(
    importRoutes,
    {
      method: "post",
      path: `/index/{index_name}/${path}`,
      summary,
      scope: "write",
      params: indexParams,
      query: z.object({
        ...given,
        platform,
        metadata: jsonText(userMetadata).optional(),
        follow: queryBool(false),
        limit: queryInt(1, most, fallback),
      }),
      body: z.object({
        ...given,
        platform,
        metadata: userMetadata.optional(),
        follow: z.boolean().optional(),
        limit: bodyInt().min(1).max(most).optional(),
      }),
      bodyOptional: true,
      adds: "record",
      response: startedImport,
    },
    async (c, { params, query, body }) => {
      const named: JsonObject = { ...query, ...body };
      return start(c, params.index_name, endpoint, {
        named: Object.fromEntries(names.map((name) => [name, named[name]])),
        platform: body.platform ?? query.platform,
        metadata: body.metadata ?? query.metadata ?? {},
        follow: body.follow ?? query.follow,
        limit: body.limit ?? query.limit,
      });
    },
  );
}

interface Asked {
  named: Named;
  platform: string | undefined;
  metadata: JsonObject;
  follow: boolean;
  limit: number;
}

/** Puts the source on record, and a look at it into the queue; one that is under way is answered with. */
async function start(c: Context, indexName: string, endpoint: Import, asked: Asked) {
  const { accountId, indexId } = await requireOwnIndex(c, indexName);
  const wanted = wantedOf(endpoint, asked.named);
  const platform = platformOf(c.env, endpoint, wanted, asked.platform);
  await requireRoom(c.env.DB, accountId, { concurrent_ingests: 1, stored_bytes: 1 });
  const now = Date.now();
  const jobId = newId("job", now);
  const source = await putSource(c.env.DB, {
    sourceId: newId("src", now),
    accountId,
    indexId,
    platform,
    wanted,
    itemLimit: asked.limit,
    metadata: asked.metadata,
    follow: asked.follow ? 1 : 0,
    jobId,
    createdAt: now,
  });
  const { sourceId } = source;
  if (source.jobId === jobId) {
    const job: JobMessage = { kind: "import", jobId, accountId, indexId, sourceId };
    await startJob(c.env, job, now);
  }
  return { job_id: source.jobId, state: "queued" as const, source_id: sourceId };
}

function wantedOf({ names, toWanted }: Import, named: Named): Wanted {
  const given = names.filter((name) => named[name] !== undefined);
  if (given.length === 1) return toWanted(named);
  const loc = ["body", given[1] ?? names[0]!];
  if (given.length === 0) throw invalid(loc, "missing", `Give ${names.join(" or ")}`);
  throw invalid(loc, "value_error", `Give one of ${names.join(" and ")}, not both`);
}

function platformOf(env: Env, { names }: Import, wanted: Wanted, named?: string): string {
  try {
    return platformFor(env, wanted, named).name;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "unsupported_platform") throw error;
    const name = names.find((one) => one in wanted) ?? names[0]!;
    throw invalid(["body", named === undefined ? name : "platform"], "value_error", error.message);
  }
}
