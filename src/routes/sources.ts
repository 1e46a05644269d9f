import { z } from "@hono/zod-openapi";
import { deleteSource, listSources, type SourceSummary } from "../store/sources.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { indexParams, isoTime, isoTimeOrNull, jsonObject } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { nextCursor, pageOf, pageQuery, pageRequest } from "./page.ts";

/** What was asked for on platforms, and is followed or was once brought in. */
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
    removed: z.int(),
    job_id: z.string(),
    state: z.enum(["queued", "running", "succeeded", "failed", "cancelled"]),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    last_looked_at: z.iso.datetime().nullable(),
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
  async (c, { params, query }) => {
    const { indexId } = await requireOwnIndex(c, params.index_name);
    const page = await listSources(c.env.DB, indexId, pageRequest(query));
    return {
      sources: page.items.map(toSourceRecord),
      total: page.total,
      next_cursor: nextCursor(page),
    };
  },
);

addEndpoint(
  sourceRoutes,
  {
    method: "delete",
    path: "/index/{index_name}/sources/{source_id}",
    summary: "Delete Source",
    scope: "write",
    params: indexParams.extend({ source_id: z.string() }),
    response: z.object({ source_id: z.string(), deleted: z.literal(true) }),
  },
  async (c, { params }) => {
    const { indexId } = await requireOwnIndex(c, params.index_name);
    await deleteSource(c.env.DB, indexId, params.source_id);
    return { source_id: params.source_id, deleted: true as const };
  },
);

/** What was asked for, as the endpoint that took it has it. */
const wish = z.object({
  kind: sourceRecord.shape.kind,
  url: z.string().optional(),
  query: z.string().optional(),
  username: z.string().optional(),
  playlistId: z.string().optional(),
});
const listed = z.object({ title: z.string(), url: z.string().nullable() });

function toSourceRecord(source: SourceSummary): z.input<typeof sourceRecord> {
  const wanted = wish.parse(source.wanted);
  const listing = source.listing && listed.parse(source.listing);
  return {
    source_id: source.sourceId,
    platform: source.platform,
    kind: wanted.kind,
    title: listing?.title ?? wanted.username ?? wanted.playlistId ?? null,
    url: listing?.url ?? wanted.url ?? null,
    query: wanted.query ?? null,
    follow: source.follow === 1,
    limit: source.itemLimit,
    metadata: source.metadata,
    items: source.items,
    removed: source.removed,
    job_id: source.jobId,
    state: source.jobState,
    error: source.jobError,
    last_looked_at: isoTimeOrNull(source.lookedAt),
    created_at: isoTime(source.createdAt),
  };
}
