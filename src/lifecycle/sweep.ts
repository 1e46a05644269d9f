import { mapConcurrent } from "../concurrency.ts";
import { CAPACITY, JOBS, LIFECYCLE, UPLOADS } from "../config.ts";
import { newInvocationCalls } from "../counts.ts";
import { AppError, traceOf } from "../errors.ts";
import { type AssetId, type IndexId, newId } from "../ids.ts";
import { log } from "../log.ts";
import type { JobMessage } from "../messages.ts";
import { countInvocation } from "../metering/meter-env.ts";
import { listUnmirroredAssets, mirrorAsset } from "../store/asset-changes.ts";
import { listUndispatchedAssets, listWaitingIndices } from "../store/d1/assets.ts";
import { pruneResponses } from "../store/d1/idempotency.ts";
import { listSoftDeletedIndices, listIndicesDue, recordTurns } from "../store/d1/indices.ts";
import {
  failExhaustedJobs,
  pruneJobs,
  redispatchOverdueJobs,
  sendJob,
  startJob,
} from "../store/d1/jobs.ts";
import { pruneExpiredKeys } from "../store/d1/keys.ts";
import { deleteExpiredCharges } from "../store/d1/quotas.ts";
import {
  type Upload,
  listExpiredUploads,
  listReceivedUploads,
  removeUpload,
} from "../store/d1/uploads.ts";
import { recordStored } from "../store/d1/usage.ts";
import {
  countVectors,
  getDatabaseFill,
  setAcceptsIngests,
  setSweptAt,
} from "../store/deployment.ts";
import { indexObject } from "../store/index-object.ts";
import { completeUpload } from "./create-asset.ts";
import { isSpent } from "./slice.ts";
import { startTraversal } from "./traverse.ts";

const MINUTE_MS = 60 * 1000;
/** Age below which a request or message may still be handling a row. */
const SETTLED_MS = 15 * MINUTE_MS;
/** Age below which a request may still be copying a change of an asset. */
const MIRROR_MS = MINUTE_MS;
/** Time without a change after which an ingest may wait for an alarm that was lost. */
const WAITING_MS = 2 * MINUTE_MS;
/** Rows of each kind per sweep. The next sweep takes more. */
const BATCH_SIZE = 100;
/** Uploads per sweep that are completed, and that are removed. */
const UPLOADS_PER_SWEEP = 50;
/** Rows of each kind that a sweep deletes because they are too old: more than come in a minute. */
const PRUNED = { responses: 5000, jobs: 2000, jobItems: 5000, keys: 1000 } as const;

/**
 * Does the chores of the cron trigger, once a minute. A chore that throws is logged by its name,
 * and the others go on. Items are left to the next run once the calls of a slice are used up.
 */
export async function sweep(bindings: Env, now: number): Promise<void> {
  const calls = newInvocationCalls();
  const env = countInvocation(bindings, calls);
  const forEach = <Item>(items: Item[], work: (item: Item) => Promise<unknown>) =>
    mapConcurrent(items, LIFECYCLE.concurrency, async (item) => {
      if (!isSpent(calls)) await work(item);
    });
  const counts: Record<string, number> = {};
  for (const [chore, work] of rotate(Object.entries(CHORES), Math.floor(now / MINUTE_MS))) {
    await logFailure("lifecycle.chore_failed", { chore }, async () => {
      Object.assign(counts, await work(env, now, forEach));
    });
  }
  await setSweptAt(env.DB, now);
  if (Object.values(counts).some(Boolean)) log("info", "lifecycle.swept", counts);
}

type ForEach = <Item>(items: Item[], work: (item: Item) => Promise<unknown>) => Promise<unknown>;

/** Does one kind of work, as far as the calls of the slice go. Returns counts for the log. */
type Chore = (env: Env, now: number, forEach: ForEach) => Promise<Record<string, number> | void>;

/**
 * What the sweep does. It resumes what was interrupted between two stores, starts what is due,
 * deletes what is too old, and records what is stored. Each run begins with another chore, so that
 * none uses up the calls of every run.
 */
