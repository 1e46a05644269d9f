import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError, invalid, type ValidationIssue, ValidationError } from "../errors.ts";
import { newId } from "../ids.ts";
import { HEAD_BYTES, requireKind } from "../media/kind.ts";
import { meter } from "../models/meter.ts";
import type { Region } from "../search/align.ts";
import { likenessOfClip, regionOf } from "../search/clip.ts";
import { searchFor } from "../search/request.ts";
import { search } from "../search/search.ts";
import { requireRoom } from "../store/limits.ts";
import { clipKey } from "../store/media.ts";
import { storeStream } from "../store/streams.ts";
import { addUsage } from "../store/usage.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { missingFile, readForm } from "./form.ts";
import { indexParams } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { queuedJob } from "./job-record.ts";
import { mediaUrls } from "./media-url.ts";
import { queryBool, queryInt } from "./query-types.ts";
import { queueSearch } from "./queue-search.ts";
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
const fields = z.object({
  start_seconds: seconds(0),
  end_seconds: seconds(-1),
  queue_job: queryBool(false),
});

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
      queue_job: z.boolean().default(false),
    }),
    response: z.union([searchResult, queuedJob]),
  },
  async (c, { params, query }) => {
    const index = await requireOwnIndex(c, params.index_name);
    await requireRoom(c.env.DB, index.accountId, { searches_per_day: 1 });
    const key = clipKey(index.indexId, newId("upl"));
    const request = searchFor({ topK: query.top_k });
    let isKept = false;
    try {
      const { region, queueJob } = await readClip(c.env.MEDIA, key, c.req.raw);
      if (queueJob) {
        const clip = { key, region: await regionOf(c.env.MEDIA, key, region).catch(toRefusal) };
        const job = await queueSearch(c.env, index, request, clip);
        isKept = true;
        return job;
      }
      const { ai, used } = meter(c.env.AI);
      const env = { ...c.env, AI: ai };
      const like = await likenessOfClip(env, index.indexId, key, region).catch(toRefusal);
      const { hits, total } = await search(env, index.indexId, request, like);
      c.executionCtx.waitUntil(addUsage(c.env.DB, index.accountId, { searches: 1, ...used }));
      const page = { offset: 0, readyBy: request.readyBy, total, count: total };
      return await toSearchResult(hits, page, mediaUrls(c));
    } finally {
      if (!isKept) c.executionCtx.waitUntil(c.env.MEDIA.delete(key));
    }
  },
);

interface Asked {
  region: Region;
  queueJob: boolean;
}

/** Streams the clip into storage; resolves to what is asked about it. */
async function readClip(bucket: R2Bucket, key: string, request: Request): Promise<Asked> {
  let isThere = false;
  const texts = await readForm(request, async (part) => {
    if (part.field !== "video_file") return;
    isThere = true;
    await storeStream(bucket, key, part.chunks, {
      maxBytes: LIMITS.uploadBytes,
      headBytes: HEAD_BYTES,
      inspect: (head) => requireKind(head, "video"),
    });
  });
  const issues: ValidationIssue[] = [];
  const asked = check("body", fields, Object.fromEntries(texts), issues);
  if (!isThere) issues.push(...missingFile("video_file", texts).issues);
  if (!asked || issues.length > 0) throw new ValidationError(issues);
  const { start_seconds: start = 0, end_seconds: end = -1, queue_job: queueJob } = asked;
  if (end !== -1 && end <= start) throw outside("The region is empty: it ends where it starts.");
  return { region: { start, end }, queueJob };
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
