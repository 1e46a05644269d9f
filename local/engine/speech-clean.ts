import { deflateSync } from "node:zlib";
import type { SpokenSegment } from "./speech.ts";

/**
 * Text that shrinks to less than this share of itself says one thing over and over: the limit of
 * Whisper's own transcription (Radford et al., 2022, section 4.5).
 */
const MAX_COMPRESSION = 2.4;
/** Nobody says the same sentence more often than this in a row. */
const MAX_REPEATS = 2;

/**
 * Drops what a generative recogniser makes up where it hears nothing: descriptions of sounds
 * ("[MUSIC]", "(applause)", "♪"), loops, and sentences said again and again.
 */
export function dropInvented(segments: readonly SpokenSegment[]): SpokenSegment[] {
  const kept: SpokenSegment[] = [];
  let [last, times] = ["", 0];
  for (const segment of segments) {
    const text = segment.text.replaceAll(/\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|♪+/gu, " ");
    const clean = text.replaceAll(/\s+/g, " ").trim();
    const folded = clean
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
    if (folded === "" || isLoop(clean)) continue;
    times = folded === last ? times + 1 : 1;
    last = folded;
    if (times <= MAX_REPEATS) kept.push({ ...segment, text: clean });
  }
  return kept;
}

function isLoop(text: string): boolean {
  const bytes = Buffer.from(text);
  return bytes.length / deflateSync(bytes).length > MAX_COMPRESSION;
}
