import { FilterAPI } from "node-av/api";
import { readVideoTrack } from "../../local/engine/media-track.ts";
import type { Span } from "./match.ts";

/** FFmpeg's own detectors, which let through the first frame of a shot and no other. */
export const FILTERS = {
  "ffmpeg scdet (its default, 10)": "scdet=threshold=10:sc_pass=1",
  "ffmpeg select, scene > .3": "select='gt(scene,0.3)'",
  "ffmpeg select, scene > .4": "select='gt(scene,0.4)'",
};

/** What a filter takes for cuts. */
export async function cutsByFilter(
  path: string,
  filters: string,
  fps: number,
  signal: AbortSignal,
): Promise<Span[]> {
  const spans: Span[] = [];
  using filter = FilterAPI.create(filters);
  const all = { start: 0, end: Infinity };
  for await (const frame of filter.frames(readVideoTrack(path, all, null, signal))) {
    if (!frame) continue;
    const { num, den } = frame.timeBase;
    const at = Math.round((Number(frame.pts) * num * fps) / den);
    if (at > 0) spans.push({ kind: "cut", from: at - 1, to: at });
    frame.free();
  }
  return spans;
}
