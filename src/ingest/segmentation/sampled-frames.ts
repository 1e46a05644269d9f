import { SIGNATURE } from "../../parameters.ts";
import { getWindowLuma, type WindowAnalysis } from "../../store/r2/window-analysis.ts";
import type { TimeRangeMs } from "../../time-range.ts";
import type { Asset, FrameSummary } from "../../types.ts";
import { partitionPoint } from "./partition-point.ts";
import { windowAt, toPresentationMs } from "./windows.ts";

/** The sampled frames of a video. */
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
  const lumaByWindow = new Map<number, Uint8Array | null>();
  const readWindow = async (window: number) => {
    if (!lumaByWindow.has(window)) {
      for (const other of lumaByWindow.keys()) {
        if (Math.abs(other - window) > 1) lumaByWindow.delete(other);
      }
      lumaByWindow.set(window, await getWindowLuma(bucket, asset, window));
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
    framesIn: ({ startMs, endMs }) =>
      allFrames.slice(countBefore(allFrames, startMs), countBefore(allFrames, endMs)),
    async readLuma(frames) {
      const result: Uint8Array[] = [];
      for (const frame of frames) result.push(...(await lumaOf(frame)));
      return result;
    },
  };
}

function countBefore(frames: readonly FrameSummary[], ms: number): number {
  return partitionPoint(frames, ({ seconds }) => toPresentationMs(seconds) < ms);
}

/** Decodes a Base64 thumbnail into its luma. */
export function decodeThumbnail(thumbnail: string): Uint8Array {
  const characters = atob(thumbnail);
  const luma = new Uint8Array(characters.length);
  for (let i = 0; i < luma.length; i++) luma[i] = characters.charCodeAt(i);
  return luma;
}
