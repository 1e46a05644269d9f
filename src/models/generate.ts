import { createParser } from "eventsource-parser";
import * as z from "zod";
import { MODELS } from "../config.ts";
import { countOf } from "../counts.ts";
import { AppError } from "../errors.ts";
import { ignoreAfterUse } from "../ignored-errors.ts";
import { parseJsonText } from "../json-parse.ts";
import {
  callModel,
  countTokens,
  dataUri,
  estimateTokens,
  invalidResponseError,
  startTimeout,
  type TokenUsage,
  toModelError,
} from "./run.ts";

const { id, maxTokens } = MODELS.answer;
const TEMPERATURE = 0.2;
const INCOMPLETE_REASONS = new Set(["length", "content_filter"]);

export interface Prompt {
  system: string;
  /** Parts of the user message, in order. Without images they are joined with blank lines. */
  content: ({ text: string } | { jpeg: Uint8Array })[];
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
    for await (const chunk of readChunks(ai, input, tokens, AbortSignal.any(signals))) {
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

function toInput({ system, content, topP }: Prompt): ChatInput {
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
    temperature: TEMPERATURE,
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

/**
 * Reads the model's stream. Cancels it when `signal` aborts, or when the caller stops reading, and
 * then counts its tokens, which are added to `tokens`.
 */
async function* readChunks(
  ai: Ai,
  input: ChatInput,
  tokens: ChatTokenCounter,
  signal: AbortSignal,
): AsyncGenerator<ChatChunk> {
  signal.throwIfAborted();
  const reader = toStream(await callModel(ai, id, input, signal)).getReader();
  let isCounted = false;
  const cancel = () => {
    void reader.cancel().catch(ignoreAfterUse);
    if (!isCounted) countTokens(countOf(ai), id, tokens.usage);
    isCounted = true;
  };
  const read = async () => {
    const result = await reader.read().catch((error: unknown) => {
      signal.throwIfAborted();
      throw toModelError(id, error);
    });
    signal.throwIfAborted();
    return result;
  };
  signal.addEventListener("abort", cancel);
  if (signal.aborted) cancel();
  try {
    for await (const chunk of parseChunks(read)) {
      tokens.add(chunk);
      yield chunk;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

/** JSON mode may give the object itself, and "7" comes as a number. */
const content = z.union([
  z.string(),
  z.number().transform(String),
  z.looseObject({}).transform((json) => JSON.stringify(json)),
]);
const message = z
  .object({
    content: content.nullish(),
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
export const chatChunk = z
  .object({
    model: z.string().nullish(),
    response: content.nullish(),
    choices: z
      .array(z.object({ delta: message, message, finish_reason: z.string().nullish() }))
      .nullish(),
    usage: usage.nullish().catch(null),
  })
  .refine((event) => "response" in event || "choices" in event || "usage" in event)
  .transform(({ model = null, response, choices, usage = null }) => {
    const [choice] = choices ?? [];
    const written = choice?.delta ?? choice?.message;
    return {
      text: written?.content ?? response ?? "",
      /** Reasoning tokens: billed, but never shown. */
      reasoning: written?.reasoning_content ?? written?.reasoning ?? "",
      /** OpenAI's `finish_reason`; null if the stream continues, or if it is unknown. */
      finishReason: choice?.finish_reason ?? null,
      usage,
      model,
    };
  });
/** One event of a chat model's stream, or a whole response. */
type ChatChunk = z.output<typeof chatChunk>;
const chatEvent = z
  .string()
  .transform((data) => {
    const parsed = parseJsonText(data);
    return "value" in parsed ? parsed.value : null;
  })
  .pipe(chatChunk);

/**
 * Parses a chat model's event stream, however its bytes are split; the last blank line may be
 * missing. Understands both formats of Workers AI: `{"response": "…"}` of older models, and
 * OpenAI's chunks (https://developers.cloudflare.com/workers-ai/features/streaming/,
 * https://platform.openai.com/docs/api-reference/chat-streaming). Throws `upstream_failed` for
 * other events, and for a stream that ends early.
 */
export async function* parseChunks(
  read: () => Promise<ReadableStreamReadResult<Uint8Array>>,
): AsyncGenerator<ChatChunk> {
  const decoder = new TextDecoder();
  const events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => events.push(data) });
  let [isFinished, isRead] = [false, false];
  while (!isRead) {
    const { done, value } = await read();
    isRead = done;
    parser.feed(done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true }));
    for (const data of events.splice(0)) {
      if (data.trim() === "[DONE]") return;
      const parsed = chatEvent.safeParse(data);
      if (!parsed.success) throw invalidResponseError(id);
      isFinished ||= parsed.data.finishReason !== null;
      yield parsed.data;
    }
  }
  if (!isFinished) {
    throw new AppError("upstream_failed", `The stream of the model ${id} ended early.`);
  }
}

/** Converts a whole response to a stream of one event. */
function toStream(response: unknown): ReadableStream<Uint8Array> {
  if (response instanceof ReadableStream) return response;
  const { body } = new Response(`data: ${JSON.stringify(response)}\n\ndata: [DONE]\n\n`);
  if (!body) throw invalidResponseError(id);
  return body;
}

/** Counts the tokens of a chat stream: as the model reports them, or estimated. */
class ChatTokenCounter {
  readonly #input: number;
  #output = 0;
  #reported: TokenUsage | null = null;

  constructor(input: ChatInput) {
    this.#input = Math.ceil(estimateTokens(input));
  }

  add({ usage, text, reasoning }: ChatChunk): void {
    this.#reported = usage ?? this.#reported;
    this.#output += estimateTokens([text, reasoning]);
  }

  get usage(): TokenUsage {
    const estimated = { inputTokens: this.#input, outputTokens: Math.ceil(this.#output) };
    return this.#reported ?? estimated;
  }
}

/** Start delimiters of reasoning inside a model's text. */
const STARTS = ["<think>", "<|channel>"] as const;
/**
 * Reasoning, closed or not: of Qwen and DeepSeek, and of Gemma 4, which emits an empty pair even if
 * reasoning is disabled (https://ai.google.dev/gemma/docs/core/prompt-formatting-gemma4).
 */
const REASONING = // bounded: a reply of at most MODELS.answer.maxTokens
  /<think>[^]*?(<\/think>|$)|<\|channel>[^]*?(<channel\|>|$)/g;

/** Removes reasoning, and leading white space, from a streamed text, however it is split. */
export class ReasoningFilter {
  /** Reasoning that isn't closed, or what may be the first part of a delimiter. */
  #pending = "";
  #hasText = false;

  /**
   * Returns the text that is certainly no reasoning. Reasoning without an end delimiter is dropped.
   */
  remove(chunk: string): string {
    const text = this.#pending + chunk;
    const last = text.slice(Math.max(0, text.lastIndexOf("<")));
    const partial = STARTS.some((start) => start.startsWith(last)) ? last : "";
    this.#pending = partial;
    const decided = text.slice(0, text.length - partial.length);
    const visible = decided.replaceAll(REASONING, (reasoning, ...ends: (string | undefined)[]) => {
      if (ends[0] === "" || ends[1] === "") this.#pending = reasoning + partial;
      return "";
    });
    return this.#trimStart(visible);
  }

  /** Returns the text that was withheld because a delimiter might have started. */
  end(): string {
    const isReasoning = STARTS.some((start) => this.#pending.startsWith(start));
    return this.#trimStart(isReasoning ? "" : this.#pending);
  }

  #trimStart(visible: string): string {
    const text = this.#hasText ? visible : visible.trimStart();
    this.#hasText ||= text !== "";
    return text;
  }
}
