import { cleanText } from "./clean-text.ts";
import { LIMITS } from "./config.ts";
import type { Cue } from "./types.ts";

/** A cue as JSON has it, where unknown times are null. */
export interface StoredCue extends Pick<Cue, "text"> {
  start: number | null;
  end: number | null;
}

export function parseStoredCue({ start, end, text }: StoredCue): Cue {
  return { start: start ?? NaN, end: end ?? NaN, text };
}

/** Seconds from zero to which a cue of any transcript may be. */
export const MAX_CUE_SECONDS = 1e6;

/** Reading speed and minimum length, for the end of a cue without one. */
const READING = { charactersPerSecond: 15, minSeconds: 1 } as const;

/**
 * Sorts cues by start, sets missing ends and drops cues without text. A cue without a valid end
 * lasts until the next one starts, but no longer than its text takes to read.
 */
export function normalizeCues(cues: Cue[]): Cue[] {
  const sorted = cues
    .map(({ start, end, text }) => ({ start: Math.max(0, start), end, text: cleanText(text) }))
    .filter(({ text }) => text !== "")
    .toSorted((a, b) => a.start - b.start || 0);
  let [start, next] = [Infinity, Infinity];
  for (const cue of sorted.toReversed()) {
    if (cue.start < start) [start, next] = [cue.start, start];
    if (cue.end >= cue.start || Number.isNaN(cue.start)) continue;
    const readingSeconds = Math.max(
      READING.minSeconds,
      cue.text.length / READING.charactersPerSecond,
    );
    cue.end = Math.min(next, cue.start + readingSeconds);
  }
  return sorted;
}

/** Whether cues have more text than a transcript may have. */
export function isTooLong(cues: readonly Pick<Cue, "text">[]): boolean {
  return cues.reduce((sum, { text }) => sum + text.length, 0) > LIMITS.transcriptCharacters;
}

/** Frame rate that frame numbers are divided by until the video's is known. */
export const NOMINAL_FPS = 25;

/** Converts times in frames at `NOMINAL_FPS` to seconds of a video with another frame rate. */
export function toVideoFps(cues: Cue[], fps: number): Cue[] {
  const convert = (time: number) => Math.round(((time * NOMINAL_FPS) / fps) * 1000) / 1000;
  return cues.map(({ start, end, text }) => ({ start: convert(start), end: convert(end), text }));
}
