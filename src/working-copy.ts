import { STORYBOARD } from "./storyboard.ts";
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

/** The MP4 that was made of a video. It is stored beside the original, and is what is played. */
export interface WorkingCopy {
  reason: ConversionReason;
  container: "mp4";
  /** Null for sound without pictures, as are the sides. */
  video_codec: "avc" | null;
  audio_codec: "aac" | null;
  bytes: number;
  width: number | null;
  height: number | null;
}

/** Name of the technical fact that holds the working copy, which searches read with the others. */
export const WORKING_COPY = "working_copy";

/** Returns the technical facts that a record shows as such. */
export function technicalFactsOf({ technical }: { technical: JsonObject }): JsonObject {
  const { [WORKING_COPY]: _, [STORYBOARD]: __, ...facts } = technical;
  return facts;
}

/** Returns what was made of a video, null if the original is used. */
export function workingCopyOf({ technical }: { technical: JsonObject }): WorkingCopy | null {
  return (technical[WORKING_COPY] as WorkingCopy | undefined) ?? null;
}
