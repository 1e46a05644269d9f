import { createParser } from "eventsource-parser";
import { z } from "zod";
import type { TokenUse } from "./tokens.ts";

/** One event of a chat model's stream, or a whole answer. */
export interface ChatChunk {
  text: string;
  /** What it thinks aloud: not for anybody's eyes, but paid for. */
  thought: string;
  /** Why it ended, in OpenAI's words; null where it goes on, or the model doesn't say. */
  finish: string | null;
  usage: TokenUse | null;
  /** As the model calls itself. */
  model: string | null;
}

export type ChatEvent = ChatChunk | "done" | "malformed";

const said = z
  .object({
    content: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    reasoning: z.string().nullish(),
  })
  .nullish();
const usage = z
  .object({ prompt_tokens: z.number(), completion_tokens: z.number() })
  .transform((told) => ({ inputTokens: told.prompt_tokens, outputTokens: told.completion_tokens }));
const chunk = z
  .object({
    model: z.string().nullish(),
    response: z.union([z.string(), z.number().transform(String)]).nullish(), // "7" comes as a number
    choices: z
      .array(z.object({ delta: said, message: said, finish_reason: z.string().nullish() }))
      .nullish(),
    usage: usage.nullish().catch(null),
  })
  .refine((given) => "response" in given || "choices" in given || "usage" in given);

/**
 * The events of a chat model's stream, cut wherever its bytes are. Both of Workers AI's styles:
 * `{"response": "…"}` of the older models, and OpenAI's chunks
 * (https://developers.cloudflare.com/workers-ai/features/streaming/,
 * https://platform.openai.com/docs/api-reference/chat-streaming).
 */
export class ChatEvents {
  readonly #decoder = new TextDecoder();
  #complete: string[] = [];
  readonly #parser = createParser({ onEvent: ({ data }) => this.#complete.push(data) });

  /** What these bytes complete. */
  feed(bytes: Uint8Array): ChatEvent[] {
    return this.#parse(this.#decoder.decode(bytes, { stream: true }));
  }

  /** What the end of the stream completes: an event without its blank line. */
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
  const spoken = choice?.delta ?? choice?.message;
  return {
    text: spoken?.content ?? response ?? "",
    thought: spoken?.reasoning_content ?? spoken?.reasoning ?? "",
    finish: choice?.finish_reason ?? null,
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
