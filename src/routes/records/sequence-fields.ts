import { z } from "@hono/zod-openapi";
import { SEQUENCES } from "../../parameters.ts";
import { MAX_SUBQUERIES, subquery } from "./subquery.ts";

/** Fields of a search for several moments of one video in order. */
export const sequenceFields = {
  sequence: z
    .array(subquery)
    .min(2)
    .max(MAX_SUBQUERIES)
    .optional()
    .describe(
      "In place of `query`: what comes first, then what comes next, in one video. Finds segments in " +
        "this order that don't overlap.",
    ),
  within_seconds: z
    .number()
    .gt(0)
    .max(SEQUENCES.maxWithinSeconds)
    .default(SEQUENCES.defaultWithinSeconds)
    .describe("Longest time between the end of a step of `sequence` and the start of the next."),
};

interface SentFields {
  sequence?: unknown;
  query?: unknown;
  similar_to?: unknown;
  more_like: readonly unknown[];
  less_like: readonly unknown[];
  skipped: readonly unknown[];
  all: readonly unknown[];
  none: readonly unknown[];
}

/** Adds an issue for each field that can't stand beside `sequence`. */
export function refuseBesideSequence({
  value,
  issues,
}: {
  value: SentFields;
  issues: z.core.$ZodRawIssue[];
}): void {
  if (value.sequence === undefined) return;
  if (value.query !== undefined || value.similar_to !== undefined) {
    const message = "give `sequence` in place of `query` and `similar_to`, not beside them";
    issues.push({ code: "custom", path: ["sequence"], message, input: value });
  }
  for (const field of ["more_like", "less_like", "skipped", "all", "none"] as const) {
    if (value[field].length === 0) continue;
    const message = `\`${field}\` belongs to a search for one thing, not to a \`sequence\``;
    issues.push({ code: "custom", path: [field], message, input: value });
  }
}
