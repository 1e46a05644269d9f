import { SHOTS } from "../config.ts";
import type { Asset } from "../types.ts";

const STRETCH_MS = SHOTS.partSeconds * 1000;
/** What sums of fractions are off by, in ms. */
const ROUNDING = 0.01;

/** In how many stretches, one after another, a video is looked through. */
export function countStretches({ durationMs }: Pick<Asset, "durationMs">): number {
  return Math.max(1, Math.ceil(durationMs / STRETCH_MS));
}

/** The first whole millisecond in which a picture is shown that begins to be at `seconds`. */
export function toShownMs(seconds: number): number {
  return Math.ceil(seconds * 1000 - ROUNDING);
}

/** Where one of them lies, in ms. */
export function stretchAt({ durationMs }: Pick<Asset, "durationMs">, part: number) {
  return { startMs: part * STRETCH_MS, endMs: Math.min(durationMs, (part + 1) * STRETCH_MS) };
}

/** In which of them a moment lies. */
export function stretchOf(ms: number): number {
  return Math.floor(ms / STRETCH_MS);
}
