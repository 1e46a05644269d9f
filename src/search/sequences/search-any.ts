import type { Timings } from "../../timings.ts";
import type { SearchableIndexRef } from "../calibration.ts";
import type { ExampleQuery } from "../query.ts";
import { search, type SearchResults } from "../search.ts";
import { searchSequence } from "./search-sequence.ts";
import type { SequenceRequest } from "./sequence-request.ts";

/** Searches for one thing, or for several in order. */
export function searchAny(
  env: Env,
  index: SearchableIndexRef,
  request: SequenceRequest,
  example: ExampleQuery | null,
  timings?: Timings,
): Promise<Omit<SearchResults, "query">> {
  return request.sequence.length > 0
    ? searchSequence(env, index, request, timings)
    : search(env, index, request, example, timings);
}
