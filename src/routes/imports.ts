import { lineOfText } from "../clean-text.ts";
import { IMPORTS } from "../config.ts";
import { AppError, invalid, type ValidationIssue } from "../errors.ts";
import { requirePublicUrl } from "../fetching/public-url.ts";
import { mapRecord, toCamelFields, toSnakeCase } from "../field-names.ts";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import {
  addEndpoint,
  createRouter,
  type EndpointDescription,
  type Route,
  type SentInput,
} from "../http/endpoint.ts";
import {
  countField,
  deletedRecord,
  failureRecord,
  flag,
  idField,
  isoTimeOrNull,
  jsonObject,
  oneOf,
  orNull,
  text,
  time,
  userMetadata,
} from "../http/fields.ts";
import { pageOf, pageQuery, pageRecord, pageRequest } from "../http/pagination.ts";
import { jsonText, strictInt } from "../http/validation.ts";
import * as z from "../http/zod.ts";
import { newId } from "../ids.ts";
import type { ImportRequest, Listing } from "../platforms/platform.ts";
import { PHOTONET, platformFor, VIDEONET } from "../platforms/registry.ts";
import { startJob } from "../store/d1/jobs.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import {
  putSource,
  deleteSource,
  listSources,
  type NewSource,
  type SourceSummary,
} from "../store/d1/sources.ts";
import type { Caller } from "../types.ts";
import { withoutCredentials } from "../url-credentials.ts";
import { queuedJob, jobState } from "./records/job-record.ts";

export const importRoutes = createRouter("Imports");

const startedImport = queuedJob
  .extend({ source_id: idField("source", "Id of the source: what was imported, and from where.") })
  .openapi("StartedImport", { description: "The job that imports, and its source." });

const target = (description: string, maxLength = 500) =>
  lineOfText(maxLength).min(1).optional().describe(description);
const urlOf = (what: string) => target(`URL of the ${what} on the platform.`, 2000);

/** A field that names what to import, its value, and the part of the request it is in. */
interface ImportTarget {
  part: "body" | "query";
  field: string;
  value: string;
}

/** What an endpoint imports: the fields that name it, which are those of an `ImportRequest`. */
interface ImportEndpoint extends Pick<
  EndpointDescription,
  "operationId" | "summary" | "description"
> {
  route: Route;
  kind: ImportRequest["kind"];
  examples: NonNullable<EndpointDescription["examples"]>;
  platforms: readonly string[];
  fields: Record<string, ReturnType<typeof target>>;
  maxItems: number;
}

addImportEndpoint({
  route: "POST /index/{index_name}/videonet/url",
  kind: "url",
  operationId: "importVideo",
  summary: "Import a video from a platform",
  description:
    "Starts a job that adds one video by its page on a video platform, with its captions, " +
    "author, licence and date. The body's fields may be in the query instead.",
  examples: {
    "A video of PeerTube": { url: "https://video.blender.org/w/nRi1tUGRZTx2BuVNCvLzSY" },
  },
  platforms: VIDEONET,
  fields: { url: urlOf("video") },
  maxItems: 1,
});

addImportEndpoint({
  route: "POST /index/{index_name}/videonet/playlist",
  kind: "playlist",
  operationId: "importPlaylist",
  summary: "Import a playlist from a platform",
  description:
    "Starts a job that adds the videos of a playlist or channel. The job's result lists each " +
    "item with its asset or error; a broken item doesn't stop the others, and nothing is " +
    "imported twice. With `follow`, traversals add new items later.",
  examples: {
    "A channel that is followed": {
      url: "https://video.blender.org/c/blender_open_movies/videos",
      follow: true,
      limit: 20,
    },
  },
  platforms: VIDEONET,
  fields: {
    url: urlOf("playlist or channel"),
    playlist_id: target("Id of the playlist, instead of its URL."),
  },
  maxItems: IMPORTS.maxListedItems,
});

addImportEndpoint({
  route: "POST /index/{index_name}/videonet/search",
  kind: "search",
  operationId: "importVideoSearch",
  summary: "Import what a platform's search finds",
  description:
    "Starts a job that searches a video platform and adds what it finds. The job's result lists " +
    "each item with its asset or error.",
  examples: { "Ten videos about a topic": { query: "sea otters", limit: 10 } },
  platforms: VIDEONET,
  fields: { query: target("What to search the platform for.") },
  maxItems: IMPORTS.maxFoundItems,
});

