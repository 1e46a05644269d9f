import { answerAboutVideo, answerFromIndex } from "../answer/answer.ts";
import { type AnswerEvent, numberCitations } from "../answer/compose.ts";
import { linkMarkers } from "../answer/markdown.ts";
import type { Citation } from "../answer/sources.ts";
import { toJsonLine, lineOfText } from "../clean-text.ts";
import { ANSWER, LIMITS } from "../config.ts";
import { failureOf, traceOf, AppError, invalid } from "../errors.ts";
import { requireAssets, requireCallerAsset, requireCallerIndex } from "../http/caller-records.ts";
import { type Context, countWork, createMediaUrlSigner } from "../http/context.ts";
import { addEndpoint, createRouter } from "../http/endpoint.ts";
import { flag, int, list, share, text, timeRange } from "../http/fields.ts";
import { streamText } from "../http/text-stream.ts";
import { strictInt } from "../http/validation.ts";
import * as z from "../http/zod.ts";
import { log } from "../log.ts";
import { costGate } from "../metering/meter-env.ts";
import { INDEX_GROUP } from "../parameters.ts";
import { type PartialIndex, IndexGroup, type SearchTarget } from "../search/index-group.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import type { Asset } from "../types.ts";
import { exampleQuery, queryText, readFilter, searchFields } from "./records/search-request.ts";
import { hitRecord, toHitRecord } from "./records/search-result.ts";
import {
  partialField,
  toPartialRecord,
  INDEX_NAMES_DESCRIPTION,
  indexNameOrAll,
  requireNamedIndices,
  singleIndexIssues,
} from "./searchable-index.ts";

const citation = hitRecord
  .extend({
    marker: z.int().min(1).describe("Number of the citation, as in the answer's `[1]`.").openapi({
      example: 1,
    }),
  })
  .openapi("Citation", { description: "A moment that proves a claim of the answer." });

const answerRecord = z
  .object({
    answer: text(
      "The answer, with claims marked `[1]`; or that none was found.",
      "Her uncle built it in 1962 [1].",
    ),
    grounded: flag("Whether the index proves the answer. False: nothing relevant was found.", true),
    citations: z.array(citation).describe("A moment for each marker of the answer."),
    related: list(
      hitRecord,
      "If the answer isn't grounded, up to five moments that a search finds, best first. They " +
        "aren't proof. Else empty.",
      [],
    ),
    model: text(
      "Model that wrote the answer. `extractive`: quoted without a language model.",
      "@cf/google/gemma-4-26b-a4b-it",
    ),
    usage: z
      .object({
        input_tokens: int("Tokens that the model read.", 1840),
        output_tokens: int("Tokens that the model wrote.", 12),
      })
      .describe("Tokens of the language model; 0 without one."),
    partial: partialField
      .optional()
      .describe("Indices that the answer lacks. Only of an answer from several indices."),
  })
  .openapi("Answer", { description: "An answer with its proof." });

const eventOf = <Name extends string, Data extends z.ZodType>(name: Name, data: Data) =>
  z.object({
    event: z.literal(name).describe("Name of the event."),
    data: data.describe("Data of the event, as JSON."),
  });

const answerEvent = z
  .union([
    eventOf("citations", z.array(citation)),
    eventOf("delta", z.object({ text: text("Text to append.", "Her ") })),
    eventOf("done", answerRecord),
    eventOf(
      "error",
      z.object({
        code: text("Code of the error.", "upstream_timeout"),
        detail: text(
          "What is wrong and what to do, in a sentence.",
          "The model didn't answer in time. Retry later.",
        ),
      }),
    ),
  ])
  .openapi("AnswerEvent", {
    description:
      "A server-sent event: `citations` come before the text that uses them, `delta` adds text, " +
      "and `done` (the whole answer) or `error` is the last one.",
  });

/** Responses of an answer: JSON, or server-sent events with `stream` or by the Accept header. */
const ANSWER_RESPONSES = {
  response: answerRecord,
  text: {
    "text/event-stream": {
      schema: answerEvent,
      example: { event: "delta", data: { text: "Her uncle built it in 1962 [1]." } },
    },
  },
};
type AnswerRecord = z.input<typeof answerRecord>;
type CitationRecord = z.input<typeof citation>;

/** `event` and `data` of a server-sent event. */
type AnswerMessage =
  | { event: "citations"; data: CitationRecord[] }
  | { event: "delta"; data: { text: string } }
  | { event: "done"; data: AnswerRecord };

interface AnswerRequest {
  /** Whether the answer is Markdown, whose markers become links. */
  markdown: boolean;
  /** Whether the response is server-sent events instead of JSON, as the Accept header may ask. */
  stream: boolean;
  answer: (env: Env, signal: AbortSignal) => AsyncGenerator<AnswerEvent>;
  /** Lists the indices that are missing once the answer is done; absent for a single index. */
  listPartial?: () => PartialIndex[];
}

/**
 * Responds with the answer as JSON or as server-sent events. Throws `limit_reached` if the day's
 * answers are used up.
 */
