import * as z from "zod";
import { LIMITS } from "./config.ts";
import { CONVERSION, STORYBOARD_TILES } from "./parameters.ts";
import type { JsonObject } from "./types.ts";

/** Why a file can't be read as it is: its container, its pictures or its sound. */
export const OBSTACLES = [
  "unreadable_container",
  "no_video_track",
  "unsupported_codec",
  "unsupported_audio_codec",
] as const;
/** Why a file was converted: it can't be read, or browsers don't play it. */
export const CONVERSION_REASONS = [...OBSTACLES, "not_playable"] as const;
export type ConversionReason = (typeof CONVERSION_REASONS)[number];

/** Size in even pixels, upright. `fps` determines the level of the encoder. */
export interface FrameFormat {
  width: number;
  height: number;
  fps: number;
}

/** A recording of a file: a range of its bytes with one clock. */
export interface PlannedRecording {
  /** Null for the whole file. */
  bytes: { start: number; end: number } | null;
  /** Time of its clock that is the zero of the file's presentation, in seconds. */
  originSeconds: number;
  /** When it is presented. */
  startMs: number;
  endMs: number;
}

const MAX_SIDE = 1_000_000;
export const pixels = z.int().min(1).max(MAX_SIDE);

/** The MP4 that was made of a video. It is stored beside the original, and is what is played. */
export const workingCopy = z.object({
  reason: z.enum(CONVERSION_REASONS),
  container: z.literal("mp4"),
  /** Null for sound without pictures, as are the sides. */
  video_codec: z.literal("avc").nullable(),
  audio_codec: z.literal("aac").nullable(),
  bytes: z.int().min(1).max(CONVERSION.copyBytes),
  width: pixels.nullable(),
  height: pixels.nullable(),
});
export type WorkingCopy = z.infer<typeof workingCopy>;

const { maxTiles, maxColumns, longSide, minShortSide } = STORYBOARD_TILES;
const tileSide = z.int().min(minShortSide).max(longSide);

/**
 * Layout of the storyboard of a video: one JPEG with frames for regular times, in rows from the
 * top, each from the left. Tile `i` is the keyframe of the segment at `i * interval_seconds`. Sides
 * are in pixels.
 */
export const storyboard = z.object({
  tiles: z.int().min(1).max(maxTiles),
  columns: z.int().min(1).max(maxColumns),
  tile_width: tileSide,
  tile_height: tileSide,
  interval_seconds: z.number().min(0.001).max(LIMITS.videoSeconds),
});
export type Storyboard = z.infer<typeof storyboard>;

/** Returns the technical facts that a record shows as such. */
export function technicalFactsOf({ technical }: { technical: JsonObject }): JsonObject {
  const { working_copy: _, storyboard: __, ...facts } = technical;
  return facts;
}

/** Returns what was made of a video, null if the original is used. */
export function workingCopyOf({ technical }: { technical: JsonObject }): WorkingCopy | null {
  return (technical["working_copy"] as WorkingCopy | undefined) ?? null;
}

/** Returns the layout of the storyboard of a video; null without one. */
export function storyboardOf({ technical }: { technical: JsonObject }): Storyboard | null {
  return (technical["storyboard"] as Storyboard | undefined) ?? null;
}
