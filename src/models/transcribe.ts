import { z } from "zod";
import { MODELS } from "../config.ts";
import { isLanguageTag } from "../language-tag.ts";
import { runModel } from "./run.ts";

const { id, timeoutMs } = MODELS.transcribe;

/** A segment that Whisper returns, about a sentence. Times are seconds of the audio. */
export interface AsrSegment {
  start: number;
  end: number;
  text: string;
  /** Empty if the model returns no word timestamps. */
  words: { word: string; start: number; end: number }[];
  /** Whisper's confidence values: probability of no speech, mean log probability of the tokens. */
  noSpeechProb: number;
  avgLogprob: number;
  /** Ratio of gzip compression; high for repetitions, which are hallucinations. */
  compressionRatio: number;
}

export interface AsrResult {
  /** BCP 47 tag; null if the model reports none. */
  language: string | null;
  segments: AsrSegment[];
}

const word = z.object({ word: z.string(), start: z.number(), end: z.number() });
const segment = z
  .object({
    start: z.number(),
    end: z.number(),
    text: z.string(),
    words: z.array(word).nullish(),
    no_speech_prob: z.number().nullish(),
    avg_logprob: z.number().nullish(),
    compression_ratio: z.number().nullish(),
  })
  .transform((fields) => ({
    start: fields.start,
    end: fields.end,
    text: fields.text.trim(),
    words: fields.words ?? [],
    noSpeechProb: fields.no_speech_prob ?? 0,
    avgLogprob: fields.avg_logprob ?? 0,
    compressionRatio: fields.compression_ratio ?? 0,
  }));
const response = z.object({
  transcription_info: z.object({ language: z.string().nullish() }).nullish(),
  segments: z.array(segment).default([]),
});

/**
 * Transcribes an audio file of at most a minute. `language` is a BCP 47 tag; null lets the model
 * detect the language.
 */
export async function transcribe(
  ai: Ai,
  audio: Uint8Array,
  language: string | null,
): Promise<AsrResult> {
  const input = {
    audio: Buffer.from(audio).toString("base64"),
    ...(language !== null && { language: new Intl.Locale(language).language }),
    vad_filter: true,
    condition_on_previous_text: false, // otherwise a mistake affects all later segments
  };
  const { transcription_info, segments } = await runModel(ai, id, input, response, timeoutMs);
  const detected = transcription_info?.language ?? "";
  return { language: isLanguageTag(detected) ? detected : null, segments };
}
