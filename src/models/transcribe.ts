import { z } from "zod";
import { MODELS } from "../config.ts";
import { runModel } from "./run.ts";

const { id, timeoutMs } = MODELS.transcribe;

/** A sentence or so that was heard. Times in seconds of the sound. */
export interface Spoken {
  start: number;
  end: number;
  text: string;
  /** Empty where the model gives no times of words. */
  words: { word: string; start: number; end: number }[];
  /** The model's doubts: probability that nobody speaks, mean log probability of the words, gzip's ratio. */
  noSpeech: number;
  logProbability: number;
  compression: number;
}

export interface Speech {
  /** BCP-47; null where the model doesn't say. */
  language: string | null;
  spoken: Spoken[];
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
  .transform((one) => ({
    start: one.start,
    end: one.end,
    text: one.text.trim(),
    words: one.words ?? [],
    noSpeech: one.no_speech_prob ?? 0,
    logProbability: one.avg_logprob ?? 0,
    compression: one.compression_ratio ?? 0,
  }));
const answer = z.object({
  transcription_info: z.object({ language: z.string().nullish() }).nullish(),
  segments: z.array(segment).default([]),
});

/**
 * What is said in a sound file of a minute or less. `language` (BCP-47) is told to the model where it
 * is known; it finds it out otherwise.
 */
export async function transcribe(
  ai: Ai,
  sound: Uint8Array,
  language: string | null,
): Promise<Speech> {
  const input = {
    audio: Buffer.from(sound).toString("base64"),
    ...(language !== null && { language: new Intl.Locale(language).language }),
    vad_filter: true,
    condition_on_previous_text: false, // a mistake doesn't run on
  };
  const { transcription_info, segments } = await runModel(ai, id, input, answer, timeoutMs);
  return { language: transcription_info?.language ?? null, spoken: segments };
}
