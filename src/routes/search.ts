import { countWork } from "../http/metering.ts";
import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError } from "../errors.ts";
import { fingerprint } from "../fingerprint.ts";
import { ID_CHARACTERS, type IndexId } from "../ids.ts";
import { MODES, type SearchRequest } from "../search/request.ts";
import { hasWord } from "../search/query.ts";
import { search } from "../search/search.ts";
import { listUnknownAssets } from "../store/assets.ts";
import { Timings } from "../timings.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { indexParams } from "./index-record.ts";
import { requireSearchableIndex, searchCallerIndex } from "./indices.ts";
import { queuedJob } from "./job-record.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { isObject } from "../http/json-object.ts";
import { INVALID_CURSOR } from "../http/pagination.ts";
import { readFilter, searchFilter } from "./search-filter.ts";
import { queueSearch } from "./queue-search.ts";
import { NO_WORD } from "./query-text.ts";
import { isCursorPosition, parseCursor, searchResult, toSearchResult } from "./search-result.ts";
import { bodyInt } from "../http/validation.ts";

export const searchRoutes = createRouter("Search");

const searchBody = z
  .object({
    query: z.string().min(1).max(LIMITS.queryCharacters).optional(),
    similar_to: z.string().max(ID_CHARACTERS).optional(),
    asset_ids: z.array(z.string()).max(LIMITS.assetIdCount).default([]),
    top_k: bodyInt().min(1).max(LIMITS.topK).default(SEARCH.defaultTopK),
    top_p: z.number().min(0).max(1).default(0),
    modes: z.array(z.enum(MODES)).max(MODES.length).default([]),
    use_boxes: z.boolean().default(false),
    use_masks: z.boolean().default(false),
    collapse: z.boolean().default(true),
    queue_job: z.boolean().default(false),
    filter: searchFilter.default({}),
    group_by: z.enum(["segment", "asset"]).default("segment"),
    cursor: z.string().refine(isCursorPosition, INVALID_CURSOR).optional(),
  })
  .refine(({ query, similar_to }) => query !== undefined || similar_to !== undefined, {
    path: ["query"],
    message: "Field required",
    params: { type: "missing" },
    when: ({ value }) => isObject(value), // reported together with other issues
  })
  .refine(({ query, similar_to }) => !query || similar_to !== undefined || hasWord(query), {
    path: ["query"],
    message: NO_WORD,
    when: ({ value }) => isObject(value),
  });

addEndpoint(
  searchRoutes,
  {
    method: "post",
    path: "/index/{index_name}/search",
    summary: "Search Videos",
    scope: "read",
    params: indexParams,
    body: searchBody,
    response: z.union([searchResult, queuedJob]),
  },
  searchIndex,
);

async function searchIndex(
  c: Context,
  { params, body }: Input<typeof indexParams, z.ZodObject, typeof searchBody>,
) {
  const request = toSearchRequest(params.index_name, body);
  if (body.queue_job) {
    const index = await requireSearchableIndex(c, params.index_name);
    await requireAssets(c.env.DB, index.indexId, body.asset_ids);
    return queueSearch(c.env, index, request, null);
  }
  return searchNow(c, params.index_name, request);
}

async function searchNow(c: Context, indexName: string, request: SearchRequest) {
  const timings = new Timings();
  const { hits, total } = await searchCallerIndex(c, indexName, async (index) => {
    const found = search(c.env, index, request, null, timings);
    found.catch(() => {}); // an unknown asset is reported first
    await requireAssets(c.env.DB, index.indexId, request.assetIds);
    return found;
  });
  countWork(c, "searches");
  c.header("Server-Timing", timings.toHeader());
  const { offset, readyBy, cursorTag } = request;
  const page = { offset, readyBy, cursorTag, total, count: hits.length };
  return toSearchResult(hits, page, createMediaUrlSigner(c));
}

function toSearchRequest(indexName: string, body: z.output<typeof searchBody>): SearchRequest {
  const { cursor, top_k, queue_job: _, ...repeated } = body;
  const cursorTag = fingerprint([indexName, repeated]);
  return {
    query: body.query ?? "",
    similarTo: body.similar_to ?? null,
    assetIds: body.asset_ids,
    conditions: readFilter(body.filter),
    topK: top_k,
    topP: body.top_p,
    modes: body.modes,
    useBoxes: body.use_boxes,
    useMasks: body.use_masks,
    collapse: body.collapse,
    groupBy: body.group_by,
    ...parseCursor(cursor, cursorTag),
  };
}

/** Throws `not_found` with the first id that is not in the index. */
export async function requireAssets(
  db: D1Database,
  indexId: IndexId,
  ids: string[],
): Promise<void> {
  if (ids.length === 0) return;
  const [unknown] = await listUnknownAssets(db, indexId, ids);
  if (unknown !== undefined) {
    throw new AppError("not_found", `There is no asset "${unknown}" in this index.`);
  }
}
