import { z } from "@hono/zod-openapi";
import { answerFromPictures, answerFromWords } from "../answer/answer.ts";
import { answerFromVideo } from "../answer/watch.ts";
import { ANSWER, LIMITS } from "../config.ts";
import { invalid } from "../errors.ts";
import type { Asset } from "../types.ts";
import { answerRecord } from "./answer-record.ts";
import { respond } from "./answer-response.ts";
import { videoParams } from "./asset-record.ts";
import { requireOwnAsset } from "./assets.ts";
import { addEndpoint, type Context, createRouter } from "./endpoint.ts";
import { indexParams } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { queryBool, queryFloat, queryInt, queryList } from "./query-types.ts";
import { requireAssets } from "./search.ts";

export const answerRoutes = createRouter("Answers");

const text = z.string().max(LIMITS.queryCharacters);
const question = z.object({
  query: text.min(1),
  system_prompt: text.optional(),
  markdown: queryBool(false),
  language: z.string().max(LIMITS.languageCharacters).optional(),
  stream: queryBool(false),
});
const retrieval = z.object({
  top_k: queryInt(1, LIMITS.answerTopK, ANSWER.segments),
  asset_ids: queryList(z.string(), LIMITS.assetIds),
});

addEndpoint(
  answerRoutes,
  {
    method: "get",
    path: "/index/{index_name}/answer",
    summary: "Answer Query From Videos",
    scope: "read",
    params: indexParams,
    query: question.extend(retrieval.shape),
    response: answerRecord,
    texts: ["text/event-stream"],
  },
  async (c, { params, query }) => {
    const index = await requireOwnIndex(c, params.index_name);
    const wish = { ...wishOf(query), topK: query.top_k, assetIds: query.asset_ids ?? [] };
    await requireAssets(c.env.DB, index.indexId, wish.assetIds);
    return respond(c, {
      index,
      wish,
      isStream: wantsStream(c, query),
      answer: (env, signal) => answerFromWords(env, index.indexId, wish, signal),
    });
  },
);

addEndpoint(
  answerRoutes,
  {
    method: "get",
    path: "/index/{index_name}/answer_vqa",
    summary: "Answer Query Vqa",
    scope: "read",
    params: indexParams,
    query: question.extend(retrieval.shape).extend({
      search_term: text.min(1).optional(),
      top_p: queryFloat(0, 1, 1),
    }),
    response: answerRecord,
    texts: ["text/event-stream"],
  },
  async (c, { params, query }) => {
    const index = await requireOwnIndex(c, params.index_name);
    const wish = {
      ...wishOf(query),
      topK: query.top_k,
      assetIds: query.asset_ids ?? [],
      searchTerm: query.search_term ?? query.query,
      topP: query.top_p,
    };
    await requireAssets(c.env.DB, index.indexId, wish.assetIds);
    return respond(c, {
      index,
      wish,
      isStream: wantsStream(c, query),
      answer: (env, signal) => answerFromPictures(env, index.indexId, wish, signal),
    });
  },
);

addEndpoint(
  answerRoutes,
  {
    method: "get",
    path: "/index/{index_name}/{video_id}/answer_vqa",
    summary: "Answer Query Vqa Video Id",
    scope: "read",
    params: videoParams,
    query: question.extend({
      start_time: queryFloat(0, LIMITS.videoSeconds, 0),
      end_time: queryFloat(-1, LIMITS.videoSeconds, -1),
    }),
    response: answerRecord,
    texts: ["text/event-stream"],
  },
  async (c, { params, query }) => {
    const [index, video] = await Promise.all([
      requireOwnIndex(c, params.index_name),
      requireOwnAsset(c, "video", params.video_id),
    ]);
    await requireAssets(c.env.DB, index.indexId, [video.assetId]); // it may be on its way out
    const wish = { ...wishOf(query), ...regionOf(video, query.start_time, query.end_time) };
    return respond(c, {
      index,
      wish,
      isStream: wantsStream(c, query),
      answer: (env, signal) => answerFromVideo(env, video, wish, signal),
    });
  },
);

function wishOf({ query, markdown, language = "", system_prompt = "" }: z.output<typeof question>) {
  return { query, markdown, language, systemPrompt: system_prompt };
}

function wantsStream(c: Context, { stream }: z.output<typeof question>): boolean {
  return stream || /\btext\/event-stream\b/.test(c.req.header("accept") ?? "");
}

/** In ms. An `end` of -1 is the video's. Throws where the region is not within the video. */
function regionOf({ durationMs, state }: Asset, start: number, end: number) {
  const [startMs, endMs] = [start * 1000, end === -1 ? durationMs : end * 1000];
  if (state !== "ready") return { startMs, endMs };
  const outside = (name: string, message: string) =>
    invalid(["query", name], "value_error", message);
  const seconds = durationMs / 1000;
  if (startMs >= durationMs) {
    throw outside("start_time", `The region begins past the end: the video has ${seconds} s`);
  }
  if (endMs > durationMs + ANSWER.slackMs) {
    throw outside("end_time", `The region ends past the end: the video has ${seconds} s`);
  }
  if (endMs <= startMs) throw outside("end_time", "The region is empty: it ends where it starts");
  return { startMs, endMs };
}
