import { api, ApiError, indexPath } from "./api.js";
import { exampleFile } from "./example-files.js";
import { searchBody } from "./search-state.js";
import { segmentAt } from "./time-range.js";

/** Hits of a search by a file, which has no pages. */
const FILE_HITS = 100;
/** Clips are sent in one request, and most Cloudflare plans refuse bodies over 100 MB. */
const MAX_CLIP_BYTES = 95_000_000;

/**
 * Runs a search of the page's route and resolves to the API's response, with a `note` for the user
 * if the search isn't quite the one that was asked for. `onStep` gets what is being done.
 */
export function runSearch(route, { cursor, signal, onStep }) {
  const { kind } = route.example ?? {};
  if (kind === "image") return searchByImage(route, signal);
  if (kind === "clip") return searchByClip(route, requireFile(route.example), signal);
  if (kind === "range") return searchByTimeRange(route, { cursor, signal, onStep });
  return searchIndex(route, route.example?.id, { cursor, signal });
}

function searchIndex(route, similarTo, { cursor, signal }) {
  return api("POST", indexPath(route.index, "/search"), {
    body: searchBody(route, similarTo, cursor),
    signal,
  });
}

async function searchByImage({ index, query, modes, topP, example }, signal) {
  const params = new URLSearchParams({ top_k: FILE_HITS, top_p: topP });
  for (const mode of modes) params.append("modes", mode);
  const form = new FormData();
  form.append("image_file", requireFile(example));
  if (query) form.append("query", query);
  return await api("POST", `${indexPath(index, "/search_image")}?${params}`, { form, signal });
}

async function searchByClip({ index, topP, example: { start, end } }, clip, signal) {
  if (clip.size > MAX_CLIP_BYTES) {
    throw new ApiError(413, "A clip to search by has at most 95 MB. Choose a shorter one.");
  }
  const form = new FormData();
  form.append("start_seconds", String(start));
  form.append("end_seconds", String(end ?? -1));
  form.append("video_file", clip);
  const path = indexPath(index, "/search_video", { top_k: FILE_HITS });
  const page = await api("POST", path, { form, signal });
  const segments = page.segments.filter(({ score }) => score >= topP);
  return { ...page, segments, total: segments.length };
}

/** Searches by a part of a stored video: by the file, or if it is large by its nearest segment. */
async function searchByTimeRange(route, { cursor, signal, onStep }) {
  const { index, example } = route;
  const path = indexPath(index, `/video/${encodeURIComponent(example.id)}`);
  const video = await api("GET", path, { signal });
  if (video.size_bytes > MAX_CLIP_BYTES) {
    const segment = segmentAt(await listSegments(path, signal), example);
    if (!segment) throw new ApiError(404, "This part of the video has no moment to search by.");
    const page = await searchIndex(route, segment.segment_id, { cursor, signal });
    const note = "This video is over 95 MB: the search uses the moment that this part lies in.";
    return { ...page, note };
  }
  onStep("Fetching the clip…");
  const clip = await fetchFile(video, signal);
  onStep("Searching…");
  return await searchByClip(route, clip, signal);
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

/** Lists all segments of the video at a path of the API. */
export async function listSegments(path, signal) {
  const segments = [];
  let cursor = null;
  do {
    const query = new URLSearchParams({ limit: 100, ...(cursor && { cursor }) });
    const page = await api("GET", `${path}/segments?${query}`, { signal });
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
