import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { meter } from "../models/meter.ts";
import { likenessOf } from "../search/likeness.ts";
import { MODES } from "../search/request.ts";
import { search } from "../search/search.ts";
import { listUnknownAssets } from "../store/assets.ts";
import { addUsage } from "../store/usage.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { indexParams } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { mediaUrls } from "./media-url.ts";
import { hitRecord, toHitRecord } from "./segment-record.ts";
import { readFilter, searchFilter } from "./search-filter.ts";
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
    when: ({ value }) => typeof value === "object" && value !== null, // with other broken rules too
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
    response: z
      .object({
        segments: z.array(hitRecord),
        total: z.int(),
        next_cursor: z.string().nullable(),
      })
      .openapi("SearchResult"),
  },
  async (c, { params, body }) => {
    const index = await requireOwnIndex(c, params.index_name);
    if (body.use_masks) throw notYet("use_masks", "Masks");
    if (body.queue_job) throw notYet("queue_job", "Queued searches");
    await requireAssets(c.env.DB, index.indexId, body.asset_ids);
    const { offset, readyBy } = placeOf(body.cursor);
    const { ai, used } = meter(c.env.AI);
    const like = body.similar_to ? await likenessOf(c.env, index.indexId, body.similar_to) : null;
    const request = {
      query: body.query ?? "",
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
    const { hits, total } = await search({ ...c.env, AI: ai }, index, request, like);
    c.executionCtx.waitUntil(addUsage(c.env.DB, index.accountId, { searches: 1, ...used }));
    const urlOf = mediaUrls(c);
    const end = offset + hits.length;
    return {
      segments: await Promise.all(hits.map((hit) => toHitRecord(hit, urlOf))),
      total,
      next_cursor: end < total ? toCursor(end, readyBy) : null,
    };
  },
);

/** Throws `not_found`, naming the first id that is not in the index. */
export async function requireAssets(db: D1Database, indexId: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  const [unknown] = await listUnknownAssets(db, indexId, ids);
  if (unknown !== undefined) {
    throw new AppError("not_found", `There is no asset "${unknown}" in this index.`);
  }
}

/** Where a page begins, and when its search did. */
function placeOf(cursor: string | undefined): { offset: number; readyBy: number } {
  if (cursor === undefined) return { offset: 0, readyBy: Date.now() };
  const text = Buffer.from(cursor, "base64url").toString();
  const [, offset, readyBy] = /^at:(\d{1,4}):(\d{13})$/.exec(text) ?? [];
  if (offset === undefined) {
    throw invalid(["body", "cursor"], "value_error", "The cursor is not one of ours");
  }
  return { offset: Number(offset), readyBy: Number(readyBy) };
}

function toCursor(offset: number, readyBy: number): string {
  return Buffer.from(`at:${offset}:${readyBy}`).toString("base64url");
}

/** What the contract names and this version can't do is refused, not passed over. */
function notYet(field: string, what: string) {
  return invalid(["body", field], "value_error", `${what} are not supported yet: send false`);
}
