import { listSegments } from "../search/search-request.js";
import { indexPath } from "../shared/api-path.js";
import { api, apiText } from "../shared/api.js";
import { isImage, isOutdated } from "./cut-list.js";

/** Formats of a cut list for editors, as the API names them, with their titles and endings. */
export const EXPORT_FORMATS = [
  { format: "edl", title: "EDL (CMX 3600)", extension: "edl" },
  { format: "fcpxml", title: "FCPXML (Final Cut, Resolve)", extension: "fcpxml" },
  { format: "premiere_xml", title: "XML (Premiere, Resolve)", extension: "xml" },
  { format: "otio", title: "OpenTimelineIO", extension: "otio" },
  { format: "markers_edl", title: "Markers for Resolve", extension: "edl" },
  { format: "markers_csv", title: "Markers as CSV", extension: "csv" },
  { format: "chapters", title: "Chapters for YouTube", extension: "txt" },
  { format: "chapters_vtt", title: "Chapters as WebVTT", extension: "vtt" },
];

/** Reads a cut list in a format. */
export function readExport(index, format, list) {
  const segments = list.map((moment) => {
    const { segment_id, start_seconds, end_seconds } = moment;
    return isImage(moment) ? { segment_id } : { segment_id, start_seconds, end_seconds };
  });
  return apiText("POST", indexPath(index, ["exports"]), { body: { format, segments } });
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
