import { z } from "@hono/zod-openapi";
import { LOGIC } from "../../parameters.ts";
import type { SearchRequest } from "../../search/request.ts";
import { MAX_SUBQUERIES, subquery, toSubquery } from "./subquery.ts";

/** Fields of a search for one thing with others, or without them. */
export const logicFields = {
  all: z
    .array(subquery)
    .max(MAX_SUBQUERIES)
    .default([])
    .describe("What has to be there, too: `score` is the probability of all of it."),
  none: z
    .array(subquery)
    .max(MAX_SUBQUERIES)
    .default([])
    .describe(
      "What mustn't be there: `score` includes the probability that it is absent. Without a " +
        "query, finds segments of which that is likely, among those added last.",
    ),
  scope_seconds: z
    .number()
    .min(0)
    .max(LOGIC.maxScopeSeconds)
    .default(0)
    .describe("How far away in the video `all` and `none` count. 0: only in the segment itself."),
};

interface SentConditions {
  all: z.output<typeof subquery>[];
  none: z.output<typeof subquery>[];
  scope_seconds: number;
}

export function toLogic({ all, none, scope_seconds }: SentConditions): SearchRequest["logic"] {
  if (all.length + none.length === 0) return null;
  return { all: all.map(toSubquery), none: none.map(toSubquery), scopeSeconds: scope_seconds };
}
