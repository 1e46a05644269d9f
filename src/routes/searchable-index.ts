import { AppError, invalid, type ValidationIssue } from "../errors.ts";
import { requireAssets } from "../http/caller-records.ts";
import type { Context } from "../http/context.ts";
import { text } from "../http/fields.ts";
import * as z from "../http/zod.ts";
import { ignoreUntilAwaited } from "../ignored-errors.ts";
import { remember } from "../isolate-memory.ts";
import type { QueryClip } from "../messages.ts";
import { costGate } from "../metering/meter-env.ts";
import { INDEX_GROUP } from "../parameters.ts";
import { calibrationState } from "../search/calibration.ts";
import { IndexGroup, type PartialIndex } from "../search/index-group.ts";
import { countSubqueries, type SearchRequest } from "../search/request.ts";
import { search } from "../search/search.ts";
import * as store from "../store/d1/indices.ts";
import { listIndicesByName, listNewestIndices } from "../store/d1/indices.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import { nearestReplica } from "../store/sql.ts";
import { Timings } from "../timings.ts";
import type { MediaIndexRow, NamedIndexRef } from "../types.ts";
import { queueJob } from "./records/job-record.ts";
import { toSearchRequest, type waitedSearchBody } from "./records/search-request.ts";

/** Names all indices of the account. */
const ALL_INDICES = "*";

export const INDEX_NAMES_DESCRIPTION =
  `Names of 1 to ${INDEX_GROUP.maxIndices} indices of the account. \`*\` stands for all: of more, ` +
  "those to which a video or image was added last.";

export const indexNameOrAll = z
  .string()
  .regex(
    /^(?:\*|[A-Za-z0-9][A-Za-z0-9._-]{0,63})$/,
    "an index name (1 to 64 letters, digits, dots, dashes, underscores), or * for all; for several, " +
      "a JSON list, or index_names=a&index_names=b",
  );

/** Schema of the field `index_names`: a list of names, or `*`, which needs no list. */
export const indexNamesField = z
  .preprocess(
    (value) => (value === ALL_INDICES ? [value] : value),
    z.array(indexNameOrAll).min(1).max(INDEX_GROUP.maxIndices),
  )
  .describe(INDEX_NAMES_DESCRIPTION)
  .openapi({ example: ["holidays", "interviews"] });

export const partialField = z
  .array(
    z.object({
      index_name: text("Name of the index.", "holidays"),
      reason: text("Why, and what to do.", "The index did not answer within 10 s; try again."),
    }),
  )
  .describe("Indices whose segments are missing or incomplete. Empty if all of them answered.");

export function toPartialRecord({ name, reason }: PartialIndex) {
  return { index_name: name, reason };
}

/**
 * Returns the caller's indices with these names, in the order of names, and as `others` those of
 * `*` that are too many. Throws `not_found` with the first one that the account doesn't have,
 * whether or not another account has it.
 */
export async function requireNamedIndices(c: Context, names: readonly string[]) {
  const { accountId } = c.get("caller");
  if (names.includes(ALL_INDICES)) {
    const newest = await listNewestIndices(c.env.DB, accountId, INDEX_GROUP.maxIndices);
    const others = newest.otherNames.map((name) => ({ name, reason: TOO_MANY }));
    return { indices: newest.indices, others };
  }
  const found = await listIndicesByName(c.env.DB, accountId, names);
  const byName = new Map(found.map((index) => [index.name, index]));
  const indices = [...new Set(names)].map((name) => {
    const index = byName.get(name);
    if (!index) throw new AppError("not_found", `There is no index named "${name}".`);
    return index;
  });
  return { indices, others: [] as PartialIndex[] };
}

const TOO_MANY =
  `\`*\` covers the ${INDEX_GROUP.maxIndices} indices to which something was added last; ` +
  "name this one.";

/**
 * Returns issues of fields that only a request of one index has. Leaving them out silently would
 * search more than was asked for.
 */
export function singleIndexIssues(
  part: "query" | "body",
  sent: Record<string, unknown>,
): ValidationIssue[] {
  const isGiven = (value: unknown) =>
    value === true || ((Array.isArray(value) || typeof value === "string") && value.length > 0);
  return ["asset_ids", "queue_job"]
    .filter((name) => isGiven(sent[name]))
    .map((name) => ({
      loc: [part, name],
      type: "value_error",
      msg: "Only a request of one index takes this: /index/{index_name}/…",
    }));
}

