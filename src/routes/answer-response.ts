import type { AnswerEvent } from "../answer/compose.ts";
import { RULES } from "../prompts.ts";
import { ANSWER, MODELS } from "../config.ts";
import { traceOf, failureOf } from "../errors.ts";
import { log } from "../log.ts";
import { meter } from "../models/meter.ts";
import { requireRoom } from "../store/limits.ts";
import { addUsage } from "../store/usage.ts";
import type { MediaIndexRow } from "../types.ts";
import { type AnswerMessage, type AnswerRecord, toMessages } from "./answer-record.ts";
import { type Context, json } from "./endpoint.ts";
import { mediaUrls } from "./media-url.ts";

/** A question that was checked. */
export interface Asked {
  index: MediaIndexRow;
  /** All that the answer depends on but what the index holds. */
  wish: { markdown: boolean };
  /** As server-sent events. */
  isStream: boolean;
  answer: (env: Env, signal: AbortSignal) => AsyncGenerator<AnswerEvent>;
}

/**
 * The answer as JSON or as server-sent events. The same question of an unchanged index has the same
 * answer for a while, without asking anyone. Throws `limit_reached` where the account has had its day's.
 */
export async function respond(c: Context, asked: Asked): Promise<Response> {
  const tag = await tagOf(c, asked);
  const headers = { ETag: `W/"${tag}"`, "Cache-Control": "private, no-cache" };
  const place = `https://answers.internal/${tag}`;
  const kept = await caches.default.match(place);
  if (kept && !asked.isStream) {
    const isKnown = c.req.header("if-none-match")?.includes(tag) ?? false;
    if (isKnown) return new Response(null, { status: 304, headers });
    return withHeaders(json(await kept.json(), 200), headers);
  }
  if (!kept) await requireRoom(c.env.DB, asked.index.accountId, { answers_per_day: 1 });
  const stopped = new AbortController();
  const messages = kept ? replay(await kept.json()) : ask(c, asked, place, stopped.signal);
  if (asked.isStream) return withHeaders(streamOf(c, messages, stopped), headers);
  for await (const message of messages) {
    if (message.event !== "done") continue;
    return withHeaders(json(message.data, 200), message.isMakeshift ? {} : headers);
  }
  throw new Error("an answer without an end");
}

/** Answers, meters what it took, however it ends, and keeps the answer. */
async function* ask(
  c: Context,
  { index, wish, answer }: Asked,
  place: string,
  signal: AbortSignal,
): AsyncGenerator<AnswerMessage> {
  const { ai, used } = meter(c.env.AI);
  try {
    const events = answer({ ...c.env, AI: ai }, signal);
    for await (const message of toMessages(events, wish.markdown, mediaUrls(c))) {
      if (message.event === "done" && !message.isMakeshift) {
        const maxAge = `max-age=${ANSWER.keptMs / 1000}`;
        const copy = Response.json(message.data, { headers: { "Cache-Control": maxAge } });
        c.executionCtx.waitUntil(caches.default.put(place, copy));
      }
      yield message;
    }
  } finally {
    c.executionCtx.waitUntil(addUsage(c.env.DB, index.accountId, { answers: 1, ...used }));
  }
}

async function* replay(record: AnswerRecord): AsyncGenerator<AnswerMessage> {
  if (record.grounded) yield { event: "citations", data: record.citations };
  yield { event: "delta", data: { text: record.answer } };
  yield { event: "done", data: record, isMakeshift: false };
}

/** What the answer is made of: the question, the index as it is, the models and the prompts. */
async function tagOf(c: Context, { index, wish }: Asked): Promise<string> {
  const { origin, pathname } = new URL(c.req.url);
  const { indexId, accountId, revision } = index;
  const made = [origin, pathname, accountId, indexId, revision, wish, MODELS, RULES];
  const bytes = new TextEncoder().encode(JSON.stringify(made));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Buffer.from(digest).toString("base64url");
}

/**
 * Server-sent events (WHATWG HTML, 9.2). Whoever stops listening stops the work: it is kept alive until
 * it has been told.
 */
function streamOf(
  c: Context,
  messages: AsyncGenerator<AnswerMessage>,
  stopped: AbortController,
): Response {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  c.executionCtx.waitUntil(ended);
  const encoder = new TextEncoder();
  const toBytes = (event: string, data: unknown) =>
    encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await messages.next();
        if (!done) return controller.enqueue(toBytes(value.event, value.data));
      } catch (error) {
        if (stopped.signal.aborted) return;
        log("error", "answer.broke_off", { cause: traceOf(error) });
        const { code, message } = failureOf(error);
        controller.enqueue(toBytes("error", { code, detail: message }));
      }
      controller.close();
      end();
    },
    async cancel() {
      stopped.abort();
      await messages.return(undefined).finally(end);
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream; charset=utf-8" } });
}

function withHeaders(response: Response, headers: Record<string, string>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
