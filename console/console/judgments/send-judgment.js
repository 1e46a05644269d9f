import { followJob } from "../administration/job-progress.js";
import { queueSearch } from "../search/search-request.js";
import { isComposed } from "../search/terms.js";
import { ApiError } from "../shared/api-error.js";
import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { hasScope } from "./key-scopes.js";

/** Identifies what a route searches for, whatever its filters are. */
export function searchIdentity({ index, query, example }) {
  const { kind, id, start, end } = example ?? {};
  return JSON.stringify([index, query, kind, id, start, end]);
}

/**
 * Resolves to whether hits of a search can be judged with the stored key. A search by an image can't:
 * the API doesn't queue it. One with steps, conditions or several
 * indices can't: a judgment is of one query of an index.
 */
export async function canJudge({ example, ...search }) {
  return example?.kind !== "image" && !isComposed(search) && (await hasScope("write"));
}

/** Stores whether a segment is relevant to a search; null removes the judgment. */
export async function sendJudgment(route, id, isRelevant) {
  const searched = route.example
    ? { search_id: await queuedSearch(route) }
    : { query: route.query };
  const body = { ...searched, segment_id: id, relevant: isRelevant };
  await api("POST", indexPath(route.index, ["judgments"]), { body });
}

/** Ids of queued searches with an example, as promises, by what they search for. */
const queuedSearches = new Map();

/** Queues a search with an example at its first judgment. Resolves to its id once it has ended. */
async function queuedSearch(route) {
  const identity = searchIdentity(route);
  const queued = queuedSearches.get(identity) ?? runQueued(route);
  queuedSearches.set(identity, queued);
  try {
    return await queued;
  } catch (error) {
    queuedSearches.delete(identity);
    throw error;
  }
}

async function runQueued(route) {
  const id = await queueSearch(route);
  const { state, error } = await followJob(document.createElement("div"), id);
  if (state !== "succeeded") throw new ApiError(502, error?.message ?? "The search was cancelled.");
  return id;
}
