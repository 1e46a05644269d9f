import { AppError, type Failure } from "../errors.ts";
import type { Job, JobState } from "../types.ts";
import { type Page, type PageRequest, parseColumns, toPage } from "./rows.ts";

const COLUMNS = `job_id AS jobId, index_id AS indexId, kind, state, progress, result, error, created_at AS createdAt,
  updated_at AS updatedAt`;

export interface NewJob {
  jobId: string;
  accountId: string;
  indexId: string;
  kind: string;
  now: number;
}

export async function insertJob(db: D1Database, job: NewJob): Promise<void> {
  await db
    .prepare(
      `INSERT INTO jobs (job_id, account_id, index_id, kind, state, created_at, updated_at)
       VALUES (?1, ?2, ?3, ?4, 'queued', ?5, ?5)`,
    )
    .bind(job.jobId, job.accountId, job.indexId, job.kind, job.now)
    .run();
}

/** A job that puts a transcript in; those that were to put in another one of the video are cancelled. */
export async function insertTranscriptJob(
  db: D1Database,
  job: Omit<NewJob, "kind"> & { assetId: string },
): Promise<void> {
  await db.batch([
    db
      .prepare(
        `UPDATE jobs SET state = 'cancelled', updated_at = ?
         WHERE asset_id = ? AND kind = 'transcript' AND state IN ('queued', 'running')`,
      )
      .bind(job.now, job.assetId),
    db
      .prepare(
        `INSERT INTO jobs (job_id, account_id, index_id, asset_id, kind, state, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, 'transcript', 'queued', ?5, ?5)`,
      )
      .bind(job.jobId, job.accountId, job.indexId, job.assetId, job.now),
  ]);
}

export async function requireJob(db: D1Database, accountId: string, jobId: string): Promise<Job> {
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
  accountId: string,
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
export async function updateJob(
  db: D1Database,
  jobId: string,
  change: JobChange,
): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `UPDATE jobs SET state = ?, progress = ?, result = ?, error = ?, updated_at = ?
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

/** Throws `conflict` where the job has ended, or is none that can be given up half-way. */
export async function cancelJob(db: D1Database, job: Job): Promise<void> {
  const { meta } = await db
    .prepare(
      `UPDATE jobs SET state = 'cancelled', updated_at = ?
       WHERE job_id = ? AND kind IN ('search', 'transcript') AND state IN ('queued', 'running')
         AND NOT EXISTS (
           SELECT 1 FROM assets WHERE assets.asset_id = jobs.asset_id AND transcript_job = jobs.job_id
         )`,
    )
    .bind(Date.now(), job.jobId)
    .run();
  if (meta.changes > 0) return;
  const why = ["search", "transcript"].includes(job.kind)
    ? "it has ended, or what it was to do is done"
    : "only searches and transcripts can be; delete an asset to stop its ingest";
  throw new AppError("conflict", `The job can't be cancelled: ${why}.`);
}

function fromRow(row: Job): Job {
  return parseColumns(row, ["result", "error"]);
}
