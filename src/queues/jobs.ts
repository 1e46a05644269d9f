import { JOBS } from "../config.ts";
import { traceOf } from "../errors.ts";
import { deleteUnusedCues, resumeReembedding } from "../ingest/transcript/replace.ts";
import { log } from "../log.ts";
import { type JobMessage, jobMessage } from "../messages.ts";
import {
  ATTEMPTS_EXHAUSTED,
  claimJob,
  continueJob,
  deferJob,
  releaseJob,
  renewJob,
  updateJob,
} from "../store/jobs.ts";
import { deleteArchiveLines, deleteObjectKeys } from "../store/object-keys.ts";
import { eachMessage } from "./each-message.ts";
import { CONTINUE, runJob } from "./job-runners.ts";
import { type LeasedWork, runLeased } from "./leased-work.ts";
import { withMetering } from "./metering.ts";

/** Runs the job of each message, or its next slice, under the lease of the job's record. */
export function consumeJobs(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, jobMessage, (job, message) => {
    const priority = job.kind === "search" ? "interactive" : "background";
    return withMetering(env, job.accountId, priority, (metered) =>
      runLeased(message, leasedJob(metered, job)),
    );
  });
}

function leasedJob(env: Env, job: JobMessage): LeasedWork<"continued" | "ended"> {
  const { jobId, kind } = job;
  return {
    claim: () => claim(env, job),
    renew: () => renewJob(env.DB, jobId, Date.now()),
    renewMs: JOBS.renewMs,
    ...(kind === "import" && { maxAttempts: JOBS.importAttempts }),
    run: () => run(env, job),
    logFailure: (error) => log("warn", "job.failed", { job: jobId, kind, cause: traceOf(error) }),
    release: (failure, dueAt) =>
      failure
        ? releaseJob(env.DB, jobId, dueAt + JOBS.redispatchMs)
        : deferJob(env.DB, jobId, dueAt),
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
    if (job.kind === "transcript") await resumeReembedding(env, job.assetId, job.jobId);
    await cleanUp(env, job);
  }
  return outcome === "claimed";
}

/** Sends the next slice of an unfinished job as a new message, which has all its attempts left. */
async function run(env: Env, job: JobMessage): Promise<"continued" | "ended"> {
  const { jobId, kind } = job;
  const result = await runJob(env, job, (progress, partialResult) =>
    updateJob(env.DB, jobId, { state: "running", progress, result: partialResult }),
  );
  if (result === CONTINUE) {
    await continueJob(env, job, Date.now());
    return "continued";
  }
  await updateJob(env.DB, jobId, { state: "succeeded", progress: 1, result });
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
    if (job.kind === "import_archive") await deleteArchiveLines(env.MEDIA, job);
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
