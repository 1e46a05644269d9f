import { SEARCH } from "../config.ts";
import type { AccountId } from "../ids.ts";
import { remember, Remembered } from "../isolate-memory.ts";
import { LruCache } from "../lru-cache.ts";
import { SEARCH_TURNS } from "../parameters.ts";
import { SharedBudget } from "../shared-budget.ts";
import { listTallies } from "../store/d1/indices.ts";
import type { Operator } from "../store/index-database/asset-scope.ts";
import { listUnmatchedFields } from "../store/index-database/find-segments.ts";
import { Timings } from "../timings.ts";
import type { IndexRef, Tally, UnmatchedField } from "../types.ts";
import { findForQuery, findMore, toQuerySearch } from "./find-for-query.ts";
import { rankCandidates } from "./hits.ts";
import { listIndices, type SearchTarget, targetDatabases } from "./index-group.ts";
import { searchLogic } from "./logic/search-logic.ts";
import { suggestNone } from "./logic/suggest-none.ts";
import { type ExampleQuery, toInterpretation } from "./query.ts";
import { countSubqueries, type SearchRequest } from "./request.ts";
import { explainBy, makeHits, type SearchResults, toResults } from "./results.ts";
import { searchSequence } from "./search-sequence.ts";

/**
 * Searches one or several indices for one thing, for one thing with others or without them (`all`,
 * `none`), or for several in order, once the account's other searches leave room. Throws
 * `not_found` if an example names nothing there.
 */
export function search(
  env: Env,
  target: SearchTarget,
  request: SearchRequest,
  uploadedExample: ExampleQuery | null = null,
  timings = new Timings(),
): Promise<SearchResults> {
  const { logic, sequence } = request;
  const find = () => {
    if (sequence.length > 0) return searchSequence(env, target, request, timings);
    if (logic !== null) return searchLogic(env, target, request, logic, timings);
    return searchOneThing(env, target, request, uploadedExample, timings);
  };
  const run = async () => {
    const results = await find();
    const [unmatchedFields, tallies] = await Promise.all([
      findUnmatchedFields(env, target, request, results),
      results.total === 0 ? listTargetTallies(env, target) : null,
    ]);
    return { ...results, interpretation: { ...results.interpretation, unmatchedFields, tallies } };
  };
  const indices = listIndices(target);
  if (!indices[0]) return run();
  return searchInTurn(indices[0].accountId, indices.length * countSubqueries(request), run);
}

/** Lists the tallies of all indices of a target. */
async function listTargetTallies(env: Env, target: SearchTarget): Promise<Tally[]> {
  const list = (one: IndexRef) => listTallies(env.DB, one.accountId, one.indexId);
  return (await Promise.all(listIndices(target).map(list))).flat();
}

/** Operators that an asset meets without the field. */
const NEGATIVE = new Set<Operator>(["$ne", "$nin"]);

/** Returns the fields of the filter that can't match, where that may be why a search is odd. */
async function findUnmatchedFields(
  env: Env,
  target: SearchTarget,
  { conditions }: SearchRequest,
  { total }: SearchResults,
): Promise<UnmatchedField[]> {
  const suspects = conditions.filter(({ operator }) => total === 0 || NEGATIVE.has(operator));
  return suspects.length === 0 ? [] : listUnmatchedFields(targetDatabases(env, target), suspects);
}

/**
 * Searches by text, by example, or both: full text, text vectors, image vectors and copies, each
 * over-fetched. If the best candidates of each channel don't fill the page, a deeper pass adds more
 * behind them, so that earlier pages keep their order. A plain query that says what isn't there
 * gets a suggestion.
 */
async function searchOneThing(
  env: Env,
  target: SearchTarget,
  request: SearchRequest,
  uploadedExample: ExampleQuery | null,
  timings: Timings,
): Promise<SearchResults> {
  const { offset, topK } = request;
  const wanted = await toQuerySearch(env, target, request, uploadedExample);
  const input = { ...wanted, depth: Math.max(wanted.depth, topK) };
  const pass = await findForQuery(env, target, input, timings);
  const { query, corrected, candidates } = pass;
  let ranked = rankCandidates(candidates, request);
  if (ranked.length <= offset + topK) {
    const depth = SEARCH.deepeningFactor * input.depth;
    const deeper = await findMore(env, target, input, pass, { depth }, timings);
    if (deeper.length > 0) ranked = rankCandidates([...candidates, ...deeper], request);
  }
  const suggested = uploadedExample === null ? suggestNone(request.query) : null;
  const interpretation = { ...toInterpretation(query, corrected), suggested };
  return toResults(env, request, ranked, { query, interpretation }, (selected) =>
    makeHits(env, selected, request, query, explainBy(query), timings),
  );
}

const budgets = remember(new LruCache<SharedBudget>(SEARCH_TURNS.maxAccounts));
/** The two accounts that searched last, the later one first, and when: epoch ms. */
const latest = new Remembered<readonly { accountId: AccountId; at: number }[]>([]);

/**
 * Runs a search once the account's others in this isolate leave room for it: one after the other
 * while another account searches here. `units` is how many single searches it is. One that was
 * broken off never ends, so that it counts for a while only.
 */
export function searchInTurn<T>(
  accountId: AccountId,
  units: number,
  search: () => Promise<T>,
): Promise<T> {
  const { maxUnits, maxMs, sharedMs } = SEARCH_TURNS;
  const now = Date.now();
  const others = latest.value.filter((one) => one.accountId !== accountId);
  latest.value = [{ accountId, at: now }, ...others].slice(0, 2);
  const isShared = others.some(({ at }) => now - at < sharedMs);
  const budget = budgets.getNow(accountId, () => new SharedBudget(maxUnits, maxMs));
  return budget.run(isShared ? maxUnits : units, search);
}
