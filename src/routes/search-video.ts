import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError, invalid, type ValidationError } from "../errors.ts";
import { newId } from "../ids.ts";
import { HEAD_BYTES, requireKind } from "../media/kind.ts";
import type { Region } from "../search/align.ts";
import { likenessOfClip, regionOf } from "../search/clip.ts";
import { searchFor } from "../search/request.ts";
import { search } from "../search/search.ts";
import { clipKey } from "../store/media.ts";
import { storeStream } from "../store/streams.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { formFile, requireFields } from "./form-fields.ts";
import { readForm } from "./form.ts";
import { indexParams } from "./index-record.ts";
import { requireSearchableIndex } from "./indices.ts";
import { queuedJob } from "./job-record.ts";
import { mediaUrls } from "./media-url.ts";
import { meteredSearch } from "./metered-search.ts";
import { queryBool, queryFloat, queryInt } from "./query-types.ts";
import { queueSearch } from "./queue-search.ts";
import { searchResult, toSearchResult } from "./search-result.ts";
import { surviving } from "./surviving.ts";

export const searchVideoRoutes = createRouter("Search");

const form = z.object({
  start_seconds: queryFloat(0, LIMITS.videoSeconds, 0),
  end_seconds: queryFloat(-1, LIMITS.videoSeconds, -1),
  queue_job: queryBool(false),
  video_file: formFile(),
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
    form,
    response: z.union([searchResult, queuedJob]),
  },
  async (c, { params, query }) => {
    const index = await requireSearchableIndex(c, params.index_name);
    const key = clipKey(index.indexId, newId("upl"));
    const request = searchFor({ topK: query.top_k });
    let isKept = false;
    try {
      const { region, queueJob } = await surviving(c, readClip(c.env.MEDIA, key, c.req.raw));
      if (queueJob) {
        const clip = { key, region: await regionOf(c.env.MEDIA, key, region).catch(toRefusal) };
        const job = await queueSearch(c.env, index, request, clip);
        isKept = true;
        return job;
      }
      const { hits, total } = await meteredSearch(c, async (env) => {
        const like = await likenessOfClip(env, index.indexId, key, region).catch(toRefusal);
        return search(env, index.indexId, request, like);
      });
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
  const asked = requireFields(form, texts, isThere ? ["video_file"] : []);
  const { start_seconds: start, end_seconds: end, queue_job: queueJob } = asked;
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
