import { JOBS, LIMITS } from "../../config.ts";
import { AppError, type Failure, traceOf } from "../../errors.ts";
import { type AccountId, type AssetId, isIdText, type JobId } from "../../ids.ts";
import { log } from "../../log.ts";
import type { JobKind, JobMessage } from "../../messages.ts";
import type { Job, JobState } from "../../types.ts";
import {
  assignments,
  batch,
  newRow,
  type Page,
  type PageRequest,
  parseColumns,
  raw,
  sql,
  type SqlFragment,
  toPage,
  d1,
} from "../sql.ts";
import { QuotaGuard, recordBytes } from "./quotas.ts";

const COLUMNS = raw(`jobs.job_id AS jobId, jobs.index_id AS indexId, indices.name AS indexName,
  jobs.asset_id AS assetId, assets.title AS assetTitle, kind, jobs.state, jobs.progress, result,
  jobs.error, jobs.created_at AS createdAt, jobs.updated_at AS updatedAt`);
const FROM_JOBS = raw(`FROM jobs LEFT JOIN indices ON indices.index_id = jobs.index_id
  LEFT JOIN assets ON assets.asset_id = jobs.asset_id`);

/**
 * Whether the row of a job must fit in its account's share of D1. Deletions and the service's own
 * jobs needn't, nor need imports: it was checked when their source was added.
 */
export type QuotaCheck = "needed" | "none";

/** Inserts a job without enqueueing it: it is sent when it is overdue. Throws as `startJob`. */
export async function insertJob(
  db: D1Database,
  job: JobMessage,
  now: number,
  room: QuotaCheck = "needed",
): Promise<void> {
  const { jobId, accountId, indexId, kind } = job;
  const assetId = "assetId" in job ? job.assetId : null;
  const message = JSON.stringify(job);
  if (Buffer.byteLength(message) > LIMITS.messageBytes) {
    const hint = `a queue takes ${LIMITS.messageBytes} bytes. Ask for less, or without queue_job.`;
    throw new AppError("too_large", `This is too large to be done later: ${hint}`);
  }
  const cancelSuperseded = sql`UPDATE jobs SET state = 'cancelled', updated_at = ${now}
    WHERE ${kind} = 'transcript' AND asset_id = ${assetId} AND kind = 'transcript'
      AND state IN ('queued', 'running') AND job_id <> ${jobId}
      AND EXISTS (SELECT 1 FROM jobs WHERE job_id = ${jobId})`;
  const quota = new QuotaGuard(accountId, recordBytes(message));
  const times = { dueAt: now + JOBS.redispatchMs, createdAt: now, updatedAt: now };
  const row = { jobId, accountId, indexId, assetId, kind, state: "queued", message, ...times };
  const insert = sql`INSERT INTO ${newRow("jobs", row)}
    WHERE ${room === "none" ? raw("true") : quota.condition}`;
  await quota.write(db, [insert, cancelSuperseded]);
}

export async function getUnfinishedJob(db: D1Database, assetId: AssetId, kind: JobKind) {
  return d1(db)
    .firstValue<JobId>`SELECT job_id FROM jobs WHERE asset_id = ${assetId} AND kind = ${kind}
    AND state IN ('queued', 'running')`;
}

/** `leased`: by another invocation. `finished`: the job has ended or was cancelled. */
export type Claim = "claimed" | "leased" | "finished";

/** Leases a job for `JOBS.leaseMs`. A lease that has run out counts as a job that was cut off. */
export async function claimJob(db: D1Database, jobId: JobId, now: number): Promise<Claim> {
  const { meta } = await d1(db).run`
    UPDATE jobs SET state = 'running', leased = 1, due_at = ${now + JOBS.leaseMs},
        dispatches = dispatches + leased * ${JOBS.cutOffDispatches}, updated_at = ${now}
      WHERE job_id = ${jobId} AND state IN ('queued', 'running')
        AND (leased = 0 OR due_at <= ${now})`;
  if (meta.changes > 0) return "claimed";
  const state = await d1(db).firstValue<JobState>`SELECT state FROM jobs WHERE job_id = ${jobId}`;
  return state === "running" ? "leased" : "finished";
}

