import { completion } from "./completion.ts";

/** A reply that a test scripts for a chat model. */
export interface Reply {
  text: string;
  /**
   * Format of a stream: OpenAI's chunks (the default), the `response` events of older models, or a
   * whole completion although a stream was requested.
   */
  style?: "chunks" | "response" | "whole";
  /** Number of deltas that the text is split into; 1 by default. */
  deltaCount?: number;
  /** Delay before each event of the stream but the first. */
  delayMs?: number;
  finishReason?: "stop" | "length";
  /** Reasoning before the text: `reasoning_content`, or `<think>` in the text of older models. */
  reasoning?: string;
  /** Ends the stream after half of its deltas, without `[DONE]`. */
  isTruncated?: boolean;
  /** Reported tokens; null reports none. */
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
}

/** Makes the complete response. `usage` is reported unless the reply has its own. */
export function completeReply(model: string, reply: Reply, usage: CompletionUsage) {
  const { text: content, reasoning, finishReason = "stop", usage: reported } = reply;
  const reasoningField = reasoning !== undefined && { reasoning };
  const { usage: _, ...withoutUsage } = completion({
    model,
    content,
    finishReason,
    usage,
    ...reasoningField,
  });
  return reported === null
    ? withoutUsage
    : { ...withoutUsage, usage: withTotal(reported ?? usage) };
}

/**
 * Streams a reply as server-sent events, each in two chunks that may split a character. `onCancel`
 * runs if the reader cancels before the last event. Between Workers a cancel is noticed only when
 * the next event is written.
 */
export function streamReply(
  model: string,
  reply: Reply,
  usage: CompletionUsage,
  onCancel: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const { delayMs = 0, style } = reply;
  const payloads =
    style === "response" ? responseEvents(reply, usage) : chunkEvents(model, reply, usage);
  const events = payloads.map((data) => new TextEncoder().encode(`data: ${data}\n\n`));
  let next = 0;
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      if (next > 0) await scheduler.wait(delayMs);
      const event = events[next];
      if (!event) return controller.close();
      next += 1;
      const middle = Math.floor(event.length / 2);
      controller.enqueue(event.slice(0, middle));
      controller.enqueue(event.slice(middle));
    },
    async cancel() {
      if (next < events.length) await onCancel();
    },
  });
}

function chunkEvents(model: string, reply: Reply, usage: CompletionUsage): string[] {
  const {
    text,
    reasoning,
    deltaCount = 1,
    finishReason = "stop",
    isTruncated = false,
    usage: reported,
  } = reply;
  const frame = {
    id: `chatcmpl-${crypto.randomUUID()}`,
    object: "chat.completion.chunk",
    created: Math.floor(Date.now() / 1000),
    model,
  };
  const chunk = (delta: object, finish_reason: string | null = null) =>
    JSON.stringify({ ...frame, choices: [{ index: 0, delta, finish_reason }] });
  const reasoningEvents = reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })];
  const deltas = splitText(text, deltaCount).map((content) => chunk({ content }));
  if (isTruncated) return [...reasoningEvents, ...firstHalf(deltas)];
  const usageEvent = JSON.stringify({ ...frame, choices: [], usage: withTotal(reported ?? usage) });
  const end = [chunk({}, finishReason), ...(reported === null ? [] : [usageEvent]), "[DONE]"];
  return [...reasoningEvents, ...deltas, ...end];
}

function responseEvents(reply: Reply, usage: CompletionUsage): string[] {
  const { text, reasoning, deltaCount = 1, isTruncated = false, usage: reported } = reply;
  const all = reasoning === undefined ? text : `<think>${reasoning}</think>${text}`;
  const deltas = splitText(all, deltaCount).map((response) => JSON.stringify({ response }));
  if (isTruncated) return firstHalf(deltas);
  const usageEvent = JSON.stringify({ response: "", usage: withTotal(reported ?? usage) });
  return [...deltas, ...(reported === null ? [] : [usageEvent]), "[DONE]"];
}

/** Splits text into `count` parts of about equal length, between characters. */
function splitText(text: string, count: number): string[] {
  const characters = Array.from(text);
  const startOf = (i: number) => Math.round((i * characters.length) / count);
  return Array.from({ length: count }, (_, i) =>
    characters.slice(startOf(i), startOf(i + 1)).join(""),
  );
}

function firstHalf<T>(deltas: T[]): T[] {
  return deltas.slice(0, Math.ceil(deltas.length / 2));
}

function withTotal({
  prompt_tokens,
  completion_tokens,
}: Pick<CompletionUsage, "prompt_tokens" | "completion_tokens">): CompletionUsage {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
