import { JOBS, LIMITS } from "../config.ts";
import { AppError, type Failure, traceOf } from "../errors.ts";
import type { AccountId, JobId } from "../ids.ts";
import { log } from "../log.ts";
import type { JobMessage } from "../messages.ts";
import type { Job, JobState } from "../types.ts";
import { type Page, type PageRequest, parseColumns, toPage } from "./sql.ts";

const COLUMNS = `jobs.job_id AS jobId, jobs.index_id AS indexId, indices.name AS indexName,
  jobs.asset_id AS assetId, assets.title AS assetTitle, kind, jobs.state, jobs.progress, result,
  jobs.error, jobs.created_at AS createdAt, jobs.updated_at AS updatedAt`;
const FROM_JOBS = `FROM jobs LEFT JOIN indices ON indices.index_id = jobs.index_id
  LEFT JOIN assets ON assets.asset_id = jobs.asset_id`;

/**
 * Inserts a job and enqueues it. Its row stores the message until the job has ended, so that a lost
 * message is sent again. Cancels unfinished jobs that would replace the transcript of the same
 * video. Throws `too_large` if the message is too large for a queue.
 */
export async function startJob(
  env: Pick<Env, "DB" | "JOBS">,
  job: JobMessage,
  now: number,
): Promise<void> {
  await insertJob(env.DB, job, now);
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

/** Inserts a job without enqueueing it: it is sent when it is overdue. Throws `too_large`. */
export async function insertJob(db: D1Database, job: JobMessage, now: number): Promise<void> {
  const { jobId, accountId, indexId, kind } = job;
  const assetId = "assetId" in job ? job.assetId : null;
  const message = JSON.stringify(job);
  if (Buffer.byteLength(message) > LIMITS.messageBytes) {
    const hint = `a queue takes ${LIMITS.messageBytes} bytes. Ask for less, or without queue_job.`;
    throw new AppError("too_large", `This is too large to be done later: ${hint}`);
  }
  const cancelSuperseded = db
    .prepare(
      `UPDATE jobs SET state = 'cancelled', updated_at = ?1
       WHERE ?2 = 'transcript' AND asset_id = ?3 AND kind = 'transcript'
         AND state IN ('queued', 'running')`,
    )
    .bind(now, kind, assetId);
  const insert = db
    .prepare(
      `INSERT INTO jobs (job_id, account_id, index_id, asset_id, kind, state, message, due_at,
         created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?8, ?8)`,
    )
    .bind(jobId, accountId, indexId, assetId, kind, message, now + JOBS.redispatchMs, now);
  await db.batch([cancelSuperseded, insert]);
}

/** `leased`: by another invocation. `finished`: the job has ended or was cancelled. */
export type Claim = "claimed" | "leased" | "finished";

/** Leases a job for `JOBS.leaseMs`. */
export async function claimJob(db: D1Database, jobId: JobId, now: number): Promise<Claim> {
  const { meta } = await db
    .prepare(
      `UPDATE jobs SET state = 'running', leased = 1, due_at = ?1, updated_at = ?2
       WHERE job_id = ?3 AND state IN ('queued', 'running') AND (leased = 0 OR due_at <= ?2)`,
    )
    .bind(now + JOBS.leaseMs, now, jobId)
    .run();
  if (meta.changes > 0) return "claimed";
  const state = await db
    .prepare("SELECT state FROM jobs WHERE job_id = ?")
    .bind(jobId)
    .first<JobState>("state");
  return state === "running" ? "leased" : "finished";
}

/** Extends the lease of a job. */
export async function renewJob(db: D1Database, jobId: JobId, now: number): Promise<void> {
  await db
    .prepare("UPDATE jobs SET due_at = ? WHERE job_id = ? AND leased = 1")
    .bind(now + JOBS.leaseMs, jobId)
    .run();
}

/** Ends the lease of a job, which is sent again at `dueAt` unless the queue delivers it first. */
export async function releaseJob(db: D1Database, jobId: JobId, dueAt: number): Promise<void> {
  await db
    .prepare("UPDATE jobs SET leased = 0, due_at = ? WHERE job_id = ? AND leased = 1")
    .bind(dueAt, jobId)
    .run();
}

/** Ends the lease of a job that waits out a limit. It is sent at `dueAt`, with all dispatches. */
export async function deferJob(db: D1Database, jobId: JobId, dueAt: number): Promise<void> {
  await db
    .prepare(
      "UPDATE jobs SET leased = 0, dispatches = 0, due_at = ? WHERE job_id = ? AND leased = 1",
    )
    .bind(dueAt, jobId)
    .run();
}

/**
 * Releases a job that has more to do and sends its message again, with all its attempts left.
 * Throws if the queue refuses the message.
 */
export async function continueJob(
  env: Pick<Env, "DB" | "JOBS">,
  job: JobMessage,
  now: number,
): Promise<void> {
  await releaseJob(env.DB, job.jobId, now + JOBS.redispatchMs);
  await env.JOBS.send(job);
}

/**
 * Takes the messages of overdue jobs, to send them again. Each is due later than the time before.
 */
export async function redispatchOverdueJobs(
  db: D1Database,
  now: number,
  limit: number,
): Promise<JobMessage[]> {
  const { results } = await db
    .prepare(
      `UPDATE jobs SET leased = 0, dispatches = dispatches + 1, due_at = ?1 + ?2 * (dispatches + 1)
       WHERE job_id IN (SELECT job_id FROM jobs WHERE due_at <= ?1 ORDER BY due_at LIMIT ?3)
       RETURNING message`,
    )
    .bind(now, JOBS.redispatchMs, limit)
    .all<{ message: string }>();
  return results.map(({ message }) => JSON.parse(message));
}

export const ATTEMPTS_EXHAUSTED: Failure = {
  code: "internal",
  message: "The job failed too often; ask again.",
};

/** Fails overdue jobs without dispatches left. Returns their messages, for cleaning up. */
export async function failExhaustedJobs(
  db: D1Database,
  now: number,
  limit: number,
): Promise<JobMessage[]> {
  const { results } = await db
    .prepare(
      `UPDATE jobs SET state = 'failed', error = ?4, updated_at = ?1
       WHERE job_id IN (
         SELECT job_id FROM jobs WHERE due_at <= ?1 AND dispatches >= ?2 ORDER BY due_at LIMIT ?3
       )
       RETURNING message`,
    )
    .bind(now, JOBS.maxDispatches, limit, JSON.stringify(ATTEMPTS_EXHAUSTED))
    .all<{ message: string }>();
  return results.map(({ message }) => JSON.parse(message));
}

export async function requireJob(
  db: D1Database,
  accountId: AccountId,
  jobId: string,
): Promise<Job> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} ${FROM_JOBS} WHERE jobs.job_id = ? AND jobs.account_id = ?`)
    .bind(jobId, accountId)
    .first<Job>();
  if (!row) throw new AppError("not_found", `There is no job "${jobId}".`);
  return fromRow(row);
}

/** Lists the jobs of an account, newest first. */
export async function listJobs(
  db: D1Database,
  accountId: AccountId,
  { limit, after }: PageRequest,
): Promise<Page<Job>> {
  const [rows, total] = await db.batch<Job & { total: number }>([
    db
      .prepare(
        `SELECT ${COLUMNS} ${FROM_JOBS}
         WHERE jobs.account_id = ?1 AND (?2 = '' OR jobs.job_id < ?2)
         ORDER BY jobs.job_id DESC LIMIT ?3`,
      )
      .bind(accountId, after, limit + 1),
    db.prepare("SELECT COUNT(*) AS total FROM jobs WHERE account_id = ?").bind(accountId),
  ]);
  return toPage(rows!.results.map(fromRow), total!.results[0]!.total, limit, (job) => job.jobId);
}

export interface JobChange {
  state: JobState;
  progress: number;
  result?: unknown;
  error?: Failure;
}

/** Updates an unfinished job. Returns false if the job has ended or was cancelled. */
export async function updateJob(db: D1Database, jobId: JobId, change: JobChange): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `UPDATE jobs SET state = ?, progress = MAX(progress, ?), result = COALESCE(?, result),
         error = ?, dispatches = 0, updated_at = ?
       WHERE job_id = ? AND state IN ('queued', 'running')`,
    )
    .bind(
      change.state,
      change.progress,
      change.result === undefined ? null : JSON.stringify(change.result),
      change.error === undefined ? null : JSON.stringify(change.error),
      Date.now(),
      jobId,
    )
    .run();
  return meta.changes > 0;
}

const CANCELLABLE_KINDS = ["search", "transcript", "import", "traverse", "repair"];
const IS_CANCELLABLE = `kind IN (${CANCELLABLE_KINDS.map((kind) => `'${kind}'`).join(", ")})`;

/**
 * Throws `conflict` if the job has ended, has taken effect, or is of a kind that can't be
 * cancelled.
 */
export async function cancelJob(db: D1Database, job: Job): Promise<void> {
  const { meta } = await db
    .prepare(
      `UPDATE jobs SET state = 'cancelled', updated_at = ?
       WHERE job_id = ? AND ${IS_CANCELLABLE} AND state IN ('queued', 'running')
         AND NOT EXISTS (
           SELECT 1 FROM assets
           WHERE assets.asset_id = jobs.asset_id AND transcript_job_id = jobs.job_id
         )`,
    )
    .bind(Date.now(), job.jobId)
    .run();
  if (meta.changes > 0) return;
  const reason = CANCELLABLE_KINDS.includes(job.kind)
    ? "it has ended, or what it was to do is done"
    : `only ${CANCELLABLE_KINDS.join(", ")} jobs can be; delete an asset to stop its ingest`;
  throw new AppError("conflict", `The job can't be cancelled: ${reason}.`);
}

function fromRow(row: Job): Job {
  return parseColumns(row, ["result", "error"]);
}
