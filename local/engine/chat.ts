import * as z from "zod";
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

/** A request with OpenAI's field names. Images are `data:` URLs. */
export type ChatRequest = z.infer<typeof Request>;

export interface ChatAnswer {
  /** Name of the model that answered. */
  model: string;
  text: string;
  promptTokens: number;
  completionTokens: number;
  finishReason: "stop" | "length";
}

/** A language model that accepts text and images. */
export interface ChatModel {
  /** Calls `onText` with each text delta. Errors: `upstream_failed`, `upstream_refused`. */
  answer(
    request: ChatRequest,
    onText: (delta: string) => void,
    signal: AbortSignal,
  ): Promise<ChatAnswer>;
}

/** Parses a JSON body. Errors: `bad_request`. */
export function parseChatRequest(body: Buffer): ChatRequest {
  try {
    return Request.parse(JSON.parse(body.toString("utf8")));
  } catch (cause) {
    const message = 'The body is JSON with "messages" of text and images (data: URLs).';
    throw new EngineError("bad_request", message, { cause });
  }
}
