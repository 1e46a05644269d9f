import { failureOf, isRetryable } from "../../errors.ts";
import { cutAudio } from "../../media/container/audio.ts";
import { openContainer } from "../../media/container/open-container.ts";
import { transcribe } from "../../models/transcribe.ts";
import { mediaKey } from "../../store/r2/object-keys.ts";
import { type RecognizedChunk, putRecognized } from "../../store/transcripts.ts";
import type { TimeRange } from "../../time-range.ts";
import type { Asset } from "../../types.ts";
import { chunkCues, type AudioChunk, audioChunkAt } from "../transcript/audio-chunks.ts";

/**
 * Recognises the speech of one audio chunk of a video. A failure that no retry can change is stored
 * with the chunk.
 */
export async function recognizeSpeech(
  env: Env,
  asset: Asset,
  part: number,
  attempt: number,
): Promise<void> {
  const recognized = await recognizeChunk(env, asset, audioChunkAt(asset, part), attempt);
  await putRecognized(env.MEDIA, asset, part, recognized);
}

async function recognizeChunk(
  env: Env,
  asset: Asset,
  chunk: AudioChunk,
  attempt: number,
): Promise<RecognizedChunk> {
  const noSpeech = () => ({ language: null, cues: [], error: null });
  try {
    using input = await openContainer(env.MEDIA, mediaKey(asset), chunk.clip);
    const clips = input.audio ? await cutAudio(input.audio, chunk.clip) : [];
    const recognized: RecognizedChunk = noSpeech();
    for (const { bytes, startSeconds } of clips) {
      const { language, segments } = await transcribe(env.AI, bytes, asset.language);
      const shifted = segments.map((segment) => shift(segment, startSeconds));
      recognized.cues.push(...chunkCues(shifted, chunk));
      recognized.language ??= language;
    }
    return recognized;
  } catch (error) {
    if (isRetryable(error, attempt)) throw error;
    return { ...noSpeech(), error: failureOf(error) };
  }
}

/** Moves a segment and its words from the time of a clip to the time of the video. */
function shift<Segment extends TimeRange & { words: TimeRange[] }>(
  segment: Segment,
  bySeconds: number,
): Segment {
  const move = <Range extends TimeRange>(range: Range): Range => ({
    ...range,
    start: range.start + bySeconds,
    end: range.end + bySeconds,
  });
  return { ...move(segment), words: segment.words.map(move) };
}
