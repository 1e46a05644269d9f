import { Timings } from "../timings.ts";
import type { SearchTarget } from "./index-group.ts";
import { searchLogic } from "./logic/search-logic.ts";
import { suggestNone } from "./logic/suggest-none.ts";
import type { ExampleQuery } from "./query.ts";
import type { SearchRequest } from "./request.ts";
import { search, type SearchResults } from "./search.ts";
import { searchSequence } from "./sequences/search-sequence.ts";

/**
 * Searches for one thing, for one thing with others or without them (`all`, `none`), or for several
 * in order. A plain query that says what isn't there gets a suggestion.
 */
export async function searchAny(
  env: Env,
  target: SearchTarget,
  request: SearchRequest,
  uploadedExample: ExampleQuery | null = null,
  timings = new Timings(),
): Promise<SearchResults> {
  const { logic, sequence } = request;
  if (sequence.length > 0) return searchSequence(env, target, request, timings);
  if (logic !== null) return searchLogic(env, target, { ...request, logic }, timings);
  const found = await search(env, target, request, uploadedExample, timings);
  const suggested = suggestNone(request.query);
  return { ...found, interpretation: { ...found.interpretation, suggested } };
}