async function respondWithAnswer(
  c: Context,
  request: AnswerRequest,
): Promise<AnswerRecord | Response> {
  const check = requireQuota(c.env.DB, c.get("caller").accountId, { answers_per_day: 1 });
  await costGate(c.env).admit(check);
  const stopped = new AbortController();
  const messages = toMessages(c, request, stopped.signal);
  const isStream = request.stream || /\btext\/event-stream\b/.test(c.req.header("accept") ?? "");
  if (isStream) return toEventStream(c, messages, stopped);
  for await (const message of messages) if (message.event === "done") return message.data;
  throw new Error("the answer has no `done` event");
}

/**
 * Generates the answer and converts its events to API records, whose citations count from 1.
 * Counts the answer in any case.
 */
async function* toMessages(
  c: Context,
  { markdown, answer, listPartial }: AnswerRequest,
  signal: AbortSignal,
): AsyncGenerator<AnswerMessage> {
  const signUrl = createMediaUrlSigner(c);
  const records = new Map<number, CitationRecord>();
  const toRecords = (citations: Citation[]) =>
    Promise.all(
      citations.map(async ({ marker, hit }) => {
        const record = records.get(marker) ?? { ...(await toHitRecord(hit, signUrl)), marker };
        records.set(marker, record);
        return record;
      }),
    );
  const link = (text: string) =>
    markdown ? linkMarkers(text, (marker) => records.get(marker)?.clip_url ?? null) : text;
  try {
    for await (const event of numberCitations(answer(c.env, signal))) {
      if ("citations" in event) {
        yield { event: "citations", data: await toRecords(event.citations) };
      } else if ("delta" in event) {
        yield { event: "delta", data: { text: link(event.delta) } };
      } else {
        const { grounded, model, usage, text, ...found } = event.done;
        const citations = await toRecords(found.citations);
        const related = await Promise.all(found.related.map((hit) => toHitRecord(hit, signUrl)));
        const tokens = { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens };
        const partial = listPartial && { partial: listPartial().map(toPartialRecord) };
        const record = { answer: link(text), grounded, citations, related, model, usage: tokens };
        yield { event: "done", data: { ...record, ...partial } };
      }
    }
  } finally {
    countWork(c, "answers");
  }
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
  const format = (event: string, data: unknown) => `event: ${event}\ndata: ${toJsonLine(data)}\n\n`;
  async function* formatAll() {
    try {
      for await (const { event, data } of messages) yield format(event, data);
    } catch (error) {
      if (stopped.signal.aborted) return;
      log("error", "answer.stream_failed", { cause: traceOf(error) });
      const { code, message } = failureOf(error);
      yield format("error", { code, detail: message });
    } finally {
      end();
    }
  }
  return streamText("text/event-stream; charset=utf-8", formatAll(), () => stopped.abort());
}

export const answerRoutes = createRouter("Answers");

const question = z.object({
  query: queryText()
    .describe("The question, in everyday words.")
    .openapi({ example: "Who built the cabin?" }),
  system_prompt: text("Instructions on style and tone for the language model.")
    .max(LIMITS.queryCharacters)
    .optional(),
  markdown: flag("Whether the answer is Markdown, with markers as links.").default(false),
  language: lineOfText(LIMITS.languageCharacters)
    .optional()
    .describe("Language of the answer (BCP 47), such as `pt-BR`. Default: that of the question."),
  stream: flag(
    "Whether the answer is sent as server-sent events while it is written. The header `Accept: " +
      "text/event-stream` does the same.",
  ).default(false),
});
const textAnswerQuery = question.extend({
  top_k: strictInt()
    .min(1)
    .max(LIMITS.answerTopK)
    .default(ANSWER.defaultTopK)
    .describe("Segments that are searched for and passed to the model."),
  asset_ids: searchFields.shape.asset_ids,
  filter: exampleQuery.shape.filter,
});

addEndpoint(answerRoutes, "GET /index/{index_name}/answer", {
  operationId: "answerFromText",
  summary: "Answer a question from what is said and written",
  description:
    "Answers from transcripts, text in images and captions of the segments that a search finds. " +
    "Each claim has a citation: a moment that can be played. If nothing proves an answer, " +
    "`grounded` is false and `related` has the closest moments.",
  query: textAnswerQuery,
  ...ANSWER_RESPONSES,
  async handle(c, { query }) {
    const index = await requireCallerIndex(c);
    await requireAssets(c.env.DB, index.indexId, query.asset_ids);
    return respondFrom(c, query, index);
  },
});

const groupAnswerQuery = textAnswerQuery.omit({ asset_ids: true }).extend({
  index_names: list(indexNameOrAll, INDEX_NAMES_DESCRIPTION, ["*"]).max(INDEX_GROUP.maxIndices),
});

