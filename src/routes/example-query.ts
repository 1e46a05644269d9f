import { z } from "@hono/zod-openapi";
import { LIMITS, SEARCH } from "../config.ts";
import { AppError, invalid } from "../errors.ts";
import { jsonText, queryBool, queryFloat, queryInt, queryList } from "../http/query-params.ts";
import { hasWord } from "../search/query.ts";
import { makeSearchRequest, MODES, type SearchRequest } from "../search/request.ts";
import { FILTER_DESCRIPTION, readFilter, searchFilter } from "./search-filter.ts";

/** Issue of a query in which there is nothing to search for: `?`, an emoji, blanks. */
export const NO_WORD = "a query needs a word or a number";

/** Schema of a query that must have a word or a number, of 1 to 2,000 characters. */
export function queryText() {
  const text = z.string().min(1).max(LIMITS.queryCharacters);
  return text.refine(hasWord, NO_WORD);
}

/** Description of the parameter `modes`. */
export const MODES_DESCRIPTION =
  "Kinds of assets (`video` with pictures, `audio` without, `image`) and kinds of evidence " +
  "(`visual`, `speech`, `text`) to search. Default: all.";

/** Parameters of a search by an uploaded image or clip: those of a search with words. */
export const exampleQuery = z.object({
  top_k: queryInt(1, LIMITS.topK, SEARCH.defaultTopK).describe("Segments to return."),
  top_p: queryFloat(0, 1, 0).describe("Lowest `score` to return, from 0 to 1."),
  modes: queryList(z.enum(MODES), MODES.length, MODES_DESCRIPTION),
  asset_ids: queryList(
    z.string(),
    LIMITS.assetIdCount,
    "Ids of videos and images to search in. Repeat the parameter. Default: all.",
  ),
  filter: jsonText(searchFilter).describe(`As JSON: ${FILTER_DESCRIPTION}`),
  group_by: z
    .enum(["segment", "asset"])
    .default("segment")
    .describe("`asset`: only the best segment of each video or image."),
  collapse: queryBool(true).describe(
    "Whether near-identical segments are one, with the others in `duplicates`.",
  ),
});

/** Makes the request of a search by an example, beside the words of `text`. */
export function toExampleRequest(
  query: z.output<typeof exampleQuery>,
  text: string,
): SearchRequest {
  return makeSearchRequest({
    query: text,
    topK: query.top_k,
    topP: query.top_p,
    modes: query.modes ?? [],
    assetIds: query.asset_ids ?? [],
    conditions: readFilter(query.filter ?? {}),
    groupBy: query.group_by,
    collapse: query.collapse,
  });
}

/** Rethrows errors about an uploaded image as a `ValidationError`, and others unchanged. */
export function throwImageAsInvalid(error: unknown): never {
  if (!(error instanceof AppError && error.code === "unreadable_image")) throw error;
  throw invalid(["body", "image_file"], "value_error", error.message);
}
