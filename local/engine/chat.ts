import { z } from "zod";
import { EngineError } from "./errors.ts";

const Part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
]);
const Message = z.object({
  role: z.enum(["system", "user", "assistant"]),
  content: z.union([z.string(), z.array(Part)]),
});
const Request = z.object({
  messages: z.array(Message).min(1),
  max_tokens: z.int().min(1).optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  stream: z.boolean().default(false),
  response_format: z.looseObject({ type: z.string() }).optional(),
});

export type ChatMessage = z.infer<typeof Message>;

/** What is asked of a language model, in OpenAI's names. Pictures are `data:` addresses. */
export type ChatRequest = z.infer<typeof Request>;

export interface ChatAnswer {
  /** The model that answered, as it calls itself. */
  model: string;
  text: string;
  promptTokens: number;
  completionTokens: number;
  finishReason: "stop" | "length";
}

/** A language model that may be shown pictures. */
export interface ChatModel {
  /** Gives each piece of text to `onText` as it comes. Errors: `upstream_failed`, `upstream_refused`. */
  answer(
    request: ChatRequest,
    onText: (piece: string) => void,
    signal: AbortSignal,
  ): Promise<ChatAnswer>;
}

/** Errors: `bad_request`. */
export function parseChatRequest(body: Buffer): ChatRequest {
  try {
    return Request.parse(JSON.parse(body.toString("utf8")));
  } catch (cause) {
    const message = 'The body is JSON with "messages" of text and pictures (data: addresses).';
    throw new EngineError("bad_request", message, { cause });
  }
}
