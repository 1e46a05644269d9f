import { JOBS, LIMITS } from "../config.ts";
import { AppError, type Failure, traceOf } from "../errors.ts";
import type { AccountId, AssetId, IndexId, JobId } from "../ids.ts";
import { log } from "../log.ts";
import type { Job, JobState } from "../types.ts";
import { type Page, type PageRequest, parseColumns, toPage } from "./rows.ts";

const COLUMNS = `job_id AS jobId, index_id AS indexId, kind, state, progress, result, error, created_at AS createdAt,
  updated_at AS updatedAt`;

/** What the queue is told of a job: its record's columns, and what its kind needs beside. */
export interface NewJob {
  jobId: JobId;
  accountId: AccountId;
  indexId: IndexId;
  assetId?: AssetId | undefined;
  kind: string;
}

/**
 * Puts a job on record and into the queue. What it is to do stays on record until it has ended, so that a
 * message that gets lost is sent again. Jobs that were to put in another transcript of the same video are cancelled.
 * Throws `too_large` where a queue wouldn't take it.
 */
export async function startJob(
  env: Pick<Env, "DB" | "JOBS">,
  job: NewJob,
  now: number,
): Promise<void> {
  await insertJob(env.DB, job, now);
  await sendJob(env.JOBS, job);
}

/** Of a job on record: what the queue refuses is logged, and sent again when it is overdue. */
export async function sendJob(queue: Queue, job: NewJob): Promise<void> {
  try {
    await queue.send(job);
  } catch (error) {
    log("error", "job.not_sent", { job: job.jobId, kind: job.kind, cause: traceOf(error) });
  }
}

/** On record only: it is sent when it is overdue. Throws `too_large`. */
export async function insertJob(db: D1Database, job: NewJob, now: number): Promise<void> {
  const { jobId, accountId, indexId, assetId = null, kind } = job;
  const message = JSON.stringify(job);
  if (Buffer.byteLength(message) > LIMITS.messageBytes) {
    const why = `a queue takes ${LIMITS.messageBytes} bytes. Ask for less, or without queue_job.`;
    throw new AppError("too_large", `This is too large to be done later: ${why}`);
  }
  const supersede = db
    .prepare(
      `UPDATE jobs SET state = 'cancelled', updated_at = ?1
       WHERE ?2 = 'transcript' AND asset_id = ?3 AND kind = 'transcript' AND state IN ('queued', 'running')`,
    )
    .bind(now, kind, assetId);
  const insert = db
    .prepare(
      `INSERT INTO jobs
         (job_id, account_id, index_id, asset_id, kind, state, message, due_at, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?8, ?8)`,
    )
    .bind(jobId, accountId, indexId, assetId, kind, message, now + JOBS.unheardMs, now);
  await db.batch([supersede, insert]);
}

/** `held`: by another worker. `over`: it has ended, or was cancelled. */
export type Claim = "yes" | "held" | "over";

/** A worker takes a job for `JOBS.leaseMs`. */
export async function claimJob(db: D1Database, jobId: JobId, now: number): Promise<Claim> {
  const { meta } = await db
    .prepare(
      `UPDATE jobs SET state = 'running', held = 1, due_at = ?1, updated_at = ?2
       WHERE job_id = ?3 AND state IN ('queued', 'running') AND (held = 0 OR due_at <= ?2)`,
    )
    .bind(now + JOBS.leaseMs, now, jobId)
    .run();
  if (meta.changes > 0) return "yes";
  const state = await db
    .prepare("SELECT state FROM jobs WHERE job_id = ?")
    .bind(jobId)
    .first<JobState>("state");
  return state === "running" ? "held" : "over";
}

/** Its holder is still at it. */
export async function renewJob(db: D1Database, jobId: JobId, now: number): Promise<void> {
  await db
    .prepare("UPDATE jobs SET due_at = ? WHERE job_id = ? AND held = 1")
    .bind(now + JOBS.leaseMs, jobId)
    .run();
}