export async function renewJob(db: D1Database, jobId: JobId, now: number): Promise<void> {
  await d1(db).run`
    UPDATE jobs SET due_at = ${now + JOBS.leaseMs} WHERE job_id = ${jobId} AND leased = 1`;
}

/**
 * Ends the lease of a job, which is sent again at `dueAt` unless the queue delivers it first. One
 * that waits out a limit has all its dispatches then, and its record tells the limit until it goes
 * on.
 */
export async function releaseJob(db: D1Database, jobId: JobId, dueAt: number, limit?: Failure) {
  const released = { leased: 0, dueAt, ...(limit && { dispatches: 0, error: limit }) };
  await d1(db).run`
    UPDATE jobs SET ${assignments(released)} WHERE job_id = ${jobId} AND leased = 1`;
}

/** Changes overdue jobs and takes their messages. Each account has its turn. */
async function takeOverdueJobs(
  db: D1Database,
  change: SqlFragment,
  isTaken: SqlFragment,
  limit: number,
): Promise<JobMessage[]> {
  const rows = await d1(db).all<{ message: string }>`UPDATE jobs SET ${change}
      WHERE job_id IN (
        SELECT job_id FROM jobs WHERE ${isTaken}
        ORDER BY ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY due_at), due_at LIMIT ${limit}
      )
      RETURNING message`;
  return rows.map(({ message }) => JSON.parse(message));
}

/**
 * Takes the messages of overdue jobs, to send them again. Each is due later than the time before.
 */
export function redispatchOverdueJobs(db: D1Database, now: number, limit: number) {
  const change = sql`leased = 0,
    dispatches = dispatches + MAX(1, leased * ${JOBS.cutOffDispatches}),
    due_at = ${now} + ${JOBS.redispatchMs} * (dispatches + 1)`;
  return takeOverdueJobs(db, change, sql`due_at <= ${now}`, limit);
}

export const ATTEMPTS_EXHAUSTED: Failure = {
  code: "internal",
  message: "The job failed too often; ask again.",
};

/** Fails overdue jobs without dispatches left. Returns their messages, for cleaning up. */
export function failExhaustedJobs(db: D1Database, now: number, limit: number) {
  const change = assignments({ state: "failed", error: ATTEMPTS_EXHAUSTED, updatedAt: now });
  const isExhausted = sql`due_at <= ${now}
    AND dispatches + leased * ${JOBS.cutOffDispatches} >= ${JOBS.maxDispatches}`;
  return takeOverdueJobs(db, change, isExhausted, limit);
}

export async function requireJob(db: D1Database, accountId: AccountId, jobId: string) {
  const row =
    isIdText(["job"], jobId) &&
    (await d1(db).first<Job>`SELECT ${COLUMNS} ${FROM_JOBS}
    WHERE jobs.job_id = ${jobId} AND jobs.account_id = ${accountId}`);
  if (!row) throw new AppError("not_found", `There is no job "${jobId}".`);
  return fromRow(row);
}

export async function listJobs(
  db: D1Database,
  accountId: AccountId,
  { limit, after }: PageRequest,
): Promise<Page<Job>> {
  const [rows, total] = await batch<Job & { total: number }>(db, [
    sql`SELECT ${COLUMNS} ${FROM_JOBS}
      WHERE jobs.account_id = ${accountId} AND (${after} = '' OR jobs.job_id < ${after})
      ORDER BY jobs.job_id DESC LIMIT ${limit + 1}`,
    sql`SELECT COUNT(*) AS total FROM jobs WHERE account_id = ${accountId}`,
  ]);
  return toPage(rows!.results.map(fromRow), total!.results[0]!.total, limit, (job) => job.jobId);
}

export interface JobChange {
  state: JobState;
  progress: number;
  result?: unknown;
  error?: Failure;
}

/**
 * Updates an unfinished job. Returns false if the job has ended or was cancelled. With the job's
 * account, throws `account_full` if that has no room for a longer result.
 */
