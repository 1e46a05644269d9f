import * as z from "zod";
import { fillSchema } from "./answer-schema.ts";
import { CHARACTERS_PER_TOKEN, completion, usageOf } from "./completion.ts";
import { aiError, requestAi, requestAiResponse, type EngineEnv } from "./engine-client.ts";
import { imageBytes } from "./image-bytes.ts";
import { JSON_FORMS, type JsonForm, requestedSchema } from "./json-format.ts";
import { streamReply, completeReply } from "./scripted-chat.ts";
import type { ScriptedCall } from "./scripted-replies.ts";

const IMAGE_TOKENS = 256; // tokens that Gemma counts for one image
/** Least tokens of a description: a real one is longer than the engine's. */
const DESCRIPTION_TOKENS = 400;

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

/** A completion, or its bytes as server-sent events if the input sets `stream`. */
export type ChatOutput = ChatCompletionsOutput | ReadableStream<Uint8Array>;

/**
 * Returns a chat completion. JSON facts about a single image come from the engine's `/describe`.
 * Everything else comes from the engine's language model; without one the call fails with 5007. A
 * scripted reply of a test replaces both, after the same validation of the inputs. A request for
 * JSON in another form than `acceptedForms` fails with 5006.
 */
export async function chat(
  env: EngineEnv,
  model: string,
  inputs: unknown,
  scripted: ScriptedCall | null = null,
  acceptedForms: readonly JsonForm[] = JSON_FORMS,
): Promise<ChatOutput> {
  const input = Input.safeParse(inputs);
  if (!input.success) throw aiError(`5006: Error: ${z.prettifyError(input.error)}`);
  const { messages, response_format: format, stream } = input.data;
  if (stream && format) throw aiError("5006: Error: JSON mode doesn't support streaming");
  const parts = messages.flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []),
  );
  const images = parts.flatMap((part) =>
    part.type === "image_url" ? [imageBytes(part.image_url?.url ?? "")] : [],
  );
  const prompt = parts.map((part) => part.text ?? "").join("\n");
  const schema = requestedSchema(format, prompt, acceptedForms);
  const usage = (answer: string) =>
    usageOf(prompt.length, answer.length, images.length * IMAGE_TOKENS);
  if (scripted) {
    const { reply, onCancel } = scripted;
    const tokenUsage = usage(reply.text + (reply.reasoning ?? ""));
    return stream && reply.style !== "whole"
      ? streamReply(model, reply, tokenUsage, onCancel)
      : completeReply(model, reply, tokenUsage);
  }
  const [image] = images;
  if (image && images.length === 1 && schema) {
    const described = await describeImage(env, model, image);
    const filled = fillSchema(schema, described.facts);
    if (filled) {
      const content = JSON.stringify(filled);
      const reply = content.padEnd(DESCRIPTION_TOKENS * CHARACTERS_PER_TOKEN);
      return completion({ model: described.captionModel, content, usage: usage(reply) });
    }
  }
  const body = JSON.stringify(inputs);
  const response = await requestAiResponse(env, model, "/v1/chat/completions", body);
  if (stream && response.body) return response.body;
  const answer: ChatCompletionsOutput = await response.json();
  return answer;
}

async function describeImage(env: EngineEnv, model: string, image: Uint8Array) {
  const answer = await requestAi(env, model, "/describe", image);
  const { caption_model: captionModel, objects, ...rest } = Description.parse(answer);
  const gemmaObjects = objects.map(({ label, score, box }) => ({
    label,
    score,
    box_2d: gemmaBox(box),
  }));
  return { captionModel, facts: { ...rest, objects: gemmaObjects } };
}

/** `[x_min, y_min, x_max, y_max]` as fractions → `[y_min, x_min, y_max, x_max]` in thousandths. */
function gemmaBox([xMin, yMin, xMax, yMax]: [number, number, number, number]): number[] {
  return [yMin, xMin, yMax, xMax].map((fraction) =>
    Math.round(Math.min(Math.max(fraction, 0), 1) * 1000),
  );
}