/** Its holder gives it back, to be asked for again at `dueAt` if the queue hasn't brought it by then. */
export async function releaseJob(db: D1Database, jobId: JobId, dueAt: number): Promise<void> {
  await db
    .prepare("UPDATE jobs SET held = 0, due_at = ? WHERE job_id = ? AND held = 1")
    .bind(dueAt, jobId)
    .run();
}

/** The messages of jobs that nothing was heard of in time; each is due again later. */
export async function takeOverdueJobs(
  db: D1Database,
  now: number,
  limit: number,
): Promise<NewJob[]> {
  const { results } = await db
    .prepare(
      `UPDATE jobs SET held = 0, asks = asks + 1, due_at = ?1 + ?2 * (asks + 1)
       WHERE job_id IN (SELECT job_id FROM jobs WHERE due_at <= ?1 ORDER BY due_at LIMIT ?3)
       RETURNING message`,
    )
    .bind(now, JOBS.unheardMs, limit)
    .all<{ message: string }>();
  return results.map(({ message }) => JSON.parse(message));
}

export const GIVEN_UP: Failure = {
  code: "internal",
  message: "The job failed too often; ask again.",
};

/** Ends overdue jobs that were asked for as often as may be: their messages, for a worker to tidy up after them. */
export async function giveUpJobs(db: D1Database, now: number, limit: number): Promise<NewJob[]> {
  const { results } = await db
    .prepare(
      `UPDATE jobs SET state = 'failed', error = ?4, updated_at = ?1
       WHERE job_id IN (SELECT job_id FROM jobs WHERE due_at <= ?1 AND asks >= ?2 ORDER BY due_at LIMIT ?3)
       RETURNING message`,
    )
    .bind(now, JOBS.mostAsks, limit, JSON.stringify(GIVEN_UP))
    .all<{ message: string }>();
  return results.map(({ message }) => JSON.parse(message));
}

export async function requireJob(
  db: D1Database,
  accountId: AccountId,
  jobId: string,
): Promise<Job> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM jobs WHERE job_id = ? AND account_id = ?`)
    .bind(jobId, accountId)
    .first<Job>();
  if (!row) throw new AppError("not_found", `There is no job "${jobId}".`);
  return fromRow(row);
}

/** Newest first. */
export async function listJobs(
  db: D1Database,
  accountId: AccountId,
  { limit, after }: PageRequest,
): Promise<Page<Job>> {
  const [rows, total] = await db.batch<Job & { total: number }>([
    db
      .prepare(
        `SELECT ${COLUMNS} FROM jobs WHERE account_id = ?1 AND (?2 = '' OR job_id < ?2)
         ORDER BY job_id DESC LIMIT ?3`,
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

/** False where the job has ended, or was cancelled, and stays so. */
export async function updateJob(db: D1Database, jobId: JobId, change: JobChange): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `UPDATE jobs SET state = ?, progress = MAX(progress, ?), result = COALESCE(?, result), error = ?,
         asks = 0, updated_at = ?
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

const CANCELLABLE = ["search", "transcript", "import", "traverse"];

/** Throws `conflict` where the job has ended, or is none that can be given up half-way. */
export async function cancelJob(db: D1Database, job: Job): Promise<void> {
  const { meta } = await db
    .prepare(
      `UPDATE jobs SET state = 'cancelled', updated_at = ?
       WHERE job_id = ? AND kind IN (${CANCELLABLE.map((kind) => `'${kind}'`).join(", ")}) AND state IN ('queued', 'running')
         AND NOT EXISTS (
           SELECT 1 FROM assets WHERE assets.asset_id = jobs.asset_id AND transcript_job = jobs.job_id
         )`,
    )
    .bind(Date.now(), job.jobId)
    .run();
  if (meta.changes > 0) return;
  const why = CANCELLABLE.includes(job.kind)
    ? "it has ended, or what it was to do is done"
    : `only ${CANCELLABLE.join(", ")} jobs can be; delete an asset to stop its ingest`;
  throw new AppError("conflict", `The job can't be cancelled: ${why}.`);
}

function fromRow(row: Job): Job {
  return parseColumns(row, ["result", "error"]);
}
