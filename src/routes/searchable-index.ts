import * as store from "../store/indices.ts";
import { nearestReplica } from "../store/sql.ts";
import type { MediaIndexRow, NamedIndexRef } from "../types.ts";
import type { Context } from "../http/context.ts";

/** Returns the caller's index. Throws `limit_reached` if the day's searches are used up. */
export function requireSearchableIndex(c: Context, name: string): Promise<MediaIndexRow> {
  const { accountId } = c.get("caller");
  return store.requireIndexWithinQuota(c.env.DB, accountId, name, { searches_per_day: 1 });
}

/** Recently searched indices, by account and name. */
const recentIndices = new Map<string, NamedIndexRef>();
const MAX_RECENT_INDICES = 10_000;

/**
 * Searches the caller's index speculatively: `find` starts with the index that this isolate last
 * resolved for the name, or that a replica of D1 has, while the primary resolves it. That saves a
 * round trip; the result is discarded if the primary has another index. Throws as
 * `requireSearchableIndex` does.
 */
export async function searchCallerIndex<T>(
  c: Context,
  name: string,
  find: (index: NamedIndexRef) => Promise<T>,
): Promise<T> {
  const { accountId } = c.get("caller");
  const cacheKey = `${accountId} ${name}`;
  const resolving = requireSearchableIndex(c, name);
  resolving.catch(() => {}); // awaited below
  const expected =
    recentIndices.get(cacheKey) ??
    (await store.findIndex(nearestReplica(c.env.DB), accountId, name));
  const speculative = expected && find(expected);
  speculative?.catch(() => {}); // its errors count only if the index is current
  const { indexId, shards } = await resolving;
  const isCurrent = indexId === expected?.indexId && shards.length === expected.shards.length;
  if (recentIndices.size >= MAX_RECENT_INDICES) recentIndices.clear();
  const index = { accountId, indexId, name, shards };
  recentIndices.set(cacheKey, index);
  return speculative && isCurrent ? speculative : find(index);
}
