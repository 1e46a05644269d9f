import { api, indexPath, keyHeader, toApiError } from "./api.js";
import { isOutdated } from "./cut-list.js";
import { listSegments } from "./search-request.js";

/** Reads the frame rate and the edit list of each video in a cut list. */
export async function readSources(index, moments) {
  const segments = new Map();
  for (const { asset_id: id, segment_id: segment, start_seconds: start } of moments) {
    if (start !== null) segments.set(id, [...(segments.get(id) ?? []), segment]);
  }
  const sources = new Map();
  for (const [id, ids] of segments) {
    const path = indexPath(index, `/video/${encodeURIComponent(id)}`);
    const { fps } = await api("GET", path);
    const list = new URLSearchParams({ segments: [...new Set(ids)].join(",") });
    const response = await fetch(`${path}/edl?${list}`, { headers: keyHeader() }).catch(() => null);
    const edl = (await response?.text()) ?? "";
    if (!response?.ok) throw toApiError(response?.status ?? 0, edl);
    sources.set(id, { fps, edl });
  }
  return sources;
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
    const path = indexPath(index, `/${type}/${encodeURIComponent(id)}`);
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
