import { failureOf, isRetryable, traceOf } from "../../errors.ts";
import { append } from "../../lists.ts";
import { log } from "../../log.ts";
import { cutAudio } from "../../media/container/audio.ts";
import { openContainer } from "../../media/container/open-container.ts";
import { measurePeaksExternally, hasDecoder } from "../../media/decoder.ts";
import { cellRange, cellsOf } from "../../media/waveform.ts";
import { transcribe } from "../../models/transcribe.ts";
import { mediaKey } from "../../store/r2/object-keys.ts";
import { putAnalysisBytes } from "../../store/r2/window-analysis.ts";
import { type RecognizedChunk, putRecognized } from "../../store/transcripts.ts";
import type { TimeRange } from "../../time-range.ts";
import type { Asset } from "../../types.ts";
import {
  countAudioChunks,
  chunkCues,
  type AudioChunk,
  audioChunkAt,
} from "../transcript/audio-chunks.ts";

/** Attempts to measure a part. After them, the asset becomes ready without a waveform. */
const MAX_ATTEMPTS = 3;

/**
 * Measures the amplitudes of one part of sound without pictures, and stores them for the steps that
 * follow. Nothing is stored without a decoder, or of a part that it can't decode.
 */
export async function measureAudio(env: Env, asset: Asset, part: number, attempt: number) {
  if (!hasDecoder(env)) return;
  try {
    const amplitudes = await measurePart(env, asset, part);
    await putAnalysisBytes(env.MEDIA, asset, part, "amplitudes", amplitudes);
  } catch (error) {
    if (attempt < MAX_ATTEMPTS && isRetryable(error, attempt)) throw error;
    const fields = { asset: asset.assetId, part, code: failureOf(error).code };
    log("warn", "ingest.amplitudes_unavailable", { ...fields, cause: traceOf(error) });
  }
}

async function measurePart(env: Env, asset: Asset, part: number): Promise<Uint8Array> {
  const { count, cellMs } = cellsOf(asset.durationMs);
  const { from, to } = cellRange(count, part, countAudioChunks(asset));
  const range = { start: (from * cellMs) / 1000, end: (to * cellMs) / 1000 };
  using input = await openContainer(env.MEDIA, mediaKey(asset), range);
  const amplitudes = new Uint8Array(to - from);
  for (const { bytes, startSeconds } of input.audio ? await cutAudio(input.audio, range) : []) {
    const start = range.start - startSeconds;
    const cells = { start, step: cellMs / 1000, count: amplitudes.length };
    const measured = await measurePeaksExternally(env, new Blob([bytes]), cells);
    for (const [i, amplitude] of measured.entries()) {
      amplitudes[i] = Math.max(amplitudes[i]!, amplitude);
    }
  }
  return amplitudes;
}

/**
 * Recognises the speech of one audio chunk of a video. A failure that no retry can change is stored
 * with the chunk.
 */
export async function recognizeSpeech(env: Env, asset: Asset, part: number, attempt: number) {
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
      append(recognized.cues, chunkCues(shifted, chunk));
      recognized.language ??= language;
    }
    return recognized;
  } catch (error) {
    if (isRetryable(error, attempt)) throw error;
    return { ...noSpeech(), error: failureOf(error) };
  }
}

function shift<Segment extends TimeRange & { words: TimeRange[] }>(segment: Segment, by: number) {
  const move = <Range extends TimeRange>(range: Range): Range => {
    return { ...range, start: range.start + by, end: range.end + by };
  };
  return { ...move(segment), words: segment.words.map(move) };
}