export async function updateJob(
  db: D1Database,
  jobId: JobId,
  { state, progress, result, error }: JobChange,
  accountId?: AccountId,
): Promise<boolean> {
  const json = result === undefined ? undefined : JSON.stringify(result);
  const quota = accountId && json ? new QuotaGuard(accountId, recordBytes(json)) : undefined;
  const change = sql`UPDATE jobs SET state = ${state}, progress = MAX(progress, ${progress}),
      result = COALESCE(${json ?? null}, result),
      error = ${error === undefined ? null : JSON.stringify(error)}, dispatches = 0,
      updated_at = ${Date.now()}
    WHERE job_id = ${jobId} AND state IN ('queued', 'running')
      AND ${quota?.replaceCondition({ result: json }) ?? raw("true")}`;
  const [updated, usage] = await batch(db, [change, ...(quota ? [quota.usageStatement] : [])]);
  if (updated!.meta.changes > 0) return true;
  quota?.throwIfExceeded(usage!.results[0]);
  return false;
}

const CANCELLABLE_KINDS = [
  "search",
  "transcript",
  "import",
  "import_archive",
  "traverse",
  "playback_copy",
  "repair",
  "preview_watch",
];
const IS_CANCELLABLE = `kind IN (${CANCELLABLE_KINDS.map((kind) => `'${kind}'`).join(", ")})`;

/**
 * Throws `conflict` if the job has ended, has taken effect, or is of a kind that can't be
 * cancelled.
 */
export async function cancelJob(db: D1Database, job: Job): Promise<void> {
  const { meta } = await d1(db).run`UPDATE jobs SET state = 'cancelled', updated_at = ${Date.now()}
      WHERE job_id = ${job.jobId} AND ${raw(IS_CANCELLABLE)} AND state IN ('queued', 'running')
        AND NOT EXISTS (
          SELECT 1 FROM assets
          WHERE assets.asset_id = jobs.asset_id AND transcript_job_id = jobs.job_id
        )`;
  if (meta.changes > 0) return;
  const reason = CANCELLABLE_KINDS.includes(job.kind)
    ? "it has ended, or what it was to do is done"
    : `only ${CANCELLABLE_KINDS.join(", ")} jobs can be; delete an asset to stop its ingest`;
  throw new AppError("conflict", `The job can't be cancelled: ${reason}.`);
}

function fromRow(row: Job): Job {
  return parseColumns(row, ["result", "error"]);
}

/** Rows of `jobs` that are needed: the last sync of a source, the ingest of an asset to retry. */
const IS_REFERRED_TO = raw(`(EXISTS (SELECT 1 FROM sources WHERE sources.job_id = jobs.job_id)
  OR EXISTS (SELECT 1 FROM assets WHERE assets.asset_id = jobs.asset_id
    AND assets.job_id = jobs.job_id AND assets.state <> 'ready'))`);

/**
 * Deletes jobs that ended before `JOBS.retentionMs`, the oldest first, with their items. A job that
 * is referred to is looked at again after as long a time, so that it doesn't hold up others; one
 * with many items goes in several runs.
 */
export async function pruneJobs(
  db: D1Database,
  now: number,
  { jobs, jobItems }: { jobs: number; jobItems: number },
): Promise<void> {
  const due = sql`SELECT job_id FROM jobs WHERE retained_at <= ${now - JOBS.retentionMs}
    ORDER BY retained_at LIMIT ${jobs}`;
  const isUnused = sql`job_id IN (${due}) AND NOT ${IS_REFERRED_TO}`;
  await batch(db, [
    sql`UPDATE jobs SET retained_at = ${now} WHERE job_id IN (${due}) AND ${IS_REFERRED_TO}`,
    sql`DELETE FROM job_items WHERE (job_id, platform_id) IN (
        SELECT job_id, platform_id FROM job_items
        WHERE job_id IN (SELECT job_id FROM jobs WHERE ${isUnused})
        ORDER BY job_id LIMIT ${jobItems})`,
    sql`DELETE FROM jobs WHERE ${isUnused}
      AND NOT EXISTS (SELECT 1 FROM job_items WHERE job_items.job_id = jobs.job_id)`,
  ]);
}

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
