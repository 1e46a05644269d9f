import { LIFECYCLE, MODELS } from "../config.ts";
import type { IndexId, JobId } from "../ids.ts";
import type { MediaIndexRow } from "../types.ts";

/**
 * Lists indices that are due for a traversal: by the schedule, or because the text model has
 * changed. Leaves out indices with an unfinished or recent traversal.
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
    .bind(now, MODELS.embedText.id, now - LIFECYCLE.minIntervalMs, limit)
    .all<Pick<MediaIndexRow, "accountId" | "indexId">>();
  return results;
}

/** Whether an index exists and isn't being deleted. */
export async function isIndexLive(db: D1Database, indexId: IndexId): Promise<boolean> {
  const live = await db
    .prepare("SELECT 1 AS live FROM indices WHERE index_id = ? AND deleted_at IS NULL")
    .bind(indexId)
    .first<number>("live");
  return live === 1;
}

/** Records a traversal. `isCurrent`: all text vectors are of the present model. */
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

/** Increments the revision of an index, which invalidates cached answers. */
export async function incrementRevision(db: D1Database, indexId: IndexId): Promise<void> {
  await db
    .prepare("UPDATE indices SET revision = revision + 1 WHERE index_id = ?")
    .bind(indexId)
    .run();
}

/** An unfinished job that traverses an index. */
export interface TraversalJob {
  jobId: JobId;
  state: "queued" | "running";
}

/** Returns the unfinished traversal of an index, or null. */
export async function getTraversal(db: D1Database, indexId: IndexId): Promise<TraversalJob | null> {
  return db
    .prepare(
      `SELECT job_id AS jobId, state FROM jobs
       WHERE index_id = ? AND kind = 'traverse' AND state IN ('queued', 'running')`,
    )
    .bind(indexId)
    .first();
}