addImportEndpoint({
  route: "POST /index/{index_name}/photonet/profile",
  kind: "profile",
  operationId: "importProfile",
  summary: "Import a profile of a photo network",
  description:
    "Starts a job that adds the images and videos of a profile, with their alternative texts, " +
    "author, licence and date. The job's result lists each item with its asset or error.",
  examples: { "Photos of a profile": { username: "nasa", limit: 50 } },
  platforms: PHOTONET,
  fields: { username: target("Name of the profile."), url: urlOf("profile") },
  maxItems: IMPORTS.maxListedItems,
});

/** Adds an endpoint that imports. Options in the body override those in the query. */
function addImportEndpoint({
  route,
  kind,
  platforms,
  fields,
  maxItems,
  ...texts
}: ImportEndpoint): void {
  const names = Object.keys(fields);
  const listTargets = ({ query, body }: SentInput): ImportTarget[] =>
    names.flatMap((field) => {
      const part = (body[field] ?? null) === null ? "query" : "body";
      const value = part === "body" ? body[field] : query[field];
      return typeof value === "string" && value !== "" ? [{ part, field, value }] : [];
    });
  const toRequest = ({ field, value }: ImportTarget) =>
    ({ kind, ...toCamelFields({ [field]: value }) }) as ImportRequest;

  /** Requires exactly one target, a URL that may be fetched, and a platform that knows it. */
  const targetIssues = (c: Context, sent: SentInput): ValidationIssue[] => {
    const [named, second] = listTargets(sent);
    if (!named) return invalid(["body", names[0]!], "missing", `Give ${names.join(" or ")}`).issues;
    if (second) {
      const message = `Give one of ${names.join(" and ")}, not both`;
      return invalid([second.part, second.field], "value_error", message).issues;
    }
    const platform = sent.body["platform"] ?? sent.query["platform"];
    try {
      if (named.field === "url") requirePublicUrl(named.value, c.env.FETCH_ALLOW);
      const name = platforms.find((each) => each === platform);
      const isKnown = platform === undefined || name !== undefined; // else the schema has an issue
      if (isKnown) platformFor(c.env, toRequest(named), name);
      return [];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "platform_not_configured") return []; // the handler throws it
      return invalid([named.part, named.field], "value_error", error.message).issues;
    }
  };

  const defaultLimit = Math.min(IMPORTS.defaultLimit, maxItems);
  const body = z.object({
    ...fields,
    platform: oneOf(
      platforms,
      "Default: the platform that knows the URL, or the first that is configured.",
    ).optional(),
    metadata: userMetadata.optional().describe("Metadata of each imported asset."),
    follow: flag("Whether later traversals import what is new.").optional(),
    limit: strictInt()
      .min(1)
      .max(maxItems)
      .optional()
      .describe(`Maximum number of items to import. Default: ${defaultLimit}.`),
  });
  addEndpoint(importRoutes, route, {
    ...texts,
    errors: {
      platform_not_configured: "This deployment has no credentials for the platform.",
    },
    query: body.extend({
      metadata: jsonText(userMetadata).describe("Metadata of each imported asset, as JSON."),
    }),
    body,
    bodyOptional: true,
    rules: targetIssues,
    creates: "record",
    response: startedImport,
    async handle(c, sent) {
      const request = toRequest(listTargets(sent)[0]!);
      const options = { ...sent.query, ...sent.body };
      const { metadata = {}, follow = false, limit = defaultLimit } = options;
      const platform = platformFor(c.env, request, options.platform).name;
      return startImport(c, { platform, request, metadata, follow, itemLimit: limit });
    },
  });
}

/**
 * Stores the source and starts a job that imports its items. If the source has an unfinished job,
 * the response names that job instead.
 */
