import { append, partitionPoint } from "../lists.ts";
import { SHOTS, SIGNATURE } from "../parameters.ts";
import { getAnalysisBytes, type WindowAnalysis } from "../store/r2/window-analysis.ts";
import type { TimeRangeMs } from "../time-range.ts";
import type { Asset, FrameSummary } from "../types.ts";

const WINDOW_MS = SHOTS.windowSeconds * 1000;
/** Rounding error of sums of fractions, in ms. */
const ROUNDING_MS = 0.01;

/** Returns the number of analysis windows of a video, at least one. */
export function countWindows({ durationMs }: Pick<Asset, "durationMs">): number {
  return Math.max(1, Math.ceil(durationMs / WINDOW_MS));
}

/** Converts a presentation time to the first whole millisecond in which the frame is on screen. */
export function toPresentationMs(seconds: number): number {
  return Math.ceil(seconds * 1000 - ROUNDING_MS);
}

/** Returns the time range of a window, counted from 0. */
export function windowRange(
  { durationMs }: Pick<Asset, "durationMs">,
  window: number,
): TimeRangeMs {
  return { startMs: window * WINDOW_MS, endMs: Math.min(durationMs, (window + 1) * WINDOW_MS) };
}

export function windowAt(ms: number): number {
  return Math.floor(ms / WINDOW_MS);
}

export interface SampledFrames {
  /** Returns the frames whose presentation time lies in a time range, in order. */
  framesIn(range: TimeRangeMs): FrameSummary[];
  /** Reads the luma of frames, `SIGNATURE.side`² each. Leaves out frames without stored luma. */
  readLuma(frames: readonly FrameSummary[]): Promise<Uint8Array[]>;
}

/**
 * Opens the sampled frames of a video. `windows` are the analyses of all its windows, in order. The
 * luma of at most two neighbouring windows is in memory at a time.
 */
export function openSampledFrames(
  bucket: R2Bucket,
  asset: Asset,
  windows: WindowAnalysis[],
): SampledFrames {
  const allFrames = windows.flatMap(({ frames }) => frames);
  const countBefore = (ms: number) =>
    partitionPoint(allFrames, ({ seconds }) => toPresentationMs(seconds) < ms);
  const lumaByWindow = new Map<number, Uint8Array | null>();
  const readWindow = async (window: number) => {
    if (!lumaByWindow.has(window)) {
      for (const other of lumaByWindow.keys()) {
        if (Math.abs(other - window) > 1) lumaByWindow.delete(other);
      }
      lumaByWindow.set(window, await getAnalysisBytes(bucket, asset, window, "luma"));
    }
    return lumaByWindow.get(window);
  };
  const lumaOf = async (frame: FrameSummary): Promise<Uint8Array[]> => {
    const timeWindow = windowAt(toPresentationMs(frame.seconds));
    // The frame on screen as a window begins belongs to it, though its time is in the one before.
    const window = windows[timeWindow]?.frames.includes(frame) ? timeWindow : timeWindow + 1;
    const start = (windows[window]?.frames.indexOf(frame) ?? -1) * SIGNATURE.side ** 2;
    const luma = start < 0 ? null : await readWindow(window);
    return luma ? [luma.subarray(start, start + SIGNATURE.side ** 2)] : [];
  };
  return {
    framesIn: ({ startMs, endMs }) => allFrames.slice(countBefore(startMs), countBefore(endMs)),
    async readLuma(frames) {
      const result: Uint8Array[] = [];
      for (const frame of frames) append(result, await lumaOf(frame));
      return result;
    },
  };
}

export function decodeThumbnail(thumbnail: string): Uint8Array {
  return Uint8Array.from(atob(thumbnail), (character) => character.charCodeAt(0));
}
