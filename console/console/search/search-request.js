import { segmentAt } from "../player/time-range.js";
import { ApiError } from "../shared/api-error.js";
import { apiPath, indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { exampleFile } from "./example-files.js";
import { fileSearchParams, searchBody } from "./search-body.js";
import { hasSteps, NO_TERMS } from "./terms.js";

/** Clips are sent in one request, and most Cloudflare plans refuse bodies over 100 MB. */
const MAX_CLIP_BYTES = 95_000_000;

/** Hits of a search that is queued for judgments, as many as there can be. */
const MAX_HITS = 500;

/**
 * Runs a search of the page's route and resolves to the API's response, with a `note` for the user
 * if the search isn't quite the one that was asked for. `onStep` gets what is being done.
 */
export async function runSearch(route, { cursor, signal, onStep }) {
  const { kind } = route.example ?? {};
  const known = findLastPage(route);
  if (known) return known;
  if (kind === "image") return await searchByImage(route, signal);
  if (kind === "clip") return await searchByClip(route, requireFile(route.example), signal);
  if (kind === "range") return await searchByTimeRange(route, { cursor, signal, onStep });
  if (kind && route.query && hasSteps(route)) {
    const message = "A sequence begins with words or with an example. Remove one of them.";
    throw new ApiError(422, message);
  }
  return await searchIndex(route, route.example?.id, { cursor, signal });
}

function searchIndex(route, similarTo, { cursor, signal }) {
  return api("POST", searchPath(route), { body: searchBody(route, similarTo, cursor), signal });
}

/** Returns the target of a search in words: of an index, or of several. */
export function searchPath({ index, indices }) {
  return indices?.length > 0 ? apiPath(["search"]) : indexPath(index, ["search"]);
}

/**
 * Queues the search of a route with an example for a judgment, in all of the index. Resolves to the
 * id of the job.
 */
export async function queueSearch({ index, query, example }) {
  const whole = { ...NO_TERMS, index, query, example, modes: [], filter: {}, duplicates: true };
  const { clip, similarTo } = await readExample(whole);
  if (clip) {
    const form = clipForm(clip, example);
    form.append("queue_job", "true");
    const params = { ...fileSearchParams(whole), top_k: MAX_HITS };
    return (await api("POST", indexPath(index, ["search_video"], params), { form })).job_id;
  }
  const body = { ...searchBody(whole, similarTo), top_k: MAX_HITS, queue_job: true };
  return (await api("POST", indexPath(index, ["search"]), { body })).job_id;
}

/** Reads what a search compares with: a file, or the id of a segment or an asset. */
async function readExample({ index, example }) {
  if (example.kind === "clip") return { clip: requireFile(example) };
  if (example.kind !== "range") return { similarTo: example.id };
  return await readTimeRange(index, example, new AbortController().signal);
}

function searchByImage(route, signal) {
  const form = new FormData();
  form.append("image_file", requireFile(route.example));
  if (route.query) form.append("query", route.query);
  return searchByFile(route, "search_image", form, signal);
}

async function searchByClip(route, clip, signal) {
  if (clip.size > MAX_CLIP_BYTES) {
    throw new ApiError(413, "A clip to search by has at most 95 MB. Choose a shorter one.");
  }
  return await searchByFile(route, "search_video", clipForm(clip, route.example), signal);
}

function clipForm(clip, { start, end }) {
  const form = new FormData();
  form.append("start_seconds", String(start));
  form.append("end_seconds", String(end ?? -1));
  form.append("video_file", clip);
  return form;
}

/** Sends a file, and cuts the hits at the lowest score here: another one needs no further upload. */
async function searchByFile({ topP, ...route }, operation, form, signal) {
  const target = indexPath(route.index, [operation], fileSearchParams(route));
  const page = await api("POST", target, { form, signal });
  lastPage = { search: searchKey(route), topP, page };
  return cutAt(page, topP);
}

/** The response of the last search by a file, uncut. */
let lastPage = null;

/** Returns the last response if only the lowest score of the search has changed since. */
function findLastPage({ topP, ...route }) {
  const isSame = lastPage?.search === searchKey(route) && lastPage.topP !== topP;
  if (!isSame) return null;
  lastPage.topP = topP;
  return cutAt(lastPage.page, topP);
}

function searchKey({ index, query, modes, filter, scope, grouped, duplicates, example }) {
  return JSON.stringify([index, query, modes, filter, scope, grouped, duplicates, example]);
}

function cutAt(page, topP) {
  const segments = page.segments.filter(({ score }) => score >= topP);
  return { ...page, segments, total: segments.length };
}

/** Searches by a part of a stored video: by the file, or if it is large by its nearest segment. */
async function searchByTimeRange(route, { cursor, signal, onStep }) {
  onStep("Fetching the clip…");
  const { clip, similarTo } = await readTimeRange(route.index, route.example, signal);
  onStep("Searching…");
  if (clip) return await searchByClip(route, clip, signal);
  const page = await searchIndex(route, similarTo, { cursor, signal });
  const note = "This video is over 95 MB: the search uses the moment that this part lies in.";
  return { ...page, note };
}

/** Reads the file of a stored video, or if it is large the id of the segment that a part lies in. */
async function readTimeRange(index, example, signal) {
  const path = indexPath(index, ["video", example.id]);
  const video = await api("GET", path, { signal });
  if (video.size_bytes <= MAX_CLIP_BYTES) return { clip: await fetchFile(video, signal) };
  const segment = segmentAt(await listSegments(path, signal), example);
  if (!segment) throw new ApiError(404, "This part of the video has no moment to search by.");
  return { similarTo: segment.segment_id };
}

async function fetchFile({ media_url: url, title, content_type: type }, signal) {
  try {
    const response = await fetch(url, { signal });
    if (response.ok) return new File([await response.blob()], title, { type });
  } catch {
    signal.throwIfAborted();
  }
  throw new ApiError(502, "The video's file can't be read. Try again.");
}

/** Lists all segments of a video, whose target is `video`. */
export async function listSegments(video, signal) {
  const segments = [];
  let cursor = null;
  do {
    const query = { limit: 100, cursor };
    const page = await api("GET", { path: [...video.path, "segments"], query }, { signal });
    segments.push(...page.segments);
    cursor = page.next_cursor;
  } while (cursor);
  return segments;
}

function requireFile(example) {
  const file = exampleFile(example);
  if (file) return file;
  const message = `“${example.name}” is only known until the page is reloaded. Choose the file again.`;
  throw new ApiError(404, message);
}
