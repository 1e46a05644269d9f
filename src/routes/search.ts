import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { newId } from "../ids.ts";
import { meter } from "../models/meter.ts";
import { MODES, type SearchRequest } from "../search/request.ts";
import { search } from "../search/search.ts";
import { listUnknownAssets } from "../store/assets.ts";
import { insertJob } from "../store/jobs.ts";
import { addUsage } from "../store/usage.ts";
import type { MediaIndexRow } from "../types.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { indexParams } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { queuedJob } from "./job-record.ts";
import { mediaUrls } from "./media-url.ts";
import { isObject, readFilter, searchFilter } from "./search-filter.ts";
import { placeOf, searchResult, toSearchResult } from "./search-result.ts";
import { bodyInt } from "./validation.ts";

export const searchRoutes = createRouter();

const searchBody = z
  .object({
    query: z.string().min(1).max(LIMITS.queryCharacters).optional(),
    similar_to: z.string().optional(),
    asset_ids: z.array(z.string()).max(LIMITS.assetIds).default([]),
    top_k: bodyInt().min(1).max(LIMITS.topK).default(SEARCH.defaultTopK),
    top_p: z.number().min(0).max(1).default(0),
    modes: z.array(z.enum(MODES)).default([]),
    use_boxes: z.boolean().default(false),
    use_masks: z.boolean().default(false),
    queue_job: z.boolean().default(false),
    filter: searchFilter.default({}),
    group_by: z.enum(["segment", "asset"]).default("segment"),
    cursor: z.string().optional(),
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
    const index = await requireOwnIndex(c, params.index_name);
    if (body.use_masks) throw notYet("use_masks", "Masks");
    await requireAssets(c.env.DB, index.indexId, body.asset_ids);
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
      groupBy: body.group_by,
      offset,
      readyBy,
    };
    if (body.queue_job) return queueSearch(c.env, index, request);
    const { ai, used } = meter(c.env.AI);
    const { hits, total } = await search({ ...c.env, AI: ai }, index.indexId, request);
    c.executionCtx.waitUntil(addUsage(c.env.DB, index.accountId, { searches: 1, ...used }));
    const page = { offset, readyBy, total, count: hits.length };
    return toSearchResult(hits, page, mediaUrls(c));
  },
);

/** The result will be the job's. */
async function queueSearch(
  env: Env,
  { accountId, indexId }: MediaIndexRow,
  request: SearchRequest,
) {
  const now = Date.now();
  const job = { jobId: newId("job", now), accountId, indexId, kind: "search" as const };
  await insertJob(env.DB, { ...job, now });
  await env.JOBS.send({ ...job, request });
  return { job_id: job.jobId, state: "queued" as const };
}

/** Throws `not_found`, naming the first id that is not in the index. */
export async function requireAssets(db: D1Database, indexId: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const [unknown] = await listUnknownAssets(db, indexId, ids);
  if (unknown !== undefined) {
    throw new AppError("not_found", `There is no asset "${unknown}" in this index.`);
  }
}

/** What the contract names and this version can't do is refused, not passed over. */
function notYet(field: string, what: string) {
  return invalid(["body", field], "value_error", `${what} are not supported yet: send false`);
}
