import { partitionPoint } from "../lists.ts";
import { LruCache } from "../lru-cache.ts";
import { SHOTS, SIGNATURE } from "../parameters.ts";
import { getAnalysisBytes, type WindowAnalysis } from "../store/r2/window-analysis.ts";
import type { TimeRangeMs } from "../time-range.ts";
import type { Asset, FrameSummary } from "../types.ts";

const WINDOW_MS = SHOTS.windowSeconds * 1000;
/** Bytes of the luma of a frame. */
const LUMA_BYTES = SIGNATURE.side ** 2;
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
 * luma of the two windows that were read last is in memory.
 */
export function openSampledFrames(
  bucket: R2Bucket,
  asset: Asset,
  windows: WindowAnalysis[],
): SampledFrames {
  const allFrames = windows.flatMap(({ frames }) => frames);
  const countBefore = (ms: number) =>
    partitionPoint(allFrames, ({ seconds }) => toPresentationMs(seconds) < ms);
  const positions = new Map(
    windows.flatMap(({ frames }, window) => frames.map((frame, i) => [frame, { window, i }])),
  );
  const lumas = new LruCache<Uint8Array | null>(2);
  return {
    framesIn: ({ startMs, endMs }) => allFrames.slice(countBefore(startMs), countBefore(endMs)),
    async readLuma(frames) {
      const result: Uint8Array[] = [];
      for (const { window, i } of frames.map((frame) => positions.get(frame)!)) {
        const read = () => getAnalysisBytes(bucket, asset, window, "luma");
        const luma = await lumas.get(String(window), read);
        if (luma) result.push(luma.subarray(i * LUMA_BYTES, (i + 1) * LUMA_BYTES));
      }
      return result;
    },
  };
}

export function decodeThumbnail(thumbnail: string): Uint8Array {
  return Uint8Array.from(atob(thumbnail), (character) => character.charCodeAt(0));
}
