import type { Context } from "../http/context.ts";
import { newId } from "../ids.ts";
import { ignoreUntilAwaited } from "../ignored-errors.ts";
import type { IndexCalibration } from "../index-calibration.ts";
import { remember } from "../isolate-memory.ts";
import type { JobMessage, QueryClip } from "../messages.ts";
import { costGate } from "../metering/cost-gate.ts";
import { calibrationState, type SearchableIndexRef } from "../search/calibration.ts";
import type { SearchRequest } from "../search/request.ts";
import * as store from "../store/d1/indices.ts";
import { startJob } from "../store/job-queue.ts";
import { nearestReplica } from "../store/sql.ts";
import type { MediaIndexRow } from "../types.ts";

/** Returns the caller's index. Throws `limit_reached` if the day's searches are used up. */
export function requireSearchableIndex(c: Context, name: string): Promise<MediaIndexRow> {
  const { accountId } = c.get("caller");
  return costGate(c.env).admit(
    store.requireIndexWithinQuota(c.env.DB, accountId, name, { searches_per_day: 1 }),
  );
}

/** Recently searched indices, by account and name. */
const recentIndices = remember(new Map<string, SearchableIndexRef>());
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
  find: (index: SearchableIndexRef) => Promise<T>,
): Promise<T> {
  const { accountId } = c.get("caller");
  const cacheKey = `${accountId} ${name}`;
  const resolving = requireSearchableIndex(c, name);
  resolving.catch(ignoreUntilAwaited);
  const expected =
    recentIndices.get(cacheKey) ??
    (await store.findIndex(nearestReplica(c.env.DB), accountId, name));
  const isLikely = costGate(c.env).isExpectedToOpen;
  const speculative = expected && isLikely ? find(expected) : null;
  speculative?.catch(ignoreUntilAwaited); // its errors count only if the index is current
  const { indexId, shards, calibration } = await resolving;
  const isCurrent =
    indexId === expected?.indexId &&
    shards.length === expected.shards.length &&
    isEqual(calibration, expected.calibration);
  if (recentIndices.size >= MAX_RECENT_INDICES) recentIndices.clear();
  const index = { accountId, indexId, name, shards, calibration };
  recentIndices.set(cacheKey, index);
  return speculative && isCurrent ? speculative : find(index);
}

function isEqual(one: IndexCalibration | null, other: IndexCalibration | null): boolean {
  return one?.slope === other?.slope && one?.offset === other?.offset && one?.tag === other?.tag;
}

/**
 * Starts a job that searches and stores the results, and returns an empty result that names it. The
 * job deletes the query clip.
 */
export async function queueSearch(
  env: Env,
  { accountId, indexId, name: indexName, calibration: own }: MediaIndexRow,
  request: SearchRequest,
  clip: QueryClip | null,
) {
  const now = Date.now();
  const job: JobMessage = {
    kind: "search",
    jobId: newId("job", now),
    accountId,
    indexId,
    indexName,
    request,
    clip,
  };
  await startJob(env, job, now);
  const state = "queued" as const;
  const calibration = calibrationState(env, own);
  return { job_id: job.jobId, state, segments: [], total: 0, next_cursor: null, calibration };
}
