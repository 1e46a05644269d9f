import { z } from "@hono/zod-openapi";
import { answerFromImages, answerFromText } from "../answer/answer.ts";
import { answerAboutVideo } from "../answer/video-answer.ts";
import { ANSWER, LIMITS } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import type { Asset } from "../types.ts";
import { answerRecord } from "./answer-record.ts";
import { respondWithAnswer } from "./answer-stream.ts";
import { videoParams } from "./asset-record.ts";
import { requireCallerAsset } from "./assets.ts";
import type { Context } from "../http/context.ts";
import { addEndpoint, createRouter, type Input } from "../http/endpoint.ts";
import { indexParams } from "./index-record.ts";
import { requireCallerIndex } from "./indices.ts";
import { queryBool, queryFloat, queryInt, queryList } from "../http/query-params.ts";
import { queryText } from "./query-text.ts";
import { requireAssets } from "./search.ts";

export const answerRoutes = createRouter("Answers");

const question = z.object({
  query: queryText(),
  system_prompt: z.string().max(LIMITS.queryCharacters).optional(),
  markdown: queryBool(false),
  language: z.string().max(LIMITS.languageCharacters).optional(),
  stream: queryBool(false),
});
const textAnswerQuery = question.extend({
  top_k: queryInt(1, LIMITS.answerTopK, ANSWER.defaultTopK),
  asset_ids: queryList(z.string(), LIMITS.assetIdCount),
});

addEndpoint(
  answerRoutes,
  {
    method: "get",
    path: "/index/{index_name}/answer",
    summary: "Answer Query From Videos",
    scope: "read",
    params: indexParams,
    query: textAnswerQuery,
    response: answerRecord,
    textMediaTypes: ["text/event-stream"],
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
    index,
    options,
    isStream: isStreamRequested(c, query),
    answer: (env, signal) => answerFromText(env, index, options, signal),
  });
}

const imageAnswerQuery = textAnswerQuery.extend({
  search_term: queryText().optional(),
  top_p: queryFloat(0, 1, 1),
});

addEndpoint(
  answerRoutes,
  {
    method: "get",
    path: "/index/{index_name}/answer_vqa",
    summary: "Answer Query Vqa",
    scope: "read",
    params: indexParams,
    query: imageAnswerQuery,
    response: answerRecord,
    textMediaTypes: ["text/event-stream"],
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
    index,
    options,
    isStream: isStreamRequested(c, query),
    answer: (env, signal) => answerFromImages(env, index, options, signal),
  });
}

const videoAnswerQuery = question.extend({
  start_time: queryFloat(0, LIMITS.videoSeconds, 0),
  end_time: queryFloat(-1, LIMITS.videoSeconds, -1),
});

addEndpoint(
  answerRoutes,
  {
    method: "get",
    path: "/index/{index_name}/{video_id}/answer_vqa",
    summary: "Answer Query Vqa Video Id",
    scope: "read",
    params: videoParams,
    query: videoAnswerQuery,
    response: answerRecord,
    textMediaTypes: ["text/event-stream"],
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
  const options = { ...toAnswerOptions(query), ...range };
  return respondWithAnswer(c, {
    index,
    options,
    isStream: isStreamRequested(c, query),
    answer: (env, signal) => answerAboutVideo(env, video, options, signal),
  });
}

function toRetrievalOptions({ top_k, asset_ids = [] }: z.output<typeof textAnswerQuery>) {
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
