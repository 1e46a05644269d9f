import type { SightlineIndex } from "../../index.ts";
import { sanitizeLine } from "../display-width.ts";
import type { ExportedSegment } from "./clip.ts";

/** The edit list of one video. */
export interface EditList {
  videoId: string;
  /** Name of the file to write. */
  fileName: string;
  text: string;
}

/** Gets the edit list (CMX 3600) of each video that has one of the segments, in their order. */
export async function getEditLists(
  index: SightlineIndex,
  segments: readonly ExportedSegment[],
  signal: AbortSignal,
): Promise<EditList[]> {
  const lists: EditList[] = [];
  for (const [videoId, ids, title] of groupByVideo(segments)) {
    const text = await index.videos.editList(videoId, ids, { signal });
    lists.push({ videoId, fileName: editListName(title, videoId), text });
  }
  return lists;
}

/** Groups the ids of segments by video. */
export function groupByVideo(
  segments: readonly ExportedSegment[],
): [videoId: string, segmentIds: string[], title: string][] {
  const groups = new Map<string, [string, string[], string]>();
  for (const { video_id: id, segment_id, title } of segments) {
    if (id === null) continue;
    const group = groups.get(id) ?? [id, [], title];
    group[1].push(segment_id);
    groups.set(id, group);
  }
  return [...groups.values()];
}

/** Makes a file name of a title, which may hold anything, and of the id, which is unique. */
export function editListName(title: string, videoId: string): string {
  const base = sanitizeLine(title)
    .replace(/\.\w{1,5}$/, "")
    .replaceAll(/[/\\:*?"<>|]/g, "-")
    .replace(/^\.+/, "");
  return `${Array.from(base).slice(0, 40).join("")} ${videoId}.edl`.trimStart();
}
