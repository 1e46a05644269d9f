import { SHOTS } from "../../parameters.ts";
import type { TimeRangeMs } from "../../time-range.ts";
import type { Asset } from "../../types.ts";

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

/** Returns the window that a time lies in. */
export function windowAt(ms: number): number {
  return Math.floor(ms / WINDOW_MS);
}
