import { z } from "@hono/zod-openapi";
import { answerFromImages, answerFromText, answerAboutVideo } from "../answer/answer.ts";
import { ANSWER, LIMITS } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { requireAssets, requireCallerAsset, requireCallerIndex } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import {
  queryBool,
  queryFloat,
  queryInt,
  queryList,
  requiredQueryList,
} from "../http/query-params.ts";
import { INDEX_GROUP } from "../parameters.ts";
import { IndexGroup } from "../search/index-group.ts";
import type { Asset } from "../types.ts";
import { respondWithAnswer } from "./answer-stream.ts";
import { queryText } from "./example-query.ts";
import {
  INDEX_NAMES_DESCRIPTION,
  indexNameOrAll,
  requireNamedIndices,
  singleIndexIssues,
} from "./index-names.ts";
import { ANSWER_STREAM, answerRecord } from "./records/answer-record.ts";
import { videoParams } from "./records/asset-record.ts";
import { indexParams } from "./records/index-record.ts";

export const answerRoutes = createRouter("Answers");

const question = z.object({
  query: queryText()
    .describe("The question, in everyday words.")
    .openapi({ example: "What does she drop?" }),
  system_prompt: z
    .string()
    .max(LIMITS.queryCharacters)
    .optional()
    .describe("Instructions on style and tone for the language model."),
  markdown: queryBool(false).describe(
    "Whether the answer is Markdown, in which citation markers are links to the moments.",
  ),
  language: z
    .string()
    .max(LIMITS.languageCharacters)
    .optional()
    .describe("Language of the answer (BCP 47), such as `pt-BR`. Default: that of the question."),
  stream: queryBool(false).describe(
    "Whether the answer is sent as server-sent events while it is written. The header `Accept: " +
      "text/event-stream` does the same.",
  ),
});
const textAnswerQuery = question.extend({
  top_k: queryInt(1, LIMITS.answerTopK, ANSWER.defaultTopK).describe(
    "Segments that are searched for and passed to the model.",
  ),
  asset_ids: queryList(
    z.string(),
    LIMITS.assetIdCount,
    "Ids of videos and images to answer from. Repeat the parameter. Default: all.",
  ),
});

addEndpoint(
  answerRoutes,
  {
    method: "get",
    path: "/index/{index_name}/answer",
    operationId: "answerFromText",
    summary: "Answer a question from what is said and written",
    description:
      "Answers from transcripts, text in images and captions of the segments that a search finds. " +
      "Each claim has a citation: a moment that can be played. If nothing proves an answer, " +
      "`grounded` is false and `related` has the closest moments.",
    scope: "read",
    params: indexParams,
    query: textAnswerQuery,
    response: answerRecord,
    text: ANSWER_STREAM,
  },
  answerIndexFromText,
);

async function answerIndexFromText(
  c: Context,
  { params, query }: Input<typeof indexParams, typeof textAnswerQuery>,
) {
  const index = await requireCallerIndex(c, params.index_name);
  const options = { ...toAnswerOptions(query), ...toRetrievalOptions(query) };
  await requireAssets(c.env.DB, index.indexId, options.assetIds);
  return respondWithAnswer(c, {
    indices: [index],
    accountId: index.accountId,
    options,
    isStream: isStreamRequested(c, query),
    answer: (env, signal) => answerFromText(env, index, options, signal),
  });
}

const groupAnswerQuery = textAnswerQuery.omit({ asset_ids: true }).extend({
  index_names: requiredQueryList(
    indexNameOrAll,
    INDEX_GROUP.maxIndices,
    `Repeat the parameter. ${INDEX_NAMES_DESCRIPTION}`,
    ["*"],
  ),
});

addEndpoint(
  answerRoutes,
  {
    method: "get",
    path: "/answer",
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
    scope: "read",
    query: groupAnswerQuery,
    rules: (_, sent) => singleIndexIssues("query", sent.query),
    response: answerRecord,
    text: ANSWER_STREAM,
  },
  answerFromIndices,
);

