import { z } from "@hono/zod-openapi";
import { ID_CHARACTERS } from "../../ids.ts";
import { MODES } from "../../search/request.ts";
import type { Subquery } from "../../search/subquery.ts";
import { isObject } from "../../user-metadata.ts";
import { MODES_DESCRIPTION, queryText } from "../example-query.ts";

/** Most subqueries of a list. */
export const MAX_SUBQUERIES = 5;

/** Schema of one of several things that a search asks for. */
export const subquery = z
  .union([
    queryText(),
    z
      .object({
        query: queryText().optional().describe("What to find, in everyday words."),
        similar_to: z
          .string()
          .max(ID_CHARACTERS)
          .optional()
          .describe("Id of a segment or an asset of the index: finds what is like it."),
        modes: z.array(z.enum(MODES)).max(MODES.length).default([]).describe(MODES_DESCRIPTION),
      })
      .refine(({ query, similar_to }) => (query === undefined) !== (similar_to === undefined), {
        path: ["query"],
        message: "give either `query` or `similar_to`",
        when: ({ value }) => isObject(value),
      }),
  ])
  .openapi("Subquery", {
    description: "One of several things to find: words, or something to be like.",
    example: { query: "a boat", modes: ["visual"] },
  });

export function toSubquery(sent: z.output<typeof subquery>): Subquery {
  if (typeof sent === "string") return { query: sent, similarTo: null, modes: [] };
  return { query: sent.query ?? "", similarTo: sent.similar_to ?? null, modes: sent.modes };
}
