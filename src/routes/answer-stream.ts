import type { AnswerEvent } from "../answer/compose.ts";
import { ANSWER, MODELS } from "../config.ts";
import { traceOf, failureOf } from "../errors.ts";
import type { Context } from "../http/context.ts";
import { jsonResponse } from "../http/endpoint.ts";
import { countWork } from "../http/metering.ts";
import { createMediaUrlSigner } from "../http/signed-url.ts";
import type { AccountId } from "../ids.ts";
import { log } from "../log.ts";
import { costGate } from "../metering/cost-gate.ts";
import { RULES } from "../prompts.ts";
import type { PartialIndex } from "../search/index-group.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import type { MediaIndexRow } from "../types.ts";
import { toPartialRecord } from "./index-names.ts";
import { type AnswerMessage, type AnswerRecord, toMessages } from "./records/answer-record.ts";

/** A validated question. */
export interface AnswerRequest {
  /** The indices that the answer is from, all of one account. */
  indices: readonly MediaIndexRow[];
  accountId: AccountId;
  /** Everything that the answer depends on, except the contents of the index. */
  options: { markdown: boolean };
  /** Whether the response is server-sent events instead of JSON. */
  isStream: boolean;
  answer: (env: Env, signal: AbortSignal) => AsyncGenerator<AnswerEvent>;
  /** Lists the indices that are missing once the answer is done; absent for a single index. */
  listPartial?: () => PartialIndex[];
}

/**
 * Responds with the answer as JSON or as server-sent events. On a custom domain, answers are cached
 * for `ANSWER.cacheMs` while the index is unchanged; a cached answer costs no quota. Throws
 * `limit_reached` if the day's answers are used up.
 */
export async function respondWithAnswer(c: Context, request: AnswerRequest): Promise<Response> {
  const etag = await computeEtag(c, request);
  const headers = { ETag: `W/"${etag}"`, "Cache-Control": "private, no-cache" };
  const cacheUrl = new URL(`/cache/answers/${etag}`, c.req.url).href; // of the Worker's own host
  const cached = await caches.default.match(cacheUrl);
  if (cached && !request.isStream) {
    const isKnown = c.req.header("if-none-match")?.includes(etag) ?? false;
    if (isKnown) return new Response(null, { status: 304, headers });
    return withHeaders(jsonResponse(await cached.json(), 200), headers);
  }
  if (!cached) {
    const check = requireQuota(c.env.DB, request.accountId, { answers_per_day: 1 });
    await costGate(c.env).admit(check);
  }
  const stopped = new AbortController();
  const messages = cached
    ? replayMessages(await cached.json())
    : generateMessages(c, request, cacheUrl, stopped.signal);
  if (request.isStream) return withHeaders(toEventStream(c, messages, stopped), headers);
  for await (const message of messages) {
    if (message.event !== "done") continue;
    return withHeaders(jsonResponse(message.data, 200), message.isFallback ? {} : headers);
  }
  throw new Error("the answer has no `done` event");
}

/** Generates the answer and caches it unless it is a fallback. Records the usage in any case. */
async function* generateMessages(
  c: Context,
  { options, answer, listPartial }: AnswerRequest,
  cacheUrl: string,
  signal: AbortSignal,
): AsyncGenerator<AnswerMessage> {
  try {
    const events = answer(c.env, signal);
    const messages = toMessages(events, options.markdown, createMediaUrlSigner(c));
    for await (const answered of messages) {
      const message = listPartial ? addPartial(answered, listPartial()) : answered;
      if (message.event === "done" && !message.isFallback) {
        const maxAge = `max-age=${ANSWER.cacheMs / 1000}`;
        const copy = Response.json(message.data, { headers: { "Cache-Control": maxAge } });
        c.executionCtx.waitUntil(caches.default.put(cacheUrl, copy));
      }
      yield message;
    }
  } finally {
    countWork(c, "answers");
  }
}

/** Adds the indices that are missing to the whole answer, which isn't cached if there are any. */
function addPartial(message: AnswerMessage, partial: PartialIndex[]): AnswerMessage {
  if (message.event !== "done") return message;
  const data = { ...message.data, partial: partial.map(toPartialRecord) };
  return { ...message, data, isFallback: message.isFallback || partial.length > 0 };
}

async function* replayMessages(record: AnswerRecord): AsyncGenerator<AnswerMessage> {
  if (record.grounded) yield { event: "citations", data: record.citations };
  yield { event: "delta", data: { text: record.answer } };
  yield { event: "done", data: record, isFallback: false };
}

/** Hashes everything that determines the answer: question, index revision, models and prompts. */
async function computeEtag(
  c: Context,
  { accountId, indices, options }: AnswerRequest,
): Promise<string> {
  const { origin, pathname } = new URL(c.req.url);
  const revisions = indices.map(({ indexId, revision, calibration }) => {
    return [indexId, revision, calibration];
  });
  const content = [accountId, ...revisions.flat()];
  const inputs = [origin, pathname, ...content, options, MODELS, RULES];
  const bytes = new TextEncoder().encode(JSON.stringify(inputs));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Buffer.from(digest).toString("base64url");
}

/**
 * Streams messages as server-sent events (WHATWG HTML, 9.2). A client that disconnects aborts the
 * answer; `waitUntil` lets the Worker live until the generator has been cleaned up.
 */
function toEventStream(
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
        log("error", "answer.stream_failed", { cause: traceOf(error) });
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