async function answerFromIndices(
  c: Context,
  { query }: Input<z.ZodObject, typeof groupAnswerQuery>,
) {
  const { indices, others } = await requireNamedIndices(c, query.index_names);
  const group = new IndexGroup(indices, INDEX_GROUP.timeoutMs);
  const options = { ...toAnswerOptions(query), ...toRetrievalOptions(query) };
  return respondWithAnswer(c, {
    indices,
    accountId: c.get("caller").accountId,
    options,
    isStream: isStreamRequested(c, query),
    answer: (env, signal) => answerFromText(env, group, options, signal),
    listPartial: () => [...group.partial, ...others],
  });
}

const imageAnswerQuery = textAnswerQuery.extend({
  search_term: queryText()
    .optional()
    .describe("What to search for to find the moments. Default: the question."),
  top_p: queryFloat(0, 1, 1).describe(
    "Nucleus sampling of the language model, from 0 to 1: lower is more predictable.",
  ),
});

addEndpoint(
  answerRoutes,
  {
    method: "get",
    path: "/index/{index_name}/answer_vqa",
    operationId: "answerFromImages",
    summary: "Answer a question from what is seen",
    description:
      "Shows the keyframes of the segments that a search finds to the model, with their texts " +
      "(visual question answering). Citations as for the other answers.",
    scope: "read",
    params: indexParams,
    query: imageAnswerQuery,
    response: answerRecord,
    text: ANSWER_STREAM,
  },
  answerIndexFromImages,
);

async function answerIndexFromImages(
  c: Context,
  { params, query }: Input<typeof indexParams, typeof imageAnswerQuery>,
) {
  const index = await requireCallerIndex(c, params.index_name);
  const { search_term: searchTerm = query.query, top_p: topP } = query;
  const options = { ...toAnswerOptions(query), ...toRetrievalOptions(query), searchTerm, topP };
  await requireAssets(c.env.DB, index.indexId, options.assetIds);
  return respondWithAnswer(c, {
    indices: [index],
    accountId: index.accountId,
    options,
    isStream: isStreamRequested(c, query),
    answer: (env, signal) => answerFromImages(env, index, options, signal),
  });
}

const videoAnswerQuery = question.extend({
  start_time: queryFloat(0, LIMITS.videoSeconds, 0).describe(
    "Start of the time range to answer from, in seconds.",
  ),
  end_time: queryFloat(-1, LIMITS.videoSeconds, -1).describe(
    "End of the time range in seconds; -1 is the end of the video.",
  ),
});

addEndpoint(
  answerRoutes,
  {
    method: "get",
    path: "/index/{index_name}/{video_id}/answer_vqa",
    operationId: "answerVideo",
    summary: "Answer a question about one video",
    description:
      "Answers from the images and texts of one video, or of a time range of it. The video must be " +
      "ready.",
    errors: { conflict: "The video isn't ready, or its ingest failed." },
    scope: "read",
    params: videoParams,
    query: videoAnswerQuery,
    response: answerRecord,
    text: ANSWER_STREAM,
  },
  answerVideo,
);

async function answerVideo(
  c: Context,
  { params, query }: Input<typeof videoParams, typeof videoAnswerQuery>,
) {
  const [index, video] = await Promise.all([
    requireCallerIndex(c, params.index_name),
    requireCallerAsset(c, "video", params.video_id),
  ]);
  await requireAssets(c.env.DB, index.indexId, [video.assetId]); // the video may be soft-deleted
  requireReady(video);
  const range = toTimeRangeMs(video, query.start_time, query.end_time);
  const { calibration } = index;
  const options = { ...toAnswerOptions(query), ...range, calibration };
  return respondWithAnswer(c, {
    indices: [index],
    accountId: index.accountId,
    options,
    isStream: isStreamRequested(c, query),
    answer: (env, signal) => answerAboutVideo(env, video, options, signal),
  });
}

function toRetrievalOptions({
  top_k,
  asset_ids = [],
}: {
  top_k: number;
  asset_ids?: string[] | undefined;
}) {
  return { topK: top_k, assetIds: asset_ids };
}

function toAnswerOptions({
  query,
  markdown,
  language = "",
  system_prompt = "",
}: z.output<typeof question>) {
  return { query, markdown, language, systemPrompt: system_prompt };
}

function isStreamRequested(c: Context, { stream }: z.output<typeof question>): boolean {
  return stream || /\btext\/event-stream\b/.test(c.req.header("accept") ?? "");
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
