import { LIFECYCLE, MODELS } from "../../config.ts";
import type { AccountId, IndexId, JobId } from "../../ids.ts";
import type { MediaIndexRow } from "../../types.ts";
import { all, first, firstValue, inList, raw, run, sql } from "../sql.ts";
import { IS_BELOW_RECORD_LIMIT } from "./quotas.ts";

/**
 * Lists indices that are due for a traversal: by the schedule, or because the text model has
 * changed. Leaves out indices with an unfinished or recent traversal, and accounts without room for
 * the report. Takes one of each account, the one that is due longest, before a second one of any;
 * first of those whose last turn is longest ago.
 */
export async function listIndicesDue(
  db: D1Database,
  now: number,
  limit: number,
): Promise<Pick<MediaIndexRow, "accountId" | "indexId">[]> {
  return all<Pick<MediaIndexRow, "accountId" | "indexId">>(
    db,
    sql`SELECT indices.account_id AS accountId, index_id AS indexId
      FROM indices JOIN accounts USING (account_id)
      WHERE ${raw(IS_BELOW_RECORD_LIMIT)} AND index_id IN (
          SELECT index_id FROM indices WHERE deleted_at IS NULL AND traverse_due_at <= ${now}
          UNION ALL SELECT index_id FROM indices WHERE deleted_at IS NULL
            AND text_model < ${MODELS.embedText.id}
          UNION ALL SELECT index_id FROM indices WHERE deleted_at IS NULL
            AND text_model > ${MODELS.embedText.id}
        )
        AND NOT EXISTS (
          SELECT 1 FROM jobs WHERE jobs.index_id = indices.index_id AND kind = 'traverse'
            AND (jobs.created_at > ${now - LIFECYCLE.minIntervalMs}
              OR jobs.state IN ('queued', 'running'))
        )
      ORDER BY ROW_NUMBER() OVER (PARTITION BY indices.account_id ORDER BY traverse_due_at),
        traversal_started_at, traverse_due_at LIMIT ${limit}`,
  );
}

/** Records that accounts had their turn. */
export async function recordTurns(
  db: D1Database,
  accountIds: AccountId[],
  now: number,
): Promise<void> {
  const turn = sql`UPDATE accounts SET traversal_started_at = ${now}
    WHERE account_id ${inList(accountIds)}`;
  await run(db, turn);
}

/** Whether an index exists and isn't being deleted. */
export async function isIndexLive(db: D1Database, indexId: IndexId): Promise<boolean> {
  const live = await firstValue<number>(
    db,
    sql`SELECT 1 AS live FROM indices WHERE index_id = ${indexId} AND deleted_at IS NULL`,
  );
  return live === 1;
}

/** Records a traversal. `isCurrent`: all text vectors are of the present model. */
export async function markTraversed(
  db: D1Database,
  indexId: IndexId,
  isCurrent: boolean,
  now: number,
): Promise<void> {
  await run(
    db,
    sql`UPDATE indices
      SET last_traversed_at = ${now},
        text_model = CASE WHEN ${isCurrent ? 1 : 0} THEN ${MODELS.embedText.id} ELSE '' END
      WHERE index_id = ${indexId}`,
  );
}

/** Increments the revision of an index, which invalidates cached answers. */
export async function incrementRevision(db: D1Database, indexId: IndexId): Promise<void> {
  await run(db, sql`UPDATE indices SET revision = revision + 1 WHERE index_id = ${indexId}`);
}

/** An unfinished job that traverses an index. */
export interface TraversalJob {
  jobId: JobId;
  state: "queued" | "running";
}

/** Returns the unfinished traversal of an index, or null. */
export async function getTraversal(db: D1Database, indexId: IndexId): Promise<TraversalJob | null> {
  return first(
    db,
    sql`SELECT job_id AS jobId, state FROM jobs
      WHERE index_id = ${indexId} AND kind = 'traverse' AND state IN ('queued', 'running')`,
  );
}
