import { deflateSync } from "node:zlib";
import type { SpokenSegment } from "./speech.ts";

/**
 * Compression ratio above which a text is a loop: the threshold of Whisper's own transcription
 * (Radford et al., 2022, section 4.5).
 */
const MAX_COMPRESSION_RATIO = 2.4;
/** Repetitions in a row above which a sentence is dropped. */
const MAX_REPEATS = 2;

/**
 * Drops hallucinations of a generative recogniser in silence: sound tags ("[MUSIC]", "(applause)",
 * "♪"), loops and repeated sentences.
 */
export function dropHallucinations(segments: readonly SpokenSegment[]): SpokenSegment[] {
  const accepted: SpokenSegment[] = [];
  let [previous, repeatCount] = ["", 0];
  for (const segment of segments) {
    // bounded: a sentence of a recogniser, at most 30 s of speech
    const text = segment.text.replaceAll(/\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|♪+/gu, " ");
    const clean = text.replaceAll(/\s+/g, " ").trim();
    const normalized = clean
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
    if (normalized === "" || isLoop(clean)) continue;
    repeatCount = normalized === previous ? repeatCount + 1 : 1;
    previous = normalized;
    if (repeatCount <= MAX_REPEATS) accepted.push({ ...segment, text: clean });
  }
  return accepted;
}

function isLoop(text: string): boolean {
  const bytes = Buffer.from(text);
  return bytes.length / deflateSync(bytes).length > MAX_COMPRESSION_RATIO;
}
