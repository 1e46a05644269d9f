import { z } from "@hono/zod-openapi";
import { LIMITS } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { requireAssets } from "../http/caller-records.ts";
import { type Context, withWaitUntil } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { countWork } from "../http/metering.ts";
import { formFile, requireFields, readForm } from "../http/multipart.ts";
import { queryBool, queryFloat } from "../http/query-params.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import { newId } from "../ids.ts";
import { HEAD_BYTES, requireMediaType } from "../media/media-type.ts";
import type { QueryClip } from "../messages.ts";
import { exampleFromClip, clipTimeRange } from "../search/clip-example.ts";
import type { SearchRequest } from "../search/request.ts";
import { search } from "../search/search.ts";
import { deleteObjectKeys, queryClipKey } from "../store/r2/object-keys.ts";
import { storeStream } from "../store/r2/streams.ts";
import type { TimeRange } from "../time-range.ts";
import type { MediaIndexRow } from "../types.ts";
import { exampleQuery, toExampleRequest } from "./example-query.ts";
import { STORAGE_FULL } from "./records/fields.ts";
import { indexParams } from "./records/index-record.ts";
import { searchResult, toSearchResult } from "./records/search-result.ts";
import { requireSearchableIndex, queueSearch } from "./searchable-index.ts";

export const searchVideoRoutes = createRouter("Search");

const form = z.object({
  start_seconds: queryFloat(0, LIMITS.videoSeconds, 0).describe(
    "Start of the part of the clip to search by, in seconds.",
  ),
  end_seconds: queryFloat(-1, LIMITS.videoSeconds, -1).describe(
    "End of that part in seconds; -1 is the end of the clip.",
  ),
  queue_job: queryBool(false).describe(
    "Whether the search runs as a job: the response has its `job_id` at once.",
  ),
  video_file: formFile().describe(
    "Clip or sound to search by, such as MP4, WebM or MP3, up to 5 GiB.",
  ),
});

addEndpoint(
  searchVideoRoutes,
  {
    method: "post",
    path: "/index/{index_name}/search_video",
    operationId: "searchByVideo",
    summary: "Search with a clip",
    description:
      "Finds the footage of a clip, even if it was cut, cropped or compressed, then footage like " +
      "it. What is said in the clip counts. Sound without pictures finds what is said like it: a " +
      "422 if no speech is recognised in its first 45 seconds.",
    errors: { account_full: STORAGE_FULL },
    scope: "read",
    params: indexParams,
    query: exampleQuery,
    form,
    response: searchResult,
  },
  searchByVideo,
);

/** Stores the clip, searches by it now or in a job, and deletes it unless a job needs it. */
async function searchByVideo(
  c: Context,
  { params, query }: Input<typeof indexParams, typeof exampleQuery>,
) {
  const index = await requireSearchableIndex(c, params.index_name);
  await requireAssets(c.env.DB, index.indexId, query.asset_ids ?? []);
  const key = queryClipKey(index.indexId, newId("upl"));
  const request = toExampleRequest(query, "");
  let isOwnedByJob = false;
  try {
    const { range, queueJob } = await withWaitUntil(c, storeClip(c.env.MEDIA, key, c.req.raw));
    if (!queueJob) return await searchNow(c, index, request, { key, range });
    const job = await queueClipSearch(c, index, request, { key, range });
    isOwnedByJob = true;
    return job;
  } finally {
    if (!isOwnedByJob) c.executionCtx.waitUntil(deleteObjectKeys(c.env.MEDIA, [key]));
  }
}

async function searchNow(
  c: Context,
  index: MediaIndexRow,
  request: SearchRequest,
  { key, range }: QueryClip,
) {
  const example = await exampleFromClip(c.env, index, key, range).catch(throwAsInvalid);
  const found = await search(c.env, index, request, example);
  const { hits, total, calibration, interpretation } = found;
  countWork(c, "searches");
  const page = { ...request, total, count: total, calibration, interpretation };
  return toSearchResult(hits, page, createMediaUrlSigner(c));
}

/** Validates the time range before the job is queued, so that the client gets the error. */
async function queueClipSearch(
  c: Context,
  index: MediaIndexRow,
  request: SearchRequest,
  { key, range }: QueryClip,
) {
  const validRange = await clipTimeRange(c.env.MEDIA, key, range).catch(throwAsInvalid);
  return queueSearch(c.env, index, request, { key, range: validRange });
}

/** Form fields of a search by a clip. An `end` of -1 is the end of the clip. */
interface ClipForm {
  range: TimeRange;
  queueJob: boolean;
}

/** Streams the clip into an object, and returns the form's fields. */
async function storeClip(bucket: R2Bucket, key: string, request: Request): Promise<ClipForm> {
  let hasFile = false;
  const fields = await readForm(request, async (part) => {
    if (part.field !== "video_file") return;
    hasFile = true;
    await storeStream(bucket, key, part.chunks, {
      maxBytes: LIMITS.uploadBytes,
      headBytes: HEAD_BYTES,
      inspect: (head) => requireMediaType(head, "video"),
    });
  });
  const values = requireFields(form, fields, hasFile ? ["video_file"] : [], exampleQuery);
  const { start_seconds: start, end_seconds: end, queue_job: queueJob } = values;
  if (end !== -1 && end <= start) {
    const message = `The time range is empty: its end, ${end} s, isn't after its start, ${start} s.`;
    throw invalid(["body", "end_seconds"], "value_error", message);
  }
  return { range: { start, end }, queueJob };
}

/** Error codes of a clip that can't be searched by. */
const FILE_ERRORS = new Set<string>([
  "unreadable_container",
  "nothing_indexed",
  "unsupported_audio_codec",
  "unsupported_codec",
  "unreadable_frame",
]);

/** Rethrows errors about the clip or the range's start as a `ValidationError`, others unchanged. */
function throwAsInvalid(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  const isStartPastEnd = error.code === "bad_request";
  if (!isStartPastEnd && !FILE_ERRORS.has(error.code)) throw error;
  const field = isStartPastEnd ? "start_seconds" : "video_file";
  throw invalid(["body", field], "value_error", error.message);
}
