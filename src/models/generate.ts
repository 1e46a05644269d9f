import { MODELS } from "../config.ts";
import { AppError } from "../errors.ts";
import { type ChatChunk, type ChatEvent, ChatEvents } from "./chat-events.ts";
import { dataUri } from "./data-uri.ts";
import { callModel, limitTime, modelFailure, unknownShape, unlessAborted } from "./run.ts";
import { Thoughts } from "./thoughts.ts";
import { ChatTokens, type TokenUse } from "./tokens.ts";

const { id, maxTokens } = MODELS.answer;
const TEMPERATURE = 0.2;
const CUT_SHORT = new Set(["length", "content_filter"]);

export interface Prompt {
  system: string;
  /** In the order in which the model is shown them; texts alone as one text, with blank lines between. */
  content: ({ text: string } | { jpeg: Uint8Array })[];
  temperature?: number;
  topP?: number;
}

export interface Generated {
  /** All pieces, joined. Empty where the model had nothing to say. */
  text: string;
  /** As the model calls itself, else its id. */
  model: string;
  /** As the model says, else estimated. */
  usage: TokenUse;
  /** False where the text ends because it got too long or was filtered; true where nothing is known of it. */
  isComplete: boolean;
}

/** Milliseconds: until the first piece of text, and for the whole answer. */
export interface GenerateLimits {
  firstTokenMs: number;
  timeoutMs: number;
}

type Input = AiModels[typeof id]["inputs"] & { stream: true };

/**
 * A chat model's answer, piece by piece as it comes; what it thinks aloud is left out. The model is
 * always asked for a stream, and may answer as a whole nevertheless.
 *
 * Throws `upstream_timeout` where a limit is reached, `upstream_failed` where the stream breaks off
 * or isn't a chat model's, what `runModel` throws of refusals, and the reason of `signal` once that
 * aborts. The model's stream is cancelled at once when `signal` aborts, and when the caller leaves
 * between two pieces; a `return()` while a piece is awaited waits for that piece.
 */
export async function* generate(
  ai: Ai,
  prompt: Prompt,
  signal?: AbortSignal,
  limits: GenerateLimits = MODELS.answer,
): AsyncGenerator<string, Generated> {
  const input = inputOf(prompt);
  const first = limitTime(id, limits.firstTokenMs);
  const whole = limitTime(id, limits.timeoutMs);
  const stops = [first.signal, whole.signal, ...(signal ? [signal] : [])];
  const thoughts = new Thoughts();
  const tokens = new ChatTokens(input);
  let text = "";
  let model: string = id;
  let finish: string | null = null;
  try {
    for await (const chunk of readChunks(ai, input, AbortSignal.any(stops))) {
      tokens.add(chunk);
      model = chunk.model ?? model;
      finish = chunk.finish ?? finish;
      const piece = thoughts.remove(chunk.text);
      if (piece === "") continue;
      first.clear();
      text += piece;
      yield piece;
    }
    const rest = thoughts.end();
    text += rest;
    if (rest !== "") yield rest;
  } finally {
    first.clear();
    whole.clear();
  }
  return { text, model, usage: tokens.used, isComplete: !CUT_SHORT.has(finish ?? "") };
}

function inputOf({ system, content, temperature = TEMPERATURE, topP }: Prompt): Input {
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

/** What the model says until its end; its stream is cancelled by `stop`, and by whoever stops reading. */
async function* readChunks(ai: Ai, input: Input, stop: AbortSignal): AsyncGenerator<ChatChunk> {
  stop.throwIfAborted();
  const opened = callModel(ai, id, input).then((answer) => toStream(answer).getReader());
  const cancel = () => void opened.then((reader) => reader.cancel()).catch(() => undefined);
  stop.addEventListener("abort", cancel);
  let hasEnded = false;
  try {
    const reader = await unlessAborted(stop, opened);
    for await (const event of readEvents(reader, stop)) {
      if (event === "malformed") throw unknownShape(id);
      if (event === "done") return;
      hasEnded ||= event.finish !== null;
      yield event;
    }
    if (!hasEnded) throw new AppError("upstream_failed", `The model ${id} broke off its answer.`);
  } finally {
    stop.removeEventListener("abort", cancel);
    cancel();
  }
}

async function* readEvents(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  stop: AbortSignal,
): AsyncGenerator<ChatEvent> {
  const events = new ChatEvents();
  const read = () =>
    reader.read().catch((error: unknown) => {
      throw modelFailure(id, error);
    });
  for (;;) {
    const { done, value } = await unlessAborted(stop, read());
    yield* done ? events.end() : events.feed(value);
    if (done) return;
  }
}

/** A whole answer is a stream of one event. */
function toStream(answer: unknown): ReadableStream<Uint8Array> {
  if (answer instanceof ReadableStream) return answer;
  const { body } = new Response(`data: ${JSON.stringify(answer)}\n\ndata: [DONE]\n\n`);
  if (!body) throw unknownShape(id);
  return body;
}
