import { MODELS } from "../config.ts";
import { AppError } from "../errors.ts";
import { ignoreAfterUse } from "../ignored-errors.ts";
import { type ChatChunk, type ChatEvent, ChatEvents } from "./chat-events.ts";
import { dataUri } from "./data-uri.ts";
import { ReasoningFilter } from "./reasoning.ts";
import { callModel, invalidResponseError, startTimeout, toModelError } from "./run.ts";
import { ChatTokenCounter, type TokenUsage } from "./token-usage.ts";

const { id, maxTokens } = MODELS.answer;
const TEMPERATURE = 0.2;
const INCOMPLETE_REASONS = new Set(["length", "content_filter"]);

export interface Prompt {
  system: string;
  /** Parts of the user message, in order. Without images they are joined with blank lines. */
  content: ({ text: string } | { jpeg: Uint8Array })[];
  temperature?: number;
  topP?: number;
}

export interface GeneratedText {
  /** The whole text; may be empty. */
  text: string;
  /** The model's own name, or its id. */
  model: string;
  /** Tokens as the model reports them, or estimated. */
  usage: TokenUsage;
  /** False if the text was cut off at the token limit, or filtered. */
  isComplete: boolean;
}

/** Time limits in milliseconds: until the first text, and for the whole stream. */
export interface GenerateLimits {
  firstTokenMs: number;
  timeoutMs: number;
}

type ChatInput = AiModels[typeof id]["inputs"] & { stream: true };

/**
 * Streams a chat model's text without its reasoning. A stream is always requested; a model that
 * returns a whole response instead is read, too.
 *
 * Throws `upstream_timeout` at a time limit, `upstream_failed` for a stream that ends early or
 * isn't a chat model's, the errors of `callModel`, and the reason of `signal` once that aborts.
 * Cancels the model's stream at once when `signal` aborts, and when the caller stops between two
 * chunks. A `return()` while a chunk is awaited waits for that chunk.
 */
export async function* generate(
  ai: Ai,
  prompt: Prompt,
  signal?: AbortSignal,
  limits: GenerateLimits = MODELS.answer,
): AsyncGenerator<string, GeneratedText> {
  const input = toInput(prompt);
  const firstToken = startTimeout(id, limits.firstTokenMs);
  const whole = startTimeout(id, limits.timeoutMs);
  const signals = [firstToken.signal, whole.signal, ...(signal ? [signal] : [])];
  const reasoning = new ReasoningFilter();
  const tokens = new ChatTokenCounter(input);
  let text = "";
  let model: string = id;
  let finishReason: string | null = null;
  try {
    for await (const chunk of readChunks(ai, input, AbortSignal.any(signals))) {
      tokens.add(chunk);
      model = chunk.model ?? model;
      finishReason = chunk.finishReason ?? finishReason;
      const visible = reasoning.remove(chunk.text);
      if (visible === "") continue;
      firstToken.clear();
      text += visible;
      yield visible;
    }
    const rest = reasoning.end();
    text += rest;
    if (rest !== "") yield rest;
  } finally {
    firstToken.clear();
    whole.clear();
  }
  return {
    text,
    model,
    usage: tokens.usage,
    isComplete: !INCOMPLETE_REASONS.has(finishReason ?? ""),
  };
}

function toInput({ system, content, temperature = TEMPERATURE, topP }: Prompt): ChatInput {
  const texts = content.map((part) => ("text" in part ? part.text : null));
  return {
    messages: [
      { role: "system", content: system },
      {
        role: "user",
        content: texts.includes(null) ? content.map(toPart) : texts.join("\n\n"),
      },
    ],
    max_tokens: maxTokens,
    temperature,
    ...(topP !== undefined && { top_p: topP }),
    stream: true,
    stream_options: { include_usage: true },
    chat_template_kwargs: { enable_thinking: false },
  };
}

function toPart(part: Prompt["content"][number]) {
  if ("text" in part) return { type: "text" as const, text: part.text };
  return { type: "image_url" as const, image_url: { url: dataUri(part.jpeg) } };
}

/** Reads the model's stream. Cancels it when `signal` aborts, or when the caller stops reading. */
async function* readChunks(
  ai: Ai,
  input: ChatInput,
  signal: AbortSignal,
): AsyncGenerator<ChatChunk> {
  signal.throwIfAborted();
  const reader = toStream(await callModel(ai, id, input, signal)).getReader();
  const cancel = () => void reader.cancel().catch(ignoreAfterUse);
  signal.addEventListener("abort", cancel);
  if (signal.aborted) cancel();
  let isFinished = false;
  try {
    for await (const event of readEvents(reader, signal)) {
      if (event === "malformed") throw invalidResponseError(id);
      if (event === "done") return;
      isFinished ||= event.finishReason !== null;
      yield event;
    }
    if (!isFinished) {
      throw new AppError("upstream_failed", `The stream of the model ${id} ended early.`);
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

async function* readEvents(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  const events = new ChatEvents();
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      signal.throwIfAborted();
      throw toModelError(id, error);
    });
    signal.throwIfAborted();
    yield* done ? events.end() : events.feed(value);
    if (done) return;
  }
}

/** Converts a whole response to a stream of one event. */
function toStream(response: unknown): ReadableStream<Uint8Array> {
  if (response instanceof ReadableStream) return response;
  const { body } = new Response(`data: ${JSON.stringify(response)}\n\ndata: [DONE]\n\n`);
  if (!body) throw invalidResponseError(id);
  return body;
}
