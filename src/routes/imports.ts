import { z } from "@hono/zod-openapi";
import { IMPORTS } from "../config.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { newId } from "../ids.ts";
import { PHOTONET, platformFor, VIDEONET } from "../platforms/registry.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import { putSource } from "../store/d1/sources.ts";
import { startJob } from "../store/job-queue.ts";
import {
  bodyOptions,
  type ImportInput,
  listTargets,
  PLAYLIST,
  PROFILE,
  queryOptions,
  TARGET_FIELDS,
  targetRules,
  type TargetReader,
  VIDEO,
  VIDEO_SEARCH,
} from "./import-input.ts";
import { idField } from "./records/fields.ts";
import { indexParams } from "./records/index-record.ts";
import { queuedJob } from "./records/job-record.ts";

export const importRoutes = createRouter("Imports");

const startedImport = queuedJob
  .extend({ source_id: idField("source", "Id of the source: what was imported, and from where.") })
  .openapi("StartedImport", { description: "The job that imports, and its source." });

const IMPORT_ERRORS = {
  platform_not_configured: "This deployment has no credentials for the platform.",
  account_full: "The account's storage or its bytes of records are used up.",
} as const;

addEndpoint(
  importRoutes,
  {
    method: "post",
    path: "/index/{index_name}/videonet/url",
    operationId: "importVideo",
    summary: "Import a video from a platform",
    description:
      "Starts a job that adds one video by its page on a video platform, with its captions, " +
      "author, licence and date. The body's fields may be in the query instead.",
    errors: IMPORT_ERRORS,
    examples: {
      video: {
        summary: "A video of PeerTube",
        value: { url: "https://video.blender.org/w/nRi1tUGRZTx2BuVNCvLzSY" },
      },
    },
    scope: "write",
    params: indexParams,
    query: z.object({ ...TARGET_FIELDS.video, ...queryOptions(VIDEONET, 1) }),
    body: z.object({ ...TARGET_FIELDS.video, ...bodyOptions(VIDEONET, 1) }),
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
    operationId: "importPlaylist",
    summary: "Import a playlist from a platform",
    description:
      "Starts a job that adds the videos of a playlist or channel. The job's result lists each " +
      "item with its asset or error; a broken item doesn't stop the others, and nothing is " +
      "imported twice. With `follow`, traversals add new items later.",
    errors: IMPORT_ERRORS,
    examples: {
      playlist: {
        summary: "A channel that is followed",
        value: {
          url: "https://video.blender.org/c/blender_open_movies/videos",
          follow: true,
          limit: 20,
        },
      },
    },
    scope: "write",
    params: indexParams,
    query: z.object({
      ...TARGET_FIELDS.playlist,
      ...queryOptions(VIDEONET, IMPORTS.maxListedItems),
    }),
    body: z.object({ ...TARGET_FIELDS.playlist, ...bodyOptions(VIDEONET, IMPORTS.maxListedItems) }),
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
    operationId: "importVideoSearch",
    summary: "Import what a platform's search finds",
    description:
      "Starts a job that searches a video platform and adds what it finds. The job's result lists " +
      "each item with its asset or error.",
    errors: IMPORT_ERRORS,
    examples: {
      search: { summary: "Ten videos about a topic", value: { query: "sea otters", limit: 10 } },
    },
    scope: "write",
    params: indexParams,
    query: z.object({ ...TARGET_FIELDS.search, ...queryOptions(VIDEONET, IMPORTS.maxFoundItems) }),
    body: z.object({ ...TARGET_FIELDS.search, ...bodyOptions(VIDEONET, IMPORTS.maxFoundItems) }),
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
    operationId: "importProfile",
    summary: "Import a profile of a photo network",
    description:
      "Starts a job that adds the images and videos of a profile, with their alternative texts, " +
      "author, licence and date. The job's result lists each item with its asset or error.",
    errors: IMPORT_ERRORS,
    examples: {
      profile: { summary: "Photos of a profile", value: { username: "nasa", limit: 50 } },
    },
    scope: "write",
    params: indexParams,
    query: z.object({
      ...TARGET_FIELDS.profile,
      ...queryOptions(PHOTONET, IMPORTS.maxListedItems),
    }),
    body: z.object({ ...TARGET_FIELDS.profile, ...bodyOptions(PHOTONET, IMPORTS.maxListedItems) }),
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
  const [named] = listTargets({ query, body }, fields);
  const request = toRequest(named!);
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
    await startJob(c.env, { ...job, trigger: "request" }, now, "none");
  }
  return { job_id: source.jobId, state: "queued" as const, source_id: sourceId };
}
