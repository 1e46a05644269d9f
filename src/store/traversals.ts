import { CARE, MODELS } from "../config.ts";
import type { IndexId, JobId } from "../ids.ts";
import type { MediaIndexRow } from "../types.ts";

/**
 * Indices that are due to be traversed: by the clock, or since the text model has changed. One that is being
 * traversed, or was begun to be lately, isn't.
 */
export async function listIndicesDue(
  db: D1Database,
  now: number,
  limit: number,
): Promise<Pick<MediaIndexRow, "accountId" | "indexId">[]> {
  const { results } = await db
    .prepare(
      `SELECT account_id AS accountId, index_id AS indexId FROM indices
       WHERE index_id IN (
           SELECT index_id FROM indices WHERE deleted_at IS NULL AND traverse_due_at <= ?1
           UNION ALL SELECT index_id FROM indices WHERE deleted_at IS NULL AND text_model < ?2
           UNION ALL SELECT index_id FROM indices WHERE deleted_at IS NULL AND text_model > ?2
         )
         AND NOT EXISTS (
           SELECT 1 FROM jobs WHERE jobs.index_id = indices.index_id AND kind = 'traverse'
             AND (jobs.created_at > ?3 OR jobs.state IN ('queued', 'running'))
         )
       LIMIT ?4`,
    )
    .bind(now, MODELS.embedText.id, now - CARE.againMs, limit)
    .all<Pick<MediaIndexRow, "accountId" | "indexId">>();
  return results;
}

/** Whether an index is there, and isn't being removed. */
export async function isIndexThere(db: D1Database, indexId: IndexId): Promise<boolean> {
  const there = await db
    .prepare("SELECT 1 AS there FROM indices WHERE index_id = ? AND deleted_at IS NULL")
    .bind(indexId)
    .first<number>("there");
  return there === 1;
}

/** An index has been traversed; `isCurrent`: all its text vectors are of the present model. */
export async function markTraversed(
  db: D1Database,
  indexId: IndexId,
  isCurrent: boolean,
  now: number,
): Promise<void> {
  await db
    .prepare(
      `UPDATE indices SET last_traversed_at = ?1, text_model = CASE WHEN ?2 THEN ?3 ELSE '' END
       WHERE index_id = ?4`,
    )
    .bind(now, isCurrent ? 1 : 0, MODELS.embedText.id, indexId)
    .run();
}

/** What can be found in an index has changed: answers of before don't hold any more. */
export async function reviseIndex(db: D1Database, indexId: IndexId): Promise<void> {
  await db
    .prepare("UPDATE indices SET revision = revision + 1 WHERE index_id = ?")
    .bind(indexId)
    .run();
}

/** A job that traverses an index. */
export interface Traversal {
  jobId: JobId;
  state: "queued" | "running";
}

/** The one at present, or null. */
export async function getTraversal(db: D1Database, indexId: IndexId): Promise<Traversal | null> {
  return db
    .prepare(
      `SELECT job_id AS jobId, state FROM jobs
       WHERE index_id = ? AND kind = 'traverse' AND state IN ('queued', 'running')`,
    )
    .bind(indexId)
    .first();
}
