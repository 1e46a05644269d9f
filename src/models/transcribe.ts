import * as z from "zod";
import { toOneLine } from "../clean-text.ts";
import { MODELS } from "../config.ts";
import { isLanguageTag } from "../language-tag.ts";
import { runModel } from "./run.ts";

const { id, timeoutMs } = MODELS.transcribe;

const text = z.string().overwrite(toOneLine);
const word = z.object({ word: text, start: z.number(), end: z.number() });
const segment = z
  .object({
    start: z.number(),
    end: z.number(),
    text,
    words: z.array(word).nullish(),
    no_speech_prob: z.number().nullish(),
    avg_logprob: z.number().nullish(),
    compression_ratio: z.number().nullish(),
  })
  .transform(({ start, end, text, words, ...fields }) => ({
    start,
    end,
    text,
    /** Empty if the model returns no word timestamps. */
    words: words ?? [],
    /** Whisper's confidence: probability of no speech, mean log probability of the tokens. */
    noSpeechProb: fields.no_speech_prob ?? 0,
    avgLogprob: fields.avg_logprob ?? 0,
    /** Ratio of gzip compression; high for repetitions, which are hallucinations. */
    compressionRatio: fields.compression_ratio ?? 0,
  }));
/** A segment that Whisper returns, about a sentence. Times are seconds of the audio. */
export type AsrSegment = z.output<typeof segment>;
const response = z.object({
  transcription_info: z.object({ language: z.string().nullish() }).nullish(),
  segments: z.array(segment).default([]),
});

export interface AsrResult {
  /** BCP 47 tag; null if the model reports none. */
  language: string | null;
  segments: AsrSegment[];
}

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