addEndpoint(answerRoutes, "GET /answer", {
  operationId: "answerFromIndices",
  summary: "Answer a question from several indices",
  description:
    "Answers as `GET /index/{index_name}/answer` does, from the segments that a search over " +
    "several indices finds. Each citation names its index. An index that fails or is late is " +
    "named in `partial`, and the answer is from the others. Counts as one answer.",
  errors: {
    not_found: "The account has no index of one of the names.",
    upstream_unavailable: "No index answered.",
    upstream_timeout: "No index answered in time.",
  },
  query: groupAnswerQuery,
  rules: (_, sent) => singleIndexIssues("query", sent.query),
  ...ANSWER_RESPONSES,
  async handle(c, { query }) {
    const { indices, others } = await requireNamedIndices(c, query.index_names);
    const group = new IndexGroup(indices, INDEX_GROUP.timeoutMs);
    const listPartial = () => [...group.partial, ...others];
    return respondFrom(c, { ...query, asset_ids: [] }, group, listPartial);
  },
});

const imageAnswerQuery = textAnswerQuery.extend({
  search_term: queryText()
    .optional()
    .describe("What to search for to find the moments. Default: the question."),
  top_p: share("Nucleus sampling of the language model: lower is more predictable.").default(1),
});

addEndpoint(answerRoutes, "GET /index/{index_name}/answer_vqa", {
  operationId: "answerFromImages",
  summary: "Answer a question from what is seen",
  description:
    "Shows the keyframes of the segments that a search finds to the model, with their texts " +
    "(visual question answering). Citations as for the other answers.",
  query: imageAnswerQuery,
  ...ANSWER_RESPONSES,
  async handle(c, { query }) {
    const index = await requireCallerIndex(c);
    await requireAssets(c.env.DB, index.indexId, query.asset_ids);
    return respondFrom(c, query, index);
  },
});

/** Responds with an answer from one or several indices. */
function respondFrom(
  c: Context,
  sent: z.output<typeof textAnswerQuery> & Partial<z.output<typeof imageAnswerQuery>>,
  target: SearchTarget,
  listPartial?: () => PartialIndex[],
) {
  const { top_k: topK, asset_ids: assetIds, search_term: searchTerm, top_p: topP } = sent;
  const useImages = topP !== undefined;
  const searched = {
    topK,
    assetIds,
    conditions: readFilter(sent.filter ?? {}),
    useImages,
    ...(searchTerm !== undefined && { searchTerm }),
  };
  const options = { ...toQuestion(sent), ...searched, ...(useImages && { topP }) };
  return respondWithAnswer(c, {
    markdown: sent.markdown,
    stream: sent.stream,
    answer: (env, signal) => answerFromIndex(env, target, options, signal),
    ...(listPartial && { listPartial }),
  });
}

const [start_time, end_time] = timeRange(
  "Start of the time range to answer from, in seconds.",
  "End of the time range in seconds; -1 is the end of the video.",
);
const videoAnswerQuery = question.extend({ start_time, end_time });

addEndpoint(answerRoutes, "GET /index/{index_name}/{video_id}/answer_vqa", {
  operationId: "answerVideo",
  summary: "Answer a question about one video",
  description:
    "Answers from the images and texts of one video, or of a time range of it. The video must be " +
    "ready.",
  errors: { conflict: "The video isn't ready, or its ingest failed." },
  query: videoAnswerQuery,
  ...ANSWER_RESPONSES,
  async handle(c, { query }) {
    const [index, video] = await Promise.all([
      requireCallerIndex(c),
      requireCallerAsset(c, "video"),
    ]);
    await requireAssets(c.env.DB, index.indexId, [video.assetId]); // the video may be soft-deleted
    requireReady(video);
    const range = toTimeRangeMs(video, query.start_time, query.end_time);
    const options = { ...toQuestion(query), ...range };
    return respondWithAnswer(c, {
      markdown: query.markdown,
      stream: query.stream,
      answer: (env, signal) => answerAboutVideo(env, video, options, signal),
    });
  },
});

function toQuestion(sent: z.output<typeof question>) {
  const { query, markdown, language = "", system_prompt: systemPrompt = "" } = sent;
  return { query, markdown, language, systemPrompt };
}

/** Throws `conflict` for a video that is still being ingested, or whose ingest failed. */
function requireReady({ state, error }: Asset): void {
  if (state === "ready") return;
  const isFailed = state === "failed" && error !== null;
  const message = isFailed
    ? `The ingest of this video failed (${error.code}): ${error.message}`
    : `Only a ready video can answer a question; this is ${state}. Retry later.`;
  throw new AppError("conflict", message);
}

/**
 * Converts a time range of a ready video in seconds. An `end` of -1 is the end of the video. Throws
 * a `ValidationError` if the range is empty or exceeds the video.
 */
function toTimeRangeMs({ durationMs }: Asset, start: number, end: number) {
  const [startMs, endMs] = [start * 1000, end === -1 ? durationMs : end * 1000];
  const outside = (name: string, message: string) =>
    invalid(["query", name], "value_error", message);
  const seconds = durationMs / 1000;
  if (startMs >= durationMs) {
    throw outside("start_time", `The start is past the end of the video, at ${seconds} s`);
  }
  if (endMs > durationMs + ANSWER.toleranceMs) {
    throw outside("end_time", `The end is past the end of the video, at ${seconds} s`);
  }
  if (endMs <= startMs) throw outside("end_time", "The time range is empty");
  return { startMs, endMs };
}
