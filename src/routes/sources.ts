import { z } from "@hono/zod-openapi";
import { requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";
import { deleteSource, listSources, type SourceSummary } from "../store/d1/sources.ts";
import type { Caller } from "../types.ts";
import { withoutCredentials } from "../url-credentials.ts";
import { countField, failureRecord, idField, orNull, time } from "./records/fields.ts";
import { indexParams, isoTime, isoTimeOrNull, jsonObject } from "./records/index-record.ts";
import { jobState } from "./records/job-record.ts";

/** Routes of an index's import sources: listings of platforms, followed or imported once. */
export const sourceRoutes = createRouter("Imports");

const sourceId = idField("source", "Id of the source.");

const sourceRecord = z
  .object({
    source_id: sourceId,
    platform: z.string().describe("Name of the platform.").openapi({ example: "peertube" }),
    kind: z
      .enum(["url", "playlist", "search", "profile"])
      .describe("What is imported.")
      .openapi({ example: "playlist" }),
    title: z
      .string()
      .nullable()
      .describe("Title of the playlist or profile; null until known.")
      .openapi({ example: "Open movies" }),
    url: z
      .string()
      .nullable()
      .describe("Its page on the platform; null until known.")
      .openapi({ example: "https://video.blender.org/c/blender_open_movies/videos" }),
    query: z
      .string()
      .nullable()
      .describe("What the platform is searched for; null for other kinds.")
      .openapi({ example: null }),
    request: z
      .object({
        url: z.string().optional().describe("URL of the video, playlist or profile."),
        query: z.string().optional().describe("What is searched for."),
        username: z.string().optional().describe("Name of the profile."),
        playlist_id: z.string().optional().describe("Id of the playlist."),
      })
      .describe(
        "The field that names the target. Send it to the endpoint of `kind`, with `platform` and " +
          "`follow`, to import again or to follow the source: it stays the same source.",
      )
      .openapi({
        example: { url: "https://video.blender.org/c/blender_open_movies/videos" },
      }),
    follow: z.boolean().describe("Whether traversals import what is new."),
    limit: countField("Maximum number of items to import.", 20),
    metadata: jsonObject,
    items: countField("Items that were imported.", 18),
    removed_upstream: countField("Imported items that the platform doesn't list any more.", 0),
    job_id: idField("job", "Id of the last job of the source."),
    state: jobState,
    error: orNull(failureRecord, "Why the last job failed; null otherwise.").openapi({
      example: null,
    }),
    last_synced_at: time("End of the last sync; null before it.").nullable(),
    created_at: time("Creation of the source."),
  })
  .openapi("Source", { description: "What was imported from a platform." });

addEndpoint(
  sourceRoutes,
  {
    method: "get",
    path: "/index/{index_name}/sources",
    operationId: "listSources",
    summary: "List the sources of imports",
    description: "Lists what was imported into an index from platforms, once or followed.",
    scope: "read",
    params: indexParams,
    query: pageQuery,
    response: pageOf("sources", sourceRecord),
  },
  listIndexSources,
);

async function listIndexSources(
  c: Context,
  { params, query }: Input<typeof indexParams, typeof pageQuery>,
) {
  const { indexId } = await requireCallerIndex(c, params.index_name);
  const page = await listSources(c.env.DB, indexId, pageRequest(query));
  const sources = page.items.map((source) => toSourceRecord(source, c.get("caller")));
  return { sources, total: page.total, next_cursor: nextCursor(page) };
}

const sourceParams = indexParams.extend({ source_id: sourceId });

addEndpoint(
  sourceRoutes,
  {
    method: "delete",
    path: "/index/{index_name}/sources/{source_id}",
    operationId: "deleteSource",
    summary: "Delete a source of imports",
    description: "Stops following a source. Assets that were imported from it stay.",
    scope: "write",
    params: sourceParams,
    response: z
      .object({ source_id: sourceId, deleted: z.literal(true).describe("Always true.") })
      .openapi("DeletedSource", { description: "The source that was deleted." }),
  },
  deleteIndexSource,
);

async function deleteIndexSource(c: Context, { params }: Input<typeof sourceParams>) {
  const { indexId } = await requireCallerIndex(c, params.index_name);
  await deleteSource(c.env.DB, indexId, params.source_id);
  return { source_id: params.source_id, deleted: true as const };
}

/** The stored `ImportRequest` of a source. */
const sourceRequest = z.object({
  kind: sourceRecord.shape.kind,
  url: z.string().optional(),
  query: z.string().optional(),
  username: z.string().optional(),
  playlistId: z.string().optional(),
});
const sourceListing = z.object({ title: z.string(), url: z.string().nullable() });

/**
 * Returns the record of a source. Callers that can't import again see its URLs without what opens
 * them.
 */
function toSourceRecord(source: SourceSummary, { scopes }: Caller): z.input<typeof sourceRecord> {
  const request = sourceRequest.parse(source.request);
  const listing = source.listing && sourceListing.parse(source.listing);
  const show = (text: string) => (scopes.includes("write") ? text : withoutCredentials(text));
  const title = listing?.title ?? request.username ?? request.playlistId;
  const url = listing?.url ?? request.url;
  return {
    source_id: source.sourceId,
    platform: source.platform,
    kind: request.kind,
    title: title === undefined ? null : show(title),
    url: url === undefined ? null : show(url),
    query: request.query ?? null,
    request: {
      url: request.url === undefined ? undefined : show(request.url),
      query: request.query,
      username: request.username,
      playlist_id: request.playlistId,
    },
    follow: source.follow === 1,
    limit: source.itemLimit,
    metadata: source.metadata,
    items: source.items,
    removed_upstream: source.removedUpstream,
    job_id: source.jobId,
    state: source.jobState,
    error: source.jobError,
    last_synced_at: isoTimeOrNull(source.syncedAt),
    created_at: isoTime(source.createdAt),
  };
}
