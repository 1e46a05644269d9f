import { JOBS } from "../config.ts";
import { AppError, traceOf } from "../errors.ts";
import { deleteUnusedCues, resumeReembedding } from "../ingest/transcript/replace.ts";
import { cleanUpImport } from "../lifecycle/import-archive.ts";
import { SlicePaused } from "../lifecycle/slice.ts";
import { log } from "../log.ts";
import { type JobMessage, jobMessage } from "../messages.ts";
import { costGate } from "../metering/cost-gate.ts";
import type { InvocationCalls } from "../metering/invocation-calls.ts";
import { usageMeter } from "../metering/usage-meter.ts";
import {
  ATTEMPTS_EXHAUSTED,
  claimJob,
  deferJob,
  releaseJob,
  renewJob,
  updateJob,
} from "../store/d1/jobs.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import { continueJob } from "../store/job-queue.ts";
import { deleteObjectKeys } from "../store/r2/object-keys.ts";
import { eachMessage } from "./each-message.ts";
import { runJob } from "./job-runners.ts";
import { type LeasedWork, runLeased } from "./leased-work.ts";
import { withMetering } from "./metering.ts";

/** Runs the job of each message, or its next slice, under the lease of the job's record. */
export function consumeJobs(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, jobMessage, (job, message) => {
    const priority = job.kind === "search" ? "interactive" : "background";
    return withMetering(env, job.accountId, priority, (metered, calls) =>
      runLeased(message, leasedJob(metered, job, calls)),
    );
  });
}

function leasedJob(
  env: Env,
  job: JobMessage,
  calls: InvocationCalls,
): LeasedWork<"continued" | "ended"> {
  const { jobId, kind } = job;
  return {
    claim: () => claim(env, job),
    renew: () => Promise.all([renewJob(env.DB, jobId, Date.now()), admitCalls(env, job)]),
    renewMs: JOBS.renewMs,
    ...(kind === "import" && { maxAttempts: JOBS.importAttempts }),
    run: () => run(env, job, calls),
    logFailure: (error) => log("warn", "job.failed", { job: jobId, kind, cause: traceOf(error) }),
    release: (failure, dueAt, isDeferred) =>
      isDeferred
        ? deferJob(env.DB, jobId, failure, dueAt)
        : releaseJob(env.DB, jobId, dueAt + JOBS.redispatchMs),
    async fail(error) {
      await updateJob(env.DB, jobId, { state: "failed", progress: 0, error });
      return "ended";
    },
    async settle(outcome) {
      if (outcome === "ended") await cleanUp(env, job);
    },
  };
}

/**
 * Finishes the vectors of a transcript job that was cancelled half-way, and cleans up ended jobs.
 */
async function claim(env: Env, job: JobMessage): Promise<boolean> {
  const outcome = await claimJob(env.DB, job.jobId, Date.now());
  if (outcome === "finished") {
    if (job.kind === "transcript") {
      await admitCalls(env, job);
      await resumeReembedding(env, job.assetId, job.jobId);
    }
    await cleanUp(env, job);
  }
  return outcome === "claimed";
}

/**
 * Admits the calls of a job, or refuses them from now on, if the account's cost of the day is over
 * its limit. What the job does without them goes on; a deletion is never refused.
 */
async function admitCalls(env: Env, { kind, accountId }: JobMessage): Promise<void> {
  const gate = costGate(env);
  if (kind === "delete_asset" || kind === "delete_index") return gate.open();
  await usageMeter(accountId).flush(env.DB);
  const check = gate.admit(requireQuota(env.DB, accountId, { cost_usd_per_day: 0 }));
  await check.catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
  });
}

/** Sends the next slice of an unfinished job as a new message, which has all its attempts left. */
async function run(
  env: Env,
  job: JobMessage,
  calls: InvocationCalls,
): Promise<"continued" | "ended"> {
  const { jobId, kind, accountId } = job;
  const isDeletion = kind === "delete_asset" || kind === "delete_index";
  const payer = isDeletion ? undefined : accountId; // a full account can always delete
  let result: unknown;
  await admitCalls(env, job);
  try {
    const onProgress = (progress: number, partialResult?: unknown) =>
      updateJob(env.DB, jobId, { state: "running", progress, result: partialResult }, payer);
    result = await runJob(env, job, { calls, onProgress });
  } catch (error) {
    if (!(error instanceof SlicePaused)) throw error;
    await continueJob(env, job, error.delaySeconds, Date.now());
    return "continued";
  }
  await updateJob(env.DB, jobId, { state: "succeeded", progress: 1, result }, payer);
  log("info", "job.succeeded", { job: jobId, kind });
  return "ended";
}

/**
 * Deletes the clip, the cues or the lines of an ended job. Errors are logged: R2's lifecycle rule
 * deletes clips and lines that remain.
 */
async function cleanUp(env: Env, job: JobMessage): Promise<void> {
  try {
    if (job.kind === "search" && job.clip) await deleteObjectKeys(env.MEDIA, [job.clip.key]);
    if (job.kind === "transcript") await deleteUnusedCues(env, job, job.jobId);
    if (job.kind === "import_archive") await cleanUpImport(env, job);
  } catch (error) {
    log("warn", "job.cleanup_failed", { job: job.jobId, kind: job.kind, cause: traceOf(error) });
  }
}

/** Fails the jobs whose messages have spent their retries. */
export function consumeDeadJobs(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, jobMessage, async (job, message) => {
    const { jobId } = job;
    log("error", "job.dead_lettered", { job: jobId });
    await updateJob(env.DB, jobId, { state: "failed", progress: 0, error: ATTEMPTS_EXHAUSTED });
    await cleanUp(env, job);
    message.ack();
  });
}
