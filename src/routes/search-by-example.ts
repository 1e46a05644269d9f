import { LIMITS } from "../config.ts";
import { invalid, AppError } from "../errors.ts";
import { requireAssets } from "../http/caller-records.ts";
import { withWaitUntil } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { RECORDS_FULL, STORAGE_FULL, timeRange } from "../http/fields.ts";
import {
  type FormFile,
  formFile,
  imageReaders,
  readForm,
  throwImageAsInvalid,
} from "../http/multipart.ts";
import * as z from "../http/zod.ts";
import { newId } from "../ids.ts";
import { HEAD_BYTES, requireMediaType } from "../media/media-type.ts";
import { search } from "../search/search.ts";
import { exampleFromImage, exampleFromClip, clipTimeRange } from "../search/uploaded-example.ts";
import { deleteObjectKeys, queryClipKey } from "../store/r2/object-keys.ts";
import { storeStream } from "../store/r2/streams.ts";
import { Timings } from "../timings.ts";
import { exampleQuery, toExampleRequest, searchFields } from "./records/search-request.ts";
import { searchResult, toCountedResult } from "./records/search-result.ts";
import { queueSearch, requireSearchableIndex } from "./searchable-index.ts";

export const exampleSearchRoutes = createRouter("Search");

const imageForm = z.object({
  query: z
    .string()
    .trim()
    .max(LIMITS.queryCharacters)
    .default("")
    .describe("Words that change what is searched for, such as `at night`. Default: none."),
  image_file: formFile().describe(
    "Image to search by, in any format that can be added, at most 20 MiB.",
  ),
});

addEndpoint(exampleSearchRoutes, "POST /index/{index_name}/search_image", {
  operationId: "searchByImage",
  summary: "Search with an image",
  description:
    "Finds the segments that look like an image: first copies of it, edited or not, then " +
    "similar images. With `query`, text and image count together.",
  errors: { account_full: RECORDS_FULL },
  scope: "read",
  query: exampleQuery,
  form: imageForm,
  formExample: { image_file: "photo.jpg" },
  response: searchResult,
  async handle(c, { params, query }) {
    const index = await requireSearchableIndex(c, params.index_name);
    await requireAssets(c.env.DB, index.indexId, query.asset_ids);
    const form = await readForm(c.req.raw, imageForm, {
      readers: imageReaders,
      query: exampleQuery,
    });
    const timings = new Timings();
    const request = toExampleRequest(query, form.query);
    const toExample = () =>
      exampleFromImage(c.env, index, form.image_file).catch(throwImageAsInvalid);
    const example = await timings.time("example", toExample);
    const found = await search(c.env, index, request, example, timings);
    return { ...(await toCountedResult(c, request, found, timings)), next_cursor: null };
  },
});

const [start_seconds, end_seconds] = timeRange(
  "Start of the part of the clip to search by, in seconds.",
  "End of that part in seconds; -1 is the end of the clip.",
);
const clipForm = z.object({
  start_seconds,
  end_seconds,
  queue_job: searchFields.shape.queue_job,
  video_file: formFile().describe(
    "Clip or sound to search by, such as MP4, WebM or MP3, up to 5 GiB.",
  ),
});

addEndpoint(exampleSearchRoutes, "POST /index/{index_name}/search_video", {
  operationId: "searchByVideo",
  summary: "Search with a clip",
  description:
    "Finds the footage of a clip, even if it was cut, cropped or compressed, then footage like " +
    "it. What is said in the clip counts. Sound without pictures finds what is said like it: a " +
    "422 if no speech is recognised in its first 45 seconds.",
  errors: { account_full: STORAGE_FULL },
  scope: "read",
  query: exampleQuery,
  form: clipForm,
  formExample: { video_file: "clip.mp4", start_seconds: 2, end_seconds: 6 },
  response: searchResult,
  /** Stores the clip, searches by it now or in a job, and deletes it unless a job needs it. */
  async handle(c, { params, query }) {
    const index = await requireSearchableIndex(c, params.index_name);
    await requireAssets(c.env.DB, index.indexId, query.asset_ids);
    const key = queryClipKey(index.indexId, newId("upl"));
    const request = toExampleRequest(query, "");
    const timings = new Timings();
    let isOwnedByJob = false;
    try {
      const { range, queueJob } = await withWaitUntil(c, storeClip(c.env.MEDIA, key, c.req.raw));
      if (!queueJob) {
        const example = await exampleFromClip(c.env, index, key, range).catch(throwAsInvalid);
        const found = await search(c.env, index, request, example, timings);
        return { ...(await toCountedResult(c, request, found, timings)), next_cursor: null };
      }
      // The client gets the error of a range that begins behind the clip's end.
      const validRange = await clipTimeRange(c.env.MEDIA, key, range).catch(throwAsInvalid);
      const job = await queueSearch(c.env, index, request, { key, range: validRange });
      isOwnedByJob = true;
      return job;
    } finally {
      if (!isOwnedByJob) c.executionCtx.waitUntil(deleteObjectKeys(c.env.MEDIA, [key]));
    }
  },
});

/** Streams the clip into an object, and returns the form's fields: an `end` of -1 is the clip's. */
async function storeClip(bucket: R2Bucket, key: string, request: Request) {
  const video = (part: FormFile) =>
    storeStream(bucket, key, part.chunks, {
      maxBytes: LIMITS.uploadBytes,
      headBytes: HEAD_BYTES,
      inspect: (head) => requireMediaType(head, "video"),
    });
  const form = await readForm(request, clipForm, {
    readers: { video_file: video },
    query: exampleQuery,
  });
  const { start_seconds: start, end_seconds: end, queue_job: queueJob } = form;
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
  "too_complex",
]);

/** Rethrows errors about the clip or the range's start as a `ValidationError`, others unchanged. */
function throwAsInvalid(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  const isStartPastEnd = error.code === "bad_request";
  if (!isStartPastEnd && !FILE_ERRORS.has(error.code)) throw error;
  const field = isStartPastEnd ? "start_seconds" : "video_file";
  throw invalid(["body", field], "value_error", error.message);
}