const CHORES: Record<string, Chore> = {
  /** Jobs whose message or worker was lost. */
  async overdue_jobs(env, now, forEach) {
    const dead = await failExhaustedJobs(env.DB, now, BATCH_SIZE);
    for (const { jobId } of dead) log("error", "job.dead_lettered", { job: jobId });
    const overdue = await redispatchOverdueJobs(env.DB, now, BATCH_SIZE);
    await forEach([...dead, ...overdue], (job) => sendJob(env.JOBS, job));
    return { jobs: overdue.length };
  },
  /** Assets that their index's object was never told to start. */
  async unstarted_assets(env, now, forEach) {
    const unstarted = await listUndispatchedAssets(env.DB, now - SETTLED_MS, BATCH_SIZE);
    await forEach(unstarted, ({ indexId, assetId, assetType, jobId }) =>
      logFailure("lifecycle.restart_failed", { asset: assetId }, () =>
        indexObject(env, indexId).start(indexId, assetId, assetType, jobId),
      ),
    );
    return { restarted: unstarted.length };
  },
  async waiting_indices(env, now, forEach) {
    const waiting = await listWaitingIndices(env.DB, now - WAITING_MS, BATCH_SIZE);
    await forEach(waiting, (index) =>
      logFailure("lifecycle.resume_failed", { index }, () => indexObject(env, index).resume()),
    );
  },
  /** Changes of assets that their index's database doesn't have. */
  async unmirrored_assets(env, now, forEach) {
    const unmirrored = await listUnmirroredAssets(env.DB, now - MIRROR_MS, BATCH_SIZE);
    await forEach(unmirrored, (asset) =>
      logFailure("lifecycle.mirror_failed", { asset: asset.assetId }, () =>
        mirrorAsset(env, asset),
      ),
    );
    return { mirrored: unmirrored.length };
  },
  async deleted_indices(env, now, forEach) {
    const deleted = await listSoftDeletedIndices(env.DB, now - SETTLED_MS, BATCH_SIZE);
    await forEach(deleted, (index) => {
      const job: JobMessage = { kind: "delete_index", jobId: newId("job", now), ...index };
      return startJob(env, job, now, "none");
    });
    return { deletions: deleted.length };
  },
  async due_traversals(env, now) {
    const due = await listIndicesDue(env.DB, now, LIFECYCLE.traversalsPerTick);
    if (due.length === 0) return {};
    const accounts = due.map(({ accountId }) => accountId);
    await recordTurns(env.DB, accounts, now);
    for (const index of due) await startTraversal(env, index, "schedule", now);
    return { traversals: due.length };
  },
  /** Received uploads whose last request couldn't make the asset, and expired ones. */
  async uploads(env, now, forEach) {
    const settledBefore = now - UPLOADS.recoverAfterMs;
    const received = await listReceivedUploads(env.DB, settledBefore, UPLOADS_PER_SWEEP);
    const completed = await settleUploads(env, forEach, received, completeUpload);
    const expired = await listExpiredUploads(env.DB, now, settledBefore, UPLOADS_PER_SWEEP);
    const removed = await settleUploads(env, forEach, expired, removeUpload);
    return { uploads_completed: completed, uploads_removed: removed };
  },
  old_responses: (env, now) => pruneResponses(env.DB, now, PRUNED.responses),
  ended_jobs: (env, now) => pruneJobs(env.DB, now, PRUNED),
  expired_keys: (env, now) => pruneExpiredKeys(env.DB, now - JOBS.retentionMs, PRUNED.keys),
  expired_charges: (env, now) => deleteExpiredCharges(env.DB, now),
  async stored_usage(env, now) {
    if (isFullHour(now)) await recordStored(env.DB);
  },
  /** Vectors of each pair, by which new shards choose theirs. */
  async vector_counts(env) {
    if (!(await countVectors(env))) log("error", "lifecycle.vector_pairs_full", {});
  },
  fill: checkDatabase,
};

function rotate<Item>(items: readonly Item[], count: number): Item[] {
  const first = count % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

/** Handles uploads, and leaves those that fail to the next sweep. Returns the number of others. */
async function settleUploads(
  env: Env,
  forEach: ForEach,
  uploads: Upload[],
  handle: (env: Env, upload: Upload) => Promise<unknown>,
): Promise<number> {
  let count = 0;
  await forEach(uploads, async (upload) => {
    try {
      await handle(env, upload);
      count++;
    } catch (error) {
      if (error instanceof AppError) return; // an account over its quota may have less usage later
      log("warn", "lifecycle.upload_stuck", { upload: upload.uploadId, cause: traceOf(error) });
    }
  });
  return count;
}

/** Logs an error instead of throwing, so that the sweep goes on. The next one retries. */
async function logFailure(
  event: string,
  fields: { asset?: AssetId; index?: IndexId; chore?: string },
  work: () => Promise<unknown>,
) {
  try {
    await work();
  } catch (error) {
    log("error", event, { ...fields, cause: traceOf(error) });
  }
}

/**
 * Refuses new ingests while D1 is almost full, and accepts them again below. Logs how full it is
 * when that changes, and, from the share of a warning on, once an hour.
 */
async function checkDatabase(env: Env, now: number): Promise<void> {
  const { usedBytes, limitBytes, acceptsIngests } = await getDatabaseFill(env);
  const isFull = usedBytes >= limitBytes * CAPACITY.databaseFullShare;
  const isChanged = isFull === acceptsIngests;
  if (isChanged) await setAcceptsIngests(env.DB, !isFull);
  const isFilling = usedBytes >= limitBytes * CAPACITY.databaseWarningShare;
  if (!isChanged && !(isFilling && isFullHour(now))) return;
  const fields = { bytes: usedBytes, limit: limitBytes };
  if (isFull) log("error", "lifecycle.database_full", fields);
  else if (isFilling) log("warn", "lifecycle.database_filling", fields);
  else log("info", "lifecycle.ingests_accepted", fields);
}

function isFullHour(now: number): boolean {
  return new Date(now).getUTCMinutes() === 0;
}
