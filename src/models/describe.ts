import { MODELS } from "../config.ts";
import { AppError } from "../errors.ts";
import { DESCRIBE_IMAGE } from "../prompts.ts";
import type { Description } from "../types.ts";
import { dataUri } from "./data-uri.ts";
import { DESCRIPTION_SCHEMA, readDescription } from "./read-description.ts";
import { observeForms, runStructuredChat, type StructuredChat } from "./structured-chat.ts";

/** `captionModel` of a template caption: detected labels in a sentence, written by no model. */
export const TEMPLATE = "template";

/** Temperatures of the first call, and of a second one if the reply can't be read. */
const TEMPERATURES = [0, 0.7] as const;

/**
 * Describes a JPEG in one structured model call: caption, on-screen text, labels and boxes. Asks
 * once more, at another temperature, if the reply has no caption; then throws
 * `model_output_unreadable`. Throws the errors of `runStructuredChat`.
 */
export async function describeImage(ai: Ai, jpeg: Uint8Array): Promise<Description> {
  const { id, timeoutMs } = MODELS.describe;
  for (const temperature of TEMPERATURES) {
    const reply = await runStructuredChat(ai, id, toChat(jpeg, temperature), timeoutMs);
    const description = readDescription(reply.content);
    if (description) return { model: reply.model, ...description };
  }
  const message = `The model ${id} described the image twice in a form that can't be read.`;
  throw new AppError("model_output_unreadable", message);
}

/** Requests the description of a JPEG in each form of a request for JSON. */
export function observeDescriptions(ai: Ai, jpeg: Uint8Array) {
  const { id, timeoutMs } = MODELS.describe;
  return observeForms(ai, id, toChat(jpeg, TEMPERATURES[0]), timeoutMs);
}

function toChat(jpeg: Uint8Array, temperature: number): StructuredChat {
  const content = [
    { type: "text", text: DESCRIBE_IMAGE },
    { type: "image_url", image_url: { url: dataUri(jpeg) } },
  ];
  const { maxTokens } = MODELS.describe;
  const messages = [{ role: "user", content }];
  return { messages, schema: DESCRIPTION_SCHEMA, maxTokens, temperature };
}
