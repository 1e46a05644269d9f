import { SAMPLE_RATE } from "./audio-samples.ts";
import type { TimeRange } from "./media-track.ts";

/** A range of the audio and its start in the chunk, in seconds. */
interface ChunkPart extends TimeRange {
  at: number;
}

/** Ranges that are transcribed together, with shortened silence between them. */
export interface SpeechChunk {
  parts: ChunkPart[];
  seconds: number;
}

/** Maximum silence between parts. */
const MAX_GAP_SECONDS = 0.5;
/** A range that is too long is cut at the quietest point of this many of its last seconds. */
const CUT_SEARCH_SECONDS = 8;
const CUT_STEP_SECONDS = 0.05;
const CUT_WINDOW_SECONDS = 0.2;

/** Splits ranges longer than `maxSeconds` at the quietest point. */
export function splitRanges(
  samples: Float32Array,
  ranges: readonly TimeRange[],
  maxSeconds: number,
): TimeRange[] {
  return ranges.flatMap((range) => {
    const cut: TimeRange[] = [];
    let { start } = range;
    while (range.end - start > maxSeconds) {
      const end = findQuietest(
        samples,
        start + maxSeconds - CUT_SEARCH_SECONDS,
        start + maxSeconds,
      );
      cut.push({ start, end });
      start = end;
    }
    return [...cut, { start, end: range.end }];
  });
}

/** Groups ranges of at most `maxSeconds` into chunks of at most `maxSeconds`. */
export function groupRanges(ranges: readonly TimeRange[], maxSeconds: number): SpeechChunk[] {
  const chunks: SpeechChunk[] = [];
  for (const range of ranges) {
    const chunk = chunks.at(-1);
    const before = chunk?.parts.at(-1);
    const at =
      chunk && before && chunk.seconds + Math.min(MAX_GAP_SECONDS, range.start - before.end);
    const seconds = (at ?? 0) + range.end - range.start;
    if (chunk && at !== undefined && seconds <= maxSeconds) {
      chunk.parts.push({ ...range, at });
      chunk.seconds = seconds;
    } else {
      chunks.push({ parts: [{ ...range, at: 0 }], seconds: range.end - range.start });
    }
  }
  return chunks;
}

/** Concatenates a chunk's samples at `SAMPLE_RATE`. */
export function concatSamples(
  samples: Float32Array,
  { parts, seconds }: SpeechChunk,
): Float32Array<ArrayBuffer> {
  const chunkSamples = new Float32Array(Math.ceil(seconds * SAMPLE_RATE));
  for (const { at, start, end } of parts) {
    const part = samples.subarray(Math.round(start * SAMPLE_RATE), Math.round(end * SAMPLE_RATE));
    const offset = Math.round(at * SAMPLE_RATE);
    chunkSamples.set(part.subarray(0, chunkSamples.length - offset), offset);
  }
  return chunkSamples;
}

/** Maps a range of a chunk to the audio; null if it covers only silence. */
export function toAudioRange({ parts }: SpeechChunk, { start, end }: TimeRange): TimeRange | null {
  const first = parts.find((part) => endOf(part) > start);
  const last = parts.findLast((part) => part.at < end);
  if (!first || !last || last.at < first.at) return null;
  return {
    start: first.start + Math.max(0, start - first.at),
    end: last.start + Math.min(end, endOf(last)) - last.at,
  };
}

function endOf({ at, start, end }: ChunkPart): number {
  return at + end - start;
}

/** Returns the centre of the quietest window between two times. */
function findQuietest(samples: Float32Array, from: number, to: number): number {
  let [quietest, minEnergy] = [to, Infinity];
  for (let time = from; time + CUT_WINDOW_SECONDS <= to; time += CUT_STEP_SECONDS) {
    const offset = Math.round(time * SAMPLE_RATE);
    const window = samples.subarray(offset, offset + CUT_WINDOW_SECONDS * SAMPLE_RATE);
    const energy = window.reduce((sum, value) => sum + value * value, 0);
    if (energy < minEnergy) [quietest, minEnergy] = [time + CUT_WINDOW_SECONDS / 2, energy];
  }
  return quietest;
}
