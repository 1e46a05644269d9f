import { ASR } from "../../config.ts";
import type { AsrSegment } from "../../models/transcribe.ts";
import type { TimeRange } from "../../time-range.ts";
import type { Asset, Cue } from "../../types.ts";

/** A part of a video's audio, in seconds of the video. Chunks of a video have no gap or overlap. */
export interface AudioChunk extends TimeRange {
  /** The chunk with `ASR.overlapSeconds` on either side, so that no word is cut in two. */
  clip: TimeRange;
}

type AudioFacts = Pick<Asset, "durationMs" | "hasAudio" | "technical">;

/** Returns the number of model calls that a video's audio takes: 0 without audio. */
export function countAudioChunks({ durationMs, hasAudio, technical }: AudioFacts): number {
  if (hasAudio !== true) return 0;
  const bytesPerSecond = Number(technical["audio_bitrate"] ?? 0) / 8;
  const maxSeconds = bytesPerSecond > 0 ? ASR.maxChunkBytes / bytesPerSecond : Infinity;
  const chunkSeconds = Math.max(ASR.minChunkSeconds, Math.min(ASR.maxChunkSeconds, maxSeconds));
  return Math.max(1, Math.ceil(durationMs / 1000 / chunkSeconds));
}

export function audioChunkAt(asset: AudioFacts, part: number): AudioChunk {
  const durationSeconds = asset.durationMs / 1000;
  const boundary = (index: number) => (index * durationSeconds) / countAudioChunks(asset);
  const [start, end] = [boundary(part), boundary(part + 1)];
  const clip = {
    start: Math.max(0, start - ASR.overlapSeconds),
    end: Math.min(durationSeconds, end + ASR.overlapSeconds),
  };
  return { start, end, clip };
}

/**
 * Converts recognised segments, in seconds of the video, to the cues of a chunk. Words, or whole
 * segments whose words have no times, belong to the chunk that holds their middle. Drops segments
 * that the model made up in silence or repeated over and over, by the thresholds of Whisper's own
 * decoder (Radford et al., 2022, section 4.5).
 */
export function chunkCues(segments: AsrSegment[], chunk: AudioChunk): Cue[] {
  const isInChunk = ({ start, end }: TimeRange) => {
    const middle = (start + end) / 2;
    return middle >= chunk.start && middle < chunk.end;
  };
  return segments.filter(isPlausible).flatMap(({ start, end, text, words }) => {
    const chunkWords = words.filter(isInChunk);
    const [first, last] = [chunkWords[0], chunkWords.at(-1)];
    if (first && last) {
      const chunkText = chunkWords.map(({ word }) => word.trim()).join(" ");
      return [{ start: first.start, end: last.end, text: chunkText }];
    }
    return words.length === 0 && isInChunk({ start, end }) ? [{ start, end, text }] : [];
  });
}

/** Merges the cues of all chunks in order. Of three or more equal cues in a row the first stays. */
export function mergeCues(chunks: Cue[][]): Cue[] {
  const cues = chunks.flat().toSorted((a, b) => a.start - b.start);
  const isRepeat = (a: Cue | undefined, b: Cue | undefined) => a?.text === b?.text;
  return cues.filter((cue, i) => {
    const [before, before2, after, after2] = [cues[i - 1], cues[i - 2], cues[i + 1], cues[i + 2]];
    const isRun =
      (isRepeat(cue, before) && isRepeat(cue, after)) ||
      (isRepeat(cue, before) && isRepeat(cue, before2)) ||
      (isRepeat(cue, after) && isRepeat(cue, after2));
    return !isRun || !isRepeat(cue, before);
  });
}

/** Whether a segment is neither made up in silence nor repetitive. */
function isPlausible({ text, noSpeechProb, avgLogprob, compressionRatio }: AsrSegment): boolean {
  const isSilence = noSpeechProb > ASR.maxNoSpeechProb && avgLogprob < ASR.minAvgLogprob;
  return text !== "" && !isSilence && compressionRatio <= ASR.maxCompressionRatio;
}