async function startImport(
  c: Context,
  target: Pick<NewSource, "platform" | "metadata" | "itemLimit"> & {
    request: ImportRequest;
    follow: boolean;
  },
) {
  const { accountId, indexId } = await requireCallerIndex(c);
  await requireQuota(c.env.DB, accountId, { concurrent_ingests: 1, stored_bytes: 1 });
  const now = Date.now();
  const [jobId, sourceId] = [newId("job", now), newId("src", now)];
  const ids = { sourceId, accountId, indexId, jobId };
  const source = await putSource(c.env.DB, { ...target, ...ids, createdAt: now });
  if (source.jobId === jobId) {
    const job = { ...ids, kind: "import", sourceId: source.sourceId, trigger: "request" } as const;
    await startJob(c.env, job, now, "none");
  }
  return { job_id: source.jobId, state: "queued" as const, source_id: source.sourceId };
}

const sourceId = idField("source", "Id of the source.");

const sourceRecord = z
  .object({
    source_id: sourceId,
    platform: text("Name of the platform.", "peertube"),
    kind: oneOf(["url", "playlist", "search", "profile"], "What is imported.", "playlist"),
    title: text("Title of the playlist or profile; null until known.", "Open movies").nullable(),
    url: text(
      "Its page on the platform; null until known.",
      "https://video.blender.org/c/blender_open_movies/videos",
    ).nullable(),
    query: text("What the platform is searched for; null for other kinds.", null).nullable(),
    request: z
      .object({
        url: text("URL of the video, playlist or profile.").optional(),
        query: text("What is searched for.").optional(),
        username: text("Name of the profile.").optional(),
        playlist_id: text("Id of the playlist.").optional(),
      })
      .describe(
        "The field that names the target. Send it to the endpoint of `kind`, with `platform` and " +
          "`follow`, to import again or to follow the source: it stays the same source.",
      )
      .openapi({
        example: { url: "https://video.blender.org/c/blender_open_movies/videos" },
      }),
    follow: flag("Whether traversals import what is new."),
    limit: countField("Maximum number of items to import.", 20),
    metadata: jsonObject,
    items: countField("Items that were imported.", 18),
    job_id: idField("job", "Id of the last job of the source."),
    state: jobState,
    error: orNull(failureRecord, "Why the last job failed; null otherwise.").openapi({
      example: null,
    }),
    last_synced_at: time("End of the last sync; null before it.").nullable(),
    created_at: time("Creation of the source."),
  })
  .openapi("Source", { description: "What was imported from a platform." });

addEndpoint(importRoutes, "GET /index/{index_name}/sources", {
  operationId: "listSources",
  summary: "List the sources of imports",
  description: "Lists what was imported into an index from platforms, once or followed.",
  query: pageQuery,
  response: pageOf("sources", sourceRecord),
  async handle(c, { query }) {
    const { indexId } = await requireCallerIndex(c);
    const page = await listSources<ImportRequest, Listing>(c.env.DB, indexId, pageRequest(query));
    return pageRecord("sources", page, (source) => toSourceRecord(source, c.get("caller")));
  },
});

addEndpoint(importRoutes, "DELETE /index/{index_name}/sources/{source_id}", {
  operationId: "deleteSource",
  summary: "Delete a source of imports",
  description: "Stops following a source. Assets that were imported from it stay.",
  response: deletedRecord("source"),
  async handle(c, { params }) {
    const { indexId } = await requireCallerIndex(c);
    await deleteSource(c.env.DB, indexId, params.source_id);
    return { source_id: params.source_id, deleted: true };
  },
});

/**
 * Returns the record of a source. Callers that can't import again see its URLs without what opens
 * them.
 */
function toSourceRecord(source: SourceSummary<ImportRequest, Listing>, { scopes }: Caller) {
  const { kind, ...target } = source.request;
  const show = (text: string) => (scopes.includes("write") ? text : withoutCredentials(text));
  const request: z.input<typeof sourceRecord>["request"] = Object.fromEntries(
    Object.entries(target).map(([name, text]) => [toSnakeCase(name), show(text)]),
  );
  const title = source.listing?.title ?? request.username ?? request.playlist_id;
  const url = source.listing?.url ?? request.url;
  return mapRecord(sourceRecord, source, {
    kind,
    title: title === undefined ? null : show(title),
    url: url === undefined ? null : show(url),
    query: request.query ?? null,
    request,
    follow: source.follow === 1,
    limit: source.itemLimit,
    state: source.jobState,
    error: source.jobError,
    last_synced_at: isoTimeOrNull(source.syncedAt),
  });
}
