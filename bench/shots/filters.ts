import { FilterAPI } from "node-av/api";
import { readVideoTrack } from "../../local/engine/media-track.ts";
import type { FrameTransition } from "./match.ts";

/** FFmpeg's detectors: filters that pass the first frame of each shot only. */
export const FILTERS = {
  "ffmpeg scdet (its default, 10)": "scdet=threshold=10:sc_pass=1",
  "ffmpeg select, scene > .3": "select='gt(scene,0.3)'",
  "ffmpeg select, scene > .4": "select='gt(scene,0.4)'",
};

/** Returns the cuts that a filter detects. */
export async function detectCutsByFilter(
  path: string,
  filters: string,
  fps: number,
  signal: AbortSignal,
): Promise<FrameTransition[]> {
  const cuts: FrameTransition[] = [];
  using filter = FilterAPI.create(filters);
  const range = { start: 0, end: Infinity };
  for await (const frame of filter.frames(readVideoTrack(path, range, null))) {
    signal.throwIfAborted();
    if (!frame) continue;
    const { num, den } = frame.timeBase;
    const at = Math.round((Number(frame.pts) * num * fps) / den);
    if (at > 0) cuts.push({ kind: "cut", from: at - 1, to: at });
    frame.free();
  }
  return cuts;
}
