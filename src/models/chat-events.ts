import { createParser } from "eventsource-parser";
import { z } from "zod";
import type { TokenUsage } from "./token-usage.ts";

/** One event of a chat model's stream, or a whole response. */
export interface ChatChunk {
  text: string;
  /** Reasoning tokens: billed, but never shown. */
  reasoning: string;
  /** OpenAI's `finish_reason`; null if the stream continues, or if it is unknown. */
  finishReason: string | null;
  usage: TokenUsage | null;
  /** The model's own name. */
  model: string | null;
}

export type ChatEvent = ChatChunk | "done" | "malformed";

const message = z
  .object({
    content: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    reasoning: z.string().nullish(),
  })
  .nullish();
const usage = z
  .object({ prompt_tokens: z.number(), completion_tokens: z.number() })
  .transform((counts) => ({
    inputTokens: counts.prompt_tokens,
    outputTokens: counts.completion_tokens,
  }));
const chunk = z
  .object({
    model: z.string().nullish(),
    // "7" comes as a number
    response: z.union([z.string(), z.number().transform(String)]).nullish(),
    choices: z
      .array(z.object({ delta: message, message, finish_reason: z.string().nullish() }))
      .nullish(),
    usage: usage.nullish().catch(null),
  })
  .refine((event) => "response" in event || "choices" in event || "usage" in event);

/**
 * Parses a chat model's event stream, however its bytes are split. Understands both formats of
 * Workers AI: `{"response": "…"}` of older models, and OpenAI's chunks
 * (https://developers.cloudflare.com/workers-ai/features/streaming/,
 * https://platform.openai.com/docs/api-reference/chat-streaming).
 */
export class ChatEvents {
  readonly #decoder = new TextDecoder();
  #complete: string[] = [];
  readonly #parser = createParser({ onEvent: ({ data }) => this.#complete.push(data) });

  /** Returns the events that these bytes complete. */
  feed(bytes: Uint8Array): ChatEvent[] {
    return this.#parse(this.#decoder.decode(bytes, { stream: true }));
  }

  /**
   * Returns the events that the end of the stream completes: the last blank line may be missing.
   */
  end(): ChatEvent[] {
    return this.#parse(`${this.#decoder.decode()}\n\n`);
  }

  #parse(text: string): ChatEvent[] {
    this.#parser.feed(text);
    const complete = this.#complete;
    this.#complete = [];
    return complete.map(parseEvent);
  }
}

function parseEvent(data: string): ChatEvent {
  if (data.trim() === "[DONE]") return "done";
  const parsed = chunk.safeParse(parseJson(data));
  if (!parsed.success) return "malformed";
  const { model = null, response, choices, usage = null } = parsed.data;
  const [choice] = choices ?? [];
  const content = choice?.delta ?? choice?.message;
  return {
    text: content?.content ?? response ?? "",
    reasoning: content?.reasoning_content ?? content?.reasoning ?? "",
    finishReason: choice?.finish_reason ?? null,
    usage,
    model,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
