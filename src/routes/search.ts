import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError } from "../errors.ts";
import { ID_CHARACTERS, type IndexId } from "../ids.ts";
import { MODES } from "../search/request.ts";
import { search } from "../search/search.ts";
import { listUnknownAssets } from "../store/assets.ts";
import { Timings } from "../timings.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { indexParams } from "./index-record.ts";
import { requireSearchableIndex, searchOwnIndex } from "./indices.ts";
import { queuedJob } from "./job-record.ts";
import { mediaUrls } from "./media-url.ts";
import { meteredSearch } from "./metered-search.ts";
import { isObject } from "./json-object.ts";
import { NOT_OURS } from "./page.ts";
import { readFilter, searchFilter } from "./search-filter.ts";
import { queueSearch } from "./queue-search.ts";
import { isPlace, placeOf, searchResult, toSearchResult } from "./search-result.ts";
import { bodyInt } from "./validation.ts";

export const searchRoutes = createRouter("Search");

const searchBody = z
  .object({
    query: z.string().min(1).max(LIMITS.queryCharacters).optional(),
    similar_to: z.string().max(ID_CHARACTERS).optional(),
    asset_ids: z.array(z.string()).max(LIMITS.assetIds).default([]),
    top_k: bodyInt().min(1).max(LIMITS.topK).default(SEARCH.defaultTopK),
    top_p: z.number().min(0).max(1).default(0),
    modes: z.array(z.enum(MODES)).max(MODES.length).default([]),
    use_boxes: z.boolean().default(false),
    use_masks: z.boolean().default(false),
    collapse: z.boolean().default(true),
    queue_job: z.boolean().default(false),
    filter: searchFilter.default({}),
    group_by: z.enum(["segment", "asset"]).default("segment"),
    cursor: z.string().refine(isPlace, NOT_OURS).optional(),
  })
  .refine(({ query, similar_to }) => query !== undefined || similar_to !== undefined, {
    path: ["query"],
    message: "Field required",
    params: { type: "missing" },
    when: ({ value }) => isObject(value), // with other broken rules too
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
  async (c, { params, body }) => {
    const { offset, readyBy } = placeOf(body.cursor);
    const request = {
      query: body.query ?? "",
      similarTo: body.similar_to ?? null,
      assetIds: body.asset_ids,
      conditions: readFilter(body.filter),
      topK: body.top_k,
      topP: body.top_p,
      modes: body.modes,
      useBoxes: body.use_boxes,
      useMasks: body.use_masks,
      collapse: body.collapse,
      groupBy: body.group_by,
      offset,
      readyBy,
    };
    if (body.queue_job) {
      const index = await requireSearchableIndex(c, params.index_name);
      await requireAssets(c.env.DB, index.indexId, body.asset_ids);
      return queueSearch(c.env, index, request);
    }
    const timings = new Timings();
    const { hits, total } = await meteredSearch(c, (env) =>
      searchOwnIndex(c, params.index_name, async (indexId) => {
        await requireAssets(env.DB, indexId, body.asset_ids);
        return search(env, indexId, request, null, timings);
      }),
    );
    c.header("Server-Timing", timings.toHeader());
    const page = { offset, readyBy, total, count: hits.length };
    return toSearchResult(hits, page, mediaUrls(c));
  },
);

/** Throws `not_found`, naming the first id that is not in the index. */
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
