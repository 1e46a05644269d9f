import { listSegments } from "../search/search-request.js";
import { indexPath } from "../shared/api-path.js";
import { api, apiText } from "../shared/api.js";
import { isOutdated } from "./cut-list.js";

/** Reads the edit list of the videos in a cut list. */
export function readEdl(index, list) {
  const moments = list.map(({ asset_id, start_seconds, end_seconds }) => {
    return { asset_id, start_seconds, end_seconds };
  });
  return apiText("POST", indexPath(index, ["edl"]), { body: { moments } });
}

/**
 * Reads the moments whose links have expired again: titles and thumbnails are renewed, and moments
 * that no longer exist are marked. Returns the list, or null if nothing has expired.
 */
export async function refreshMoments(index, moments, now) {
  const outdated = moments.filter((moment) => isOutdated(moment, now));
  if (outdated.length === 0) return null;
  const records = new Map();
  for (const { asset_id: id, asset_type: type } of outdated) {
    if (records.has(id)) continue;
    const path = indexPath(index, [type, id]);
    records.set(id, await readRecords(path, type));
  }
  return moments.map((moment) => {
    if (!isOutdated(moment, now)) return moment;
    const { segment_id: segment, asset_id: id } = moment;
    const record = records.get(id).find((one) => !one.segment_id || one.segment_id === segment);
    if (!record) return { ...moment, is_missing: true };
    const { title, thumbnail_url } = record;
    return { ...moment, title, thumbnail_url, linked_at: now, is_missing: false };
  });
}

/** Lists the segments of a video, or the record of an image; nothing if it was deleted. */
async function readRecords(path, type) {
  try {
    return type === "video" ? await listSegments(path) : [await api("GET", path)];
  } catch (error) {
    if (error.status === 404) return [];
    throw error;
  }
}
