import { z } from "zod";
import { aiError, askForAi, askForAiResponse, type EngineEnv } from "./engine-client.ts";
import { fillSchema } from "./answer-schema.ts";
import { completion, usageOf } from "./completion.ts";
import { pictureBytes } from "./picture-bytes.ts";
import { sayInEvents, sayWhole } from "./scripted-chat.ts";
import type { ScriptedCall } from "./scripts.ts";

const PICTURE_TOKENS = 256; // what Gemma makes of one picture

const Part = z.object({
  type: z.string(),
  text: z.string().optional(),
  image_url: z.object({ url: z.string() }).optional(),
});
const Input = z.object({
  messages: z
    .array(z.object({ role: z.string(), content: z.union([z.string(), z.array(Part)]).nullish() }))
    .min(1),
  response_format: z
    .object({ type: z.string(), json_schema: z.record(z.string(), z.unknown()).optional() })
    .optional(),
  stream: z.boolean().optional(),
});
type Part = z.infer<typeof Part>;

const Description = z.object({
  caption: z.string(),
  caption_model: z.string(),
  text: z.string(),
  labels: z.array(z.string()),
  objects: z.array(
    z.object({
      label: z.string(),
      score: z.number(),
      box: z.tuple([z.number(), z.number(), z.number(), z.number()]),
    }),
  ),
});

/** Completion, or its bytes as server-sent events where `stream` is asked for. */
export type ChatOutput = ChatCompletionsOutput | ReadableStream<Uint8Array>;

/**
 * A chat completion. Facts about one picture in JSON come from what the engine sees; anything else
 * from its language model, and where it has none it is a task that isn't there (5007). What a test
 * wrote is said in place of both, to inputs that production would take.
 */
export async function chat(
  env: EngineEnv,
  model: string,
  inputs: unknown,
  scripted: ScriptedCall | null = null,
): Promise<ChatOutput> {
  const input = Input.safeParse(inputs);
  if (!input.success) throw aiError(`5006: Error: ${z.prettifyError(input.error)}`);
  const { messages, response_format: format, stream } = input.data;
  if (stream && format) throw aiError("5006: Error: JSON mode doesn't support streaming");
  const parts = messages.flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []),
  );
  const pictures = parts.flatMap((part) =>
    part.type === "image_url" ? [pictureBytes(part.image_url?.url ?? "")] : [],
  );
  const asked = parts.reduce((sum, part) => sum + (part.text?.length ?? 0), 0);
  const usage = (answer: string) => usageOf(asked, answer.length, pictures.length * PICTURE_TOKENS);
  if (scripted) {
    const { reply, onCancel } = scripted;
    const spent = usage(reply.text + (reply.thinks ?? ""));
    return stream && reply.style !== "whole"
      ? sayInEvents(model, reply, spent, onCancel)
      : sayWhole(model, reply, spent);
  }
  const [picture] = pictures;
  const schema = format?.json_schema;
  if (picture && pictures.length === 1 && schema) {
    const described = await describePicture(env, model, picture);
    const filled = fillSchema(schema, described.facts);
    if (filled) {
      const content = JSON.stringify(filled);
      return completion({ model: described.captionModel, content, usage: usage(content) });
    }
  }
  const body = JSON.stringify(inputs);
  const response = await askForAiResponse(env, model, "/v1/chat/completions", body);
  if (stream && response.body) return response.body;
  const answer: ChatCompletionsOutput = await response.json();
  return answer;
}

async function describePicture(env: EngineEnv, model: string, picture: Uint8Array) {
  const answer = await askForAi(env, model, "/describe", picture);
  const { caption_model: captionModel, objects, ...rest } = Description.parse(answer);
  const pointed = objects.map(({ label, score, box }) => ({ label, score, box_2d: gemmaBox(box) }));
  return { captionModel, facts: { ...rest, objects: pointed } };
}

/** `[x_min, y_min, x_max, y_max]` as fractions → `[y_min, x_min, y_max, x_max]` in thousandths. */
function gemmaBox([xMin, yMin, xMax, yMax]: [number, number, number, number]): number[] {
  return [yMin, xMin, yMax, xMax].map((fraction) =>
    Math.round(Math.min(Math.max(fraction, 0), 1) * 1000),
  );
}
