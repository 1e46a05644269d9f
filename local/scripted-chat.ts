import { completion } from "./completion.ts";

/** An answer that a test wrote for a chat model. */
export interface Reply {
  text: string;
  /**
   * How a stream says it: in OpenAI's chunks (the default), as the older models, or not as a stream
   * at all, though it was asked for one.
   */
  style?: "chunks" | "response" | "whole";
  /** Into how many deltas the text is cut; 1 by default. */
  pieces?: number;
  /** Before each event of the stream but the first. */
  delayMs?: number;
  finish?: "stop" | "length";
  /** Thought before the text: in `reasoning_content`, by older models inside of their text. */
  thinks?: string;
  /** The stream ends after half of its deltas, without `[DONE]`. */
  breaksOff?: boolean;
  /** Tokens that it says it took; null: it says nothing. */
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
}

/** A reply as a whole. `usage` is what it says where the reply itself names nothing. */
export function sayWhole(model: string, reply: Reply, usage: CompletionUsage) {
  const { text: content, thinks, finish = "stop", usage: told } = reply;
  const thought = thinks !== undefined && { reasoning: thinks };
  const { usage: _, ...silent } = completion({ model, content, finish, usage, ...thought });
  return told === null ? silent : { ...silent, usage: totalled(told ?? usage) };
}

/**
 * A reply as server-sent events, each in two pieces of bytes, which are cut inside of characters
 * too. `onCancel` is called where the reader goes before the last event; between Workers that shows
 * when the next event is written.
 */
export function sayInEvents(
  model: string,
  reply: Reply,
  usage: CompletionUsage,
  onCancel: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const { delayMs = 0, style } = reply;
  const said = style === "response" ? inResponses(reply, usage) : inChunks(model, reply, usage);
  const events = said.map((data) => new TextEncoder().encode(`data: ${data}\n\n`));
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

function inChunks(model: string, reply: Reply, usage: CompletionUsage): string[] {
  const { text, thinks, pieces = 1, finish = "stop", breaksOff = false, usage: told } = reply;
  const frame = {
    id: `chatcmpl-${crypto.randomUUID()}`,
    object: "chat.completion.chunk",
    created: Math.floor(Date.now() / 1000),
    model,
  };
  const chunk = (delta: object, finish_reason: string | null = null) =>
    JSON.stringify({ ...frame, choices: [{ index: 0, delta, finish_reason }] });
  const thought = thinks === undefined ? [] : [chunk({ reasoning_content: thinks })];
  const deltas = cut(text, pieces).map((content) => chunk({ content }));
  if (breaksOff) return [...thought, ...half(deltas)];
  const counted = JSON.stringify({ ...frame, choices: [], usage: totalled(told ?? usage) });
  const end = [chunk({}, finish), ...(told === null ? [] : [counted]), "[DONE]"];
  return [...thought, ...deltas, ...end];
}

function inResponses(reply: Reply, usage: CompletionUsage): string[] {
  const { text, thinks, pieces = 1, breaksOff = false, usage: told } = reply;
  const all = thinks === undefined ? text : `<think>${thinks}</think>${text}`;
  const deltas = cut(all, pieces).map((response) => JSON.stringify({ response }));
  if (breaksOff) return half(deltas);
  const counted = JSON.stringify({ response: "", usage: totalled(told ?? usage) });
  return [...deltas, ...(told === null ? [] : [counted]), "[DONE]"];
}

/** So many pieces of about the same number of characters, none of which is cut. */
function cut(text: string, pieces: number): string[] {
  const characters = Array.from(text);
  const at = (piece: number) => Math.round((piece * characters.length) / pieces);
  return Array.from({ length: pieces }, (_, i) => characters.slice(at(i), at(i + 1)).join(""));
}

function half<T>(deltas: T[]): T[] {
  return deltas.slice(0, Math.ceil(deltas.length / 2));
}

function totalled(told: { prompt_tokens: number; completion_tokens: number }): CompletionUsage {
  const { prompt_tokens, completion_tokens } = told;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
