import * as z from "zod";
import { aiError, requestAi, type EngineEnv, noSuchModel } from "./engine-client.ts";

type Output = Ai_Cf_Openai_Whisper_Large_V3_Turbo_Output;

const Input = z.object({
  audio: z.base64().min(1),
  task: z.enum(["transcribe", "translate"]).default("transcribe"),
  language: z
    .string()
    .regex(/^[a-z]{2,3}$/)
    .optional(),
});

const TimeFields = { start: z.number(), end: z.number() };
const Recognized = z.object({
  language: z.string().nullable(),
  duration_seconds: z.number(),
  segments: z.array(
    z.object({
      ...TimeFields,
      text: z.string(),
      words: z.array(z.object({ ...TimeFields, word: z.string() })).default([]),
    }),
  ),
});
type Recognized = z.infer<typeof Recognized>;

/**
 * Transcribes audio in Whisper's response format, without the confidence fields that other
 * recognisers lack.
 */
export async function transcribeAudio(
  env: EngineEnv,
  model: string,
  inputs: unknown,
): Promise<Output> {
  const input = Input.safeParse(inputs);
  if (!input.success) throw aiError(`5006: Error: ${z.prettifyError(input.error)}`);
  const { audio, task, language } = input.data;
  if (task === "translate") throw noSuchModel(model);
  const query = language === undefined ? "" : `?language=${language}`;
  const bytes = Buffer.from(audio, "base64");
  const recognized = Recognized.parse(await requestAi(env, model, `/transcribe${query}`, bytes));
  const text = recognized.segments.map((segment) => segment.text).join(" ");
  return {
    transcription_info: {
      ...(recognized.language !== null && { language: recognized.language }),
      duration: recognized.duration_seconds,
    },
    text,
    word_count: text.split(/\s+/).filter(Boolean).length,
    segments: recognized.segments,
    vtt: toWebVtt(recognized.segments),
  };
}

function toWebVtt(segments: Recognized["segments"]): string {
  const cues = segments.map(
    ({ start, end, text }) => `${formatTimestamp(start)} --> ${formatTimestamp(end)}\n${text}\n`,
  );
  return ["WEBVTT\n", ...cues].join("\n");
}

/** Formats seconds as `00:01:02.345`. */
function formatTimestamp(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23);
}
