import { z } from "@hono/zod-openapi";
import { deleteSource, listSources, type SourceSummary } from "../store/sources.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { indexParams, isoTime, isoTimeOrNull, jsonObject } from "./index-record.ts";
import { requireCallerIndex } from "./indices.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "../http/pagination.ts";

/** Routes of an index's import sources: listings of platforms, followed or imported once. */
export const sourceRoutes = createRouter("Imports");

const sourceRecord = z
  .object({
    source_id: z.string(),
    platform: z.string(),
    kind: z.enum(["url", "playlist", "search", "profile"]),
    title: z.string().nullable(),
    url: z.string().nullable(),
    query: z.string().nullable(),
    follow: z.boolean(),
    limit: z.int(),
    metadata: jsonObject,
    items: z.int(),
    removed_upstream: z.int(),
    job_id: z.string(),
    state: z.enum(["queued", "running", "succeeded", "failed", "cancelled"]),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    last_synced_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
  })
  .openapi("Source");

addEndpoint(
  sourceRoutes,
  {
    method: "get",
    path: "/index/{index_name}/sources",
    summary: "List Sources",
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
  const sources = page.items.map(toSourceRecord);
  return { sources, total: page.total, next_cursor: nextCursor(page) };
}

const sourceParams = indexParams.extend({ source_id: z.string() });

addEndpoint(
  sourceRoutes,
  {
    method: "delete",
    path: "/index/{index_name}/sources/{source_id}",
    summary: "Delete Source",
    scope: "write",
    params: sourceParams,
    response: z.object({ source_id: z.string(), deleted: z.literal(true) }),
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

function toSourceRecord(source: SourceSummary): z.input<typeof sourceRecord> {
  const request = sourceRequest.parse(source.request);
  const listing = source.listing && sourceListing.parse(source.listing);
  return {
    source_id: source.sourceId,
    platform: source.platform,
    kind: request.kind,
    title: listing?.title ?? request.username ?? request.playlistId ?? null,
    url: listing?.url ?? request.url ?? null,
    query: request.query ?? null,
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
