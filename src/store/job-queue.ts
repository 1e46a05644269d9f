import { JOBS } from "../config.ts";
import { traceOf } from "../errors.ts";
import { log } from "../log.ts";
import type { JobMessage } from "../messages.ts";
import { insertJob, releaseJob, type QuotaCheck } from "./d1/jobs.ts";

/**
 * Inserts a job and enqueues it. Its row stores the message until the job has ended, so that a lost
 * message is sent again. Cancels unfinished jobs that would replace the transcript of the same
 * video. Throws `too_large` if the message is too large for a queue, and `account_full`.
 */
export async function startJob(
  env: Pick<Env, "DB" | "JOBS">,
  job: JobMessage,
  now: number,
  room: QuotaCheck = "needed",
): Promise<void> {
  await insertJob(env.DB, job, now, room);
  await sendJob(env.JOBS, job);
}

/** Enqueues an inserted job. Logs failures: an overdue job is sent again. */
export async function sendJob(queue: Queue, job: JobMessage): Promise<void> {
  try {
    await queue.send(job);
  } catch (error) {
    log("error", "job.enqueue_failed", { job: job.jobId, kind: job.kind, cause: traceOf(error) });
  }
}

/**
 * Releases a job that has more to do and sends its message again, with all its attempts left, to be
 * delivered after `delaySeconds`. Throws if the queue refuses the message.
 */
export async function continueJob(
  env: Pick<Env, "DB" | "JOBS">,
  job: JobMessage,
  delaySeconds: number,
  now: number,
): Promise<void> {
  await releaseJob(env.DB, job.jobId, now + delaySeconds * 1000 + JOBS.redispatchMs);
  await env.JOBS.send(job, { delaySeconds });
}