/** Returns the caller's index. Throws `limit_reached` if the day's searches are used up. */
export function requireSearchableIndex(
  c: Context,
  name: string,
  searches = 1,
): Promise<MediaIndexRow> {
  const { accountId } = c.get("caller");
  const quota = { searches_per_day: searches };
  return costGate(c.env).admit(store.requireIndexWithinQuota(c.env.DB, accountId, name, quota));
}

/** Recently searched indices, by account and name. */
const recentIndices = remember(new Map<string, NamedIndexRef>());
const MAX_RECENT_INDICES = 10_000;

/**
 * Searches the caller's index speculatively: `find` starts with the index that this isolate last
 * resolved for the name, or that a replica of D1 has, while the primary resolves it. That saves a
 * round trip; the result is discarded if the primary has another index. An account that was refused
 * lately waits for the primary. Throws as `requireSearchableIndex` does.
 */
export async function searchCallerIndex<T>(
  c: Context,
  name: string,
  searches: number,
  find: (index: NamedIndexRef) => Promise<T>,
): Promise<T> {
  const { accountId } = c.get("caller");
  const cacheKey = `${accountId} ${name}`;
  const resolving = requireSearchableIndex(c, name, searches);
  resolving.catch(ignoreUntilAwaited);
  const expected =
    recentIndices.get(cacheKey) ??
    (await store.findIndex(nearestReplica(c.env.DB), accountId, name));
  const isLikely = costGate(c.env).isExpectedToOpen;
  const speculative = expected && isLikely ? find(expected) : null;
  speculative?.catch(ignoreUntilAwaited); // its errors count only if the index is current
  const { indexId, shards } = await resolving;
  const isCurrent = indexId === expected?.indexId && shards.length === expected.shards.length;
  if (recentIndices.size >= MAX_RECENT_INDICES) recentIndices.clear();
  const index = { accountId, indexId, name, shards };
  recentIndices.set(cacheKey, index);
  return speculative && isCurrent ? speculative : find(index);
}

/**
 * Starts a job that searches and stores the results, and returns an empty result that names it. The
 * job deletes the query clip.
 */
export async function queueSearch(
  env: Env,
  { accountId, indexId, name: indexName }: MediaIndexRow,
  request: SearchRequest,
  clip: QueryClip | null,
) {
  const job = await queueJob(env, { kind: "search", accountId, indexId, indexName, request, clip });
  const calibration = calibrationState(env);
  return { ...job, segments: [], total: 0, next_cursor: null, calibration };
}

/** Searches several of the caller's indices as one. Throws what `requireNamedIndices` does. */
export async function searchNamedIndices(
  c: Context,
  names: readonly string[],
  body: z.output<typeof waitedSearchBody>,
  timings = new Timings(),
) {
  const { accountId } = c.get("caller");
  const { indices, others } = await requireNamedIndices(c, names);
  const ids = new Map<string, string>(indices.map(({ name, indexId }) => [name, indexId]));
  const covered = names.map((name) => ids.get(name) ?? name).toSorted();
  const request = toSearchRequest([accountId, ...new Set(covered)].join(), {
    ...body,
    queue_job: false,
  });
  for (const { indexId } of indices) await requireAssets(c.env.DB, indexId, request.assetIds);
  const searches = indices.length * countSubqueries(request);
  if (searches > INDEX_GROUP.maxSearches) throw tooManySearches(searches);
  const quota = { searches_per_day: searches };
  await costGate(c.env).admit(requireQuota(c.env.DB, accountId, quota));
  const group = new IndexGroup(indices, INDEX_GROUP.timeoutMs);
  const found = await search(c.env, group, request, null, timings);
  return { ...found, request, searches, partial: [...group.partial, ...others] };
}

function tooManySearches(searches: number) {
  const message =
    `each of these indices for each part of the request makes ${searches} searches, more than ` +
    `${INDEX_GROUP.maxSearches}: name fewer indices, or give fewer conditions or steps`;
  return invalid(["body", "index_names"], "value_error", message);
}
