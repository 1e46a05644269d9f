import { z } from "@hono/zod-openapi";
import { answerQuestion } from "../answer/answer.ts";
import { ANSWER, LIMITS } from "../config.ts";
import { invalid } from "../errors.ts";
import { meter } from "../models/meter.ts";
import { addUsage } from "../store/usage.ts";
import { addEndpoint, createRouter } from "./endpoint.ts";
import { indexParams } from "./index-record.ts";
import { requireOwnIndex } from "./indices.ts";
import { mediaUrls } from "./media-url.ts";
import { queryBool, queryInt, queryList } from "./query-types.ts";
import { requireAssets } from "./search.ts";
import { hitRecord, toHitRecord } from "./segment-record.ts";

export const answerRoutes = createRouter();

addEndpoint(
  answerRoutes,
  {
    method: "get",
    path: "/index/{index_name}/answer",
    summary: "Answer Query From Videos",
    scope: "read",
    params: indexParams,
    query: z.object({
      query: z.string().min(1).max(LIMITS.queryCharacters),
      system_prompt: z.string().max(LIMITS.queryCharacters).optional(),
      markdown: queryBool(false),
      top_k: queryInt(1, 100, ANSWER.segments),
      asset_ids: queryList(z.string(), LIMITS.assetIds),
      language: z.string().max(35).optional(),
      stream: queryBool(false),
    }),
    response: z
      .object({
        answer: z.string(),
        grounded: z.boolean(),
        citations: z.array(hitRecord.extend({ marker: z.int().min(1) })),
        model: z.string(),
        usage: z.object({ input_tokens: z.int(), output_tokens: z.int() }),
      })
      .openapi("Answer"),
  },
  async (c, { params, query }) => {
    const index = await requireOwnIndex(c, params.index_name);
    if (query.stream) {
      throw invalid(
        ["query", "stream"],
        "value_error",
        "Streams are not supported yet: send false",
      );
    }
    const assetIds = query.asset_ids ?? [];
    await requireAssets(c.env.DB, index.indexId, assetIds);
    const { markdown, top_k: topK } = query;
    const { ai, used } = meter(c.env.AI);
    const answer = await answerQuestion({ ...c.env, AI: ai }, index, {
      query: query.query,
      topK,
      markdown,
      assetIds,
    });
    c.executionCtx.waitUntil(addUsage(c.env.DB, index.accountId, { answers: 1, ...used }));
    const urlOf = mediaUrls(c);
    const records = await Promise.all(answer.citations.map((hit) => toHitRecord(hit, urlOf)));
    return {
      answer: answer.text,
      grounded: answer.grounded,
      citations: records.map((record, i) => Object.assign(record, { marker: i + 1 })),
      model: answer.model,
      usage: {
        input_tokens: answer.usage.inputTokens,
        output_tokens: answer.usage.outputTokens,
      },
    };
  },
);
