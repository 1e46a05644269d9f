import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError, invalid, type ValidationIssue, ValidationError } from "../errors.ts";
import { newId } from "../ids.ts";
import { HEAD_BYTES, requireKind } from "../media/kind.ts";
import { meter } from "../models/meter.ts";
import { likenessOfClip, type Region } from "../search/clip.ts";
import { searchFor } from "../search/request.ts";
import { search } from "../search/search.ts";
import { clipKey } from "../store/media.ts";
import { storeStream } from "../store/streams.ts";
import { addUsage } from "../store/usage.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { missingFile, readForm } from "./form.ts";
import { indexParams } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { mediaUrls } from "./media-url.ts";
import { queryInt } from "./query-types.ts";
import { searchResult, toSearchResult } from "./search-result.ts";
import { check } from "./validation.ts";

export const searchVideoRoutes = createRouter();

const seconds = (least: number) =>
  z
    .string()
    .transform((text, ctx) => {
      if (/^-?\d+(\.\d+)?$/.test(text.trim())) return Number(text);
      ctx.addIssue({
        code: "custom",
        params: { type: "float_parsing" },
        message: "Input should be a valid number",
      });
      return z.NEVER;
    })
    .pipe(z.number().min(least))
    .optional();
const region = z.object({ start_seconds: seconds(0), end_seconds: seconds(-1) });

addEndpoint(
  searchVideoRoutes,
  {
    method: "post",
    path: "/index/{index_name}/search_video",
    summary: "Search By Video",
    scope: "read",
    params: indexParams,
    query: z.object({ top_k: queryInt(1, LIMITS.topK, SEARCH.defaultTopK) }),
    form: z.object({
      video_file: z.any().openapi({ type: "string", format: "binary" }),
      start_seconds: z.number().min(0).default(0),
      end_seconds: z.number().min(-1).default(-1),
    }),
    response: searchResult,
  },
  async (c, { params, query }) => {
    const index = await requireOwnIndex(c, params.index_name);
    const key = clipKey(index.indexId, newId("upl"));
    const { ai, used } = meter(c.env.AI);
    const env = { ...c.env, AI: ai };
    const request = searchFor({ topK: query.top_k });
    try {
      const part = await readClip(c.env.MEDIA, key, c.req.raw);
      const like = await likenessOfClip(env, index.indexId, key, part).catch(toRefusal);
      const { hits, total } = await search(env, index.indexId, request, like);
      c.executionCtx.waitUntil(addUsage(c.env.DB, index.accountId, { searches: 1, ...used }));
      const page = { offset: 0, readyBy: request.readyBy, total, count: total };
      return await toSearchResult(hits, page, mediaUrls(c));
    } finally {
      c.executionCtx.waitUntil(c.env.MEDIA.delete(key));
    }
  },
);

/** Streams the clip into storage; resolves to the region that is asked about. */
async function readClip(bucket: R2Bucket, key: string, request: Request): Promise<Region> {
  let isThere = false;
  const fields = await readForm(request, async (part) => {
    if (part.field !== "video_file") return;
    isThere = true;
    await storeStream(bucket, key, part.chunks, {
      maxBytes: LIMITS.uploadBytes,
      headBytes: HEAD_BYTES,
      inspect: (head) => requireKind(head, "video"),
    });
  });
  const issues: ValidationIssue[] = [];
  const times = check("body", region, Object.fromEntries(fields), issues);
  if (!isThere) issues.push(...missingFile("video_file", fields).issues);
  if (!times || issues.length > 0) throw new ValidationError(issues);
  const { start_seconds: start = 0, end_seconds: end = -1 } = times;
  if (end !== -1 && end <= start) throw outside("The region is empty: it ends where it starts.");
  return { start, end };
}

const FILE_TROUBLES = new Set<string>([
  "unreadable_container",
  "no_video_track",
  "unsupported_codec",
  "unreadable_frame",
]);

/** What is wrong with the file or the region is wrong with the request. */
function toRefusal(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  if (error.code === "bad_request") throw outside(error.message);
  if (!FILE_TROUBLES.has(error.code)) throw error;
  throw invalid(["body", "video_file"], "value_error", error.message);
}

function outside(message: string): ValidationError {
  return invalid(["body", "end_seconds"], "value_error", message);
}
