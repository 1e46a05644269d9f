import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";

/** Moments of a video that are read at most: ten requests. */
const MAX_SEGMENTS = 1000;
/** Videos whose moments are remembered. */
const MAX_VIDEOS = 50;
/** URLs of thumbnails are valid for an hour. */
const MAX_AGE_MS = 50 * 60_000;

/** Moments by video, as promises, the one that was used last at the end. */
const videos = new Map();

/**
 * Resolves to the first moments of a video with a thumbnail: `[{ id, start, end, url }]`. They are
 * remembered for a while.
 */
export async function readVideoSegments(index, id) {
  const name = `${index}/${id}`;
  let known = videos.get(name);
  if (!known || performance.now() - known.readAt > MAX_AGE_MS) {
    known = { readAt: performance.now(), segments: listSegments(index, id) };
  }
  videos.delete(name);
  videos.set(name, known);
  if (videos.size > MAX_VIDEOS) videos.delete(videos.keys().next().value);
  try {
    return await known.segments;
  } catch (error) {
    videos.delete(name);
    throw error;
  }
}

async function listSegments(index, id) {
  const segments = [];
  let cursor = null;
  do {
    const query = { limit: 100, cursor };
    const page = await api("GET", indexPath(index, ["video", id, "segments"], query));
    segments.push(...page.segments.map(toSegment));
    cursor = page.next_cursor;
  } while (cursor && segments.length < MAX_SEGMENTS);
  return segments.filter(({ url }) => url !== null);
}

function toSegment(segment) {
  const { segment_id: id, start_seconds: start, end_seconds: end, thumbnail_url: url } = segment;
  return { id, start, end, url };
}
