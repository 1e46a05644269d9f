import { z } from "zod";
import { aiError, askForAi, type EngineEnv, noSuchModel } from "./engine-client.ts";

type Output = Ai_Cf_Openai_Whisper_Large_V3_Turbo_Output;

const Input = z.object({
  audio: z.base64().min(1),
  task: z.enum(["transcribe", "translate"]).default("transcribe"),
  language: z
    .string()
    .regex(/^[a-z]{2,3}$/)
    .optional(),
});

const Timed = { start: z.number(), end: z.number() };
const Heard = z.object({
  language: z.string().nullable(),
  duration_seconds: z.number(),
  segments: z.array(
    z.object({
      ...Timed,
      text: z.string(),
      words: z.array(z.object({ ...Timed, word: z.string() })).default([]),
    }),
  ),
});
type Heard = z.infer<typeof Heard>;

/** Whisper's answer about a sound file, without the doubts of its own that other recognisers lack. */
export async function transcribeSound(
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
  const heard = Heard.parse(await askForAi(env, model, `/transcribe${query}`, bytes));
  const text = heard.segments.map((segment) => segment.text).join(" ");
  return {
    transcription_info: {
      ...(heard.language !== null && { language: heard.language }),
      duration: heard.duration_seconds,
    },
    text,
    word_count: text.split(/\s+/).filter(Boolean).length,
    segments: heard.segments,
    vtt: toWebVtt(heard.segments),
  };
}

function toWebVtt(segments: Heard["segments"]): string {
  const cues = segments.map(
    ({ start, end, text }) => `${clock(start)} --> ${clock(end)}\n${text}\n`,
  );
  return ["WEBVTT\n", ...cues].join("\n");
}

/** `00:01:02.345` */
function clock(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23);
}
