import { mapConcurrent } from "../concurrency.ts";
import { LIFECYCLE, IDEMPOTENCY } from "../config.ts";
import { traceOf } from "../errors.ts";
import { type AssetId, type IndexId, newId } from "../ids.ts";
import { log } from "../log.ts";
import type { JobMessage } from "../messages.ts";
import {
  listUndispatchedAssets,
  listWaitingIndices,
  type UndispatchedAsset,
} from "../store/assets.ts";
import { archiveAsset, listUnarchivedAssets } from "../store/archive.ts";
import { deleteExpiredResponses } from "../store/idempotency.ts";
import { indexObject } from "../store/index-object.ts";
import { listSoftDeletedIndices } from "../store/indices.ts";
import { failExhaustedJobs, sendJob, startJob, redispatchOverdueJobs } from "../store/jobs.ts";
import { listUnmirroredAssets, mirrorAsset } from "../store/mirror.ts";
import { recordStored } from "../store/usage.ts";
import { countVectors } from "../store/vector-pairs.ts";
import { listIndicesDue } from "../store/traversals.ts";
import { isFullHour, recordFill } from "./record-fill.ts";
import { sweepUploads } from "./sweep-uploads.ts";
import { startTraversal } from "./start-traversal.ts";

/** Age below which a request or message may still be handling a row. */
const SETTLED_MS = 15 * 60 * 1000;
/** Age below which a request may still be copying a change of an asset. */
const MIRROR_MS = 60 * 1000;
/** Time without a change after which an ingest may wait for an alarm that was lost. */
const WAITING_MS = 2 * 60 * 1000;
/** Rows of each kind per sweep. The next sweep takes more. */
const BATCH_SIZE = 100;

/**
 * Resumes what was interrupted between two stores: jobs whose message or worker was lost, assets
 * that their index's object was never told to start, ingests whose object lost its alarm, changes
 * of assets that their index's database or archive record doesn't have, and deleted indices whose
 * content is still stored. Then starts due traversals, deletes expired idempotent responses, sweeps
 * resumable uploads, and counts vectors, by which new shards choose their pair of Vectorize
 * indexes. Records what accounts store, once an hour, and how full the deployment is. Runs once a
 * minute.
 */
export async function sweep(env: Env, now: number): Promise<void> {
  const dead = await failExhaustedJobs(env.DB, now, BATCH_SIZE);
  for (const { jobId } of dead) log("error", "job.dead_lettered", { job: jobId });
  const overdue = await redispatchOverdueJobs(env.DB, now, BATCH_SIZE);
  await Promise.all([...dead, ...overdue].map((job) => sendJob(env.JOBS, job)));
  const settledBefore = now - SETTLED_MS;
  const undispatched = await listUndispatchedAssets(env.DB, settledBefore, BATCH_SIZE);
  await Promise.all(undispatched.map((asset) => startIngest(env, asset)));
  const waiting = await listWaitingIndices(env.DB, now - WAITING_MS, BATCH_SIZE);
  await Promise.all(
    waiting.map((indexId) =>
      logFailure("lifecycle.resume_failed", { index: indexId }, () =>
        indexObject(env, indexId).resume(),
      ),
    ),
  );
  const unmirrored = await listUnmirroredAssets(env.DB, now - MIRROR_MS, BATCH_SIZE);
  await Promise.all(
    unmirrored.map((asset) =>
      logFailure("lifecycle.mirror_failed", { asset: asset.assetId }, () =>
        mirrorAsset(env, asset),
      ),
    ),
  );
  const unarchived = await listUnarchivedAssets(env.DB, now - MIRROR_MS, BATCH_SIZE);
  await mapConcurrent(unarchived, LIFECYCLE.concurrency, (asset) =>
    logFailure("lifecycle.archive_failed", { asset: asset.assetId }, () =>
      archiveAsset(env, asset),
    ),
  );
  const deletedIndices = await listSoftDeletedIndices(env.DB, settledBefore, BATCH_SIZE);
  for (const index of deletedIndices) {
    const job: JobMessage = { kind: "delete_index", jobId: newId("job", now), ...index };
    await startJob(env, job, now);
  }
  const due = await listIndicesDue(env.DB, now, LIFECYCLE.traversalsPerTick);
  for (const index of due) await startTraversal(env, index, now);
  await deleteExpiredResponses(env.DB, now, IDEMPOTENCY.deletionsPerTick);
  const uploads = await sweepUploads(env, now);
  if (isFullHour(now)) await recordStored(env.DB);
  await logFailure("lifecycle.vector_count_failed", {}, async () => {
    const isFull = !(await countVectors(env));
    if (isFull) log("error", "lifecycle.vector_pairs_full", {});
  });
  await recordFill(env, now);
  const counts = {
    jobs: overdue.length,
    restarted: undispatched.length,
    mirrored: unmirrored.length,
    archived: unarchived.length,
    deletions: deletedIndices.length,
    traversals: due.length,
    ...uploads,
  };
  if (Object.values(counts).some(Boolean)) log("info", "lifecycle.swept", counts);
}

async function startIngest(
  env: Env,
  { indexId, assetId, assetType, jobId }: UndispatchedAsset,
): Promise<void> {
  await logFailure("lifecycle.restart_failed", { asset: assetId }, () =>
    indexObject(env, indexId).start(indexId, assetId, assetType, jobId),
  );
}

/** Logs an error instead of throwing, so that the sweep goes on. The next one retries. */
async function logFailure(
  event: string,
  fields: { asset?: AssetId; index?: IndexId },
  work: () => Promise<unknown>,
) {
  try {
    await work();
  } catch (error) {
    log("error", event, { ...fields, cause: traceOf(error) });
  }
}
