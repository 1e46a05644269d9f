import { MODELS, LIFECYCLE } from "../../config.ts";
import { AppError } from "../../errors.ts";
import type { AccountId, IndexId, JobId } from "../../ids.ts";
import type { JsonObject, MediaIndexRow, Tally } from "../../types.ts";
import {
  assignments,
  batch,
  IN_TURN,
  inList,
  newRow,
  type PageRequest,
  parseColumns,
  raw,
  readPage,
  sql,
  type SqlFragment,
  d1,
  concat,
} from "../sql.ts";
import { QuotaGuard, type QuotaRequest, recordBytes, IS_BELOW_RECORD_LIMIT } from "./quotas.ts";
import { insertFirstShard, SHARDS_COLUMN } from "./shards.ts";

export type NewMediaIndex = Omit<MediaIndexRow, "shards">;

const COLUMNS = raw(`index_id AS indexId, account_id AS accountId, name, description, metadata,
  settings, created_at AS createdAt, updated_at AS updatedAt,
  last_traversed_at AS lastTraversedAt, ${SHARDS_COLUMN}`);

/**
 * Inserts an index and its first shard. Throws `conflict` if the account has one of that name, and
 * `account_full` if it has its maximum of indices or of records.
 */
export async function insertIndex(env: Env, index: NewMediaIndex): Promise<void> {
  const { description, metadata, settings } = index;
  const quota = new QuotaGuard(index.accountId, {
    indices: 1,
    ...recordBytes(description, metadata, settings),
  });
  const row = newRow("indices", { ...index, textModel: MODELS.embedText.id });
  const [inserted] = await quota.write(env.DB, [
    sql`INSERT OR IGNORE INTO ${row} WHERE ${quota.condition}`,
    ...insertFirstShard(env, index.indexId),
  ]);
  if (inserted!.meta.changes > 0) return;
  throw new AppError("conflict", `An index named "${index.name}" exists; choose another name.`);
}

/** Throws `not_found` if the account has no such index, whether or not another account has. */
export async function requireIndex(db: D1Database, accountId: AccountId, name: string) {
  return requireRow(await d1(db).first<MediaIndexRow>`${selectByName(accountId, name)}`, name);
}

/** Returns the index of an account, as a replica knows it; null if it doesn't. */
export async function findIndex(db: D1DatabaseSession, accountId: AccountId, name: string) {
  const row = await d1(db).first<MediaIndexRow>`${selectByName(accountId, name)}`;
  return row && fromRow(row);
}

/** Returns what `requireIndex` returns. Throws what it and `requireQuota` throw. */
export async function requireIndexWithinQuota(
  db: D1Database,
  accountId: AccountId,
  name: string,
  requested: QuotaRequest,
): Promise<MediaIndexRow> {
  const quota = new QuotaGuard(accountId, requested);
  const [rows, usage] = await batch(db, [selectByName(accountId, name), quota.usageStatement]);
  const index = requireRow(rows!.results[0] as MediaIndexRow | undefined, name);
  quota.throwIfExceeded(usage!.results[0]);
  return index;
}

export async function listIndicesByName(
  db: D1Database,
  accountId: AccountId,
  names: readonly string[],
): Promise<MediaIndexRow[]> {
  const rows = await d1(db).all<MediaIndexRow>`SELECT ${COLUMNS} FROM indices
      WHERE account_id = ${accountId} AND name ${inList(names)} AND deleted_at IS NULL`;
  return rows.map(fromRow);
}

/**
 * Returns the `limit` indices of an account to which a video or image was added last, and the names
 * of the others. One without any counts from its creation.
 */
export async function listNewestIndices(db: D1Database, accountId: AccountId, limit: number) {
  const owned = sql`FROM indices WHERE account_id = ${accountId} AND deleted_at IS NULL`;
  const newest = sql`COALESCE(
    (SELECT MAX(substr(asset_id, 5)) FROM assets WHERE assets.index_id = indices.index_id),
    substr(index_id, 5))`;
  const [listed, others] = await batch<MediaIndexRow>(db, [
    sql`SELECT ${COLUMNS} ${owned} ORDER BY ${newest} DESC LIMIT ${limit}`,
    sql`SELECT name ${owned} ORDER BY ${newest} DESC LIMIT -1 OFFSET ${limit}`,
  ]);
  const otherNames = others!.results.map(({ name }) => name);
  return { indices: listed!.results.map(fromRow), otherNames };
}

function selectByName(accountId: AccountId, name: string): SqlFragment {
  return sql`SELECT ${COLUMNS} FROM indices WHERE account_id = ${accountId} AND name = ${name}
    AND deleted_at IS NULL`;
}

function requireRow(row: MediaIndexRow | null | undefined, name: string): MediaIndexRow {
  if (!row) throw new AppError("not_found", `There is no index named "${name}".`);
  return fromRow(row);
}

export function listIndices(db: D1Database, accountId: AccountId, request: PageRequest) {
  const from = sql`FROM indices WHERE account_id = ${accountId} AND deleted_at IS NULL`;
  return readPage(db, { columns: COLUMNS, from, id: "indexId" }, request, fromRow);
}

export interface IndexChange {
  description?: string | undefined;
  metadata?: JsonObject | undefined;
  settings?: JsonObject | undefined;
}

/** Changes an index. Throws `account_full` if the account has no room for longer texts. */
export async function updateIndex(
  db: D1Database,
  { accountId, indexId }: Pick<MediaIndexRow, "accountId" | "indexId">,
  change: IndexChange,
  now: number,
): Promise<void> {
  const texts = {
    description: change.description,
    metadata: change.metadata && JSON.stringify(change.metadata),
    settings: change.settings && JSON.stringify(change.settings),
  };
  const quota = new QuotaGuard(accountId, recordBytes(...Object.values(texts)));
  const changed = sql`UPDATE indices SET ${assignments({ ...texts, updatedAt: now })}
    WHERE index_id = ${indexId} AND ${quota.replaceCondition(texts)}`;
  await quota.write(db, [changed]);
}

/** Marks an index as deleted and frees its name. A job deletes its content. */
export async function softDeleteIndex(db: D1Database, indexId: IndexId, now: number) {
  await d1(db).run`UPDATE indices SET deleted_at = ${now} WHERE index_id = ${indexId}`;
}

/** Lists, in turn, indices that were deleted before `before` and that no job is deleting. */
export async function listSoftDeletedIndices(db: D1Database, before: number, limit: number) {
  return d1(db).all<Pick<MediaIndexRow, "accountId" | "indexId">>`
    SELECT account_id AS accountId, index_id AS indexId FROM indices
      WHERE deleted_at < ${before} AND NOT EXISTS (
        SELECT 1 FROM jobs
        WHERE jobs.account_id = indices.account_id AND jobs.index_id = indices.index_id
          AND kind = 'delete_index' AND state IN ('queued', 'running')
      ) ${IN_TURN} LIMIT ${limit}`;
}

export async function deleteIndexRow(db: D1Database, indexId: IndexId): Promise<void> {
  await batch(db, [
    sql`DELETE FROM tallies WHERE ${ofIndex(indexId)}`,
    sql`DELETE FROM job_items
      WHERE job_id IN (SELECT job_id FROM jobs WHERE index_id = ${indexId} AND kind = 'import')`,
    sql`DELETE FROM imports WHERE index_id = ${indexId}`,
    sql`DELETE FROM sources WHERE index_id = ${indexId}`,
    sql`DELETE FROM watches WHERE index_id = ${indexId}`,
    sql`DELETE FROM shards WHERE index_id = ${indexId}`,
    sql`DELETE FROM indices WHERE index_id = ${indexId}`,
  ]);
}

function fromRow(row: MediaIndexRow): MediaIndexRow {
  return parseColumns(row, ["metadata", "settings", "shards"]);
}

export async function listTallies(db: D1Database, accountId: AccountId, indexId?: IndexId) {
  return d1(db)
    .all<Tally>`SELECT index_id AS indexId, asset_type AS assetType, state, assets, segments,
        duration_ms AS durationMs, size_bytes AS sizeBytes
      FROM tallies JOIN indices USING (index_id, account_id)
      WHERE account_id = ${accountId} AND (${indexId ?? null} IS NULL
        OR index_id = ${indexId ?? null}) AND deleted_at IS NULL`;
}

/** Condition for the tallies of an index, by their primary key. */
function ofIndex(indexId: IndexId): SqlFragment {
  return sql`(tallies.account_id, tallies.index_id) IN (
    SELECT account_id, index_id FROM indices WHERE index_id = ${indexId})`;
}

/** Statement that counts the assets of an index with these types and states, as `total`. */
export function countAssets(indexId: IndexId, filters: readonly SqlFragment[]): SqlFragment {
  const isCounted = concat([ofIndex(indexId), ...filters], " AND ");
  return sql`SELECT SUM(assets) AS total FROM tallies WHERE ${isCounted}`;
}

/**
 * Lists indices that are due for a traversal: by the schedule, or because the text model has
 * changed. Leaves out indices with an unfinished or recent traversal, and accounts without room for
 * the report. Takes one of each account, the one that is due longest, before a second one of any;
 * first of those whose last turn is longest ago.
 */
export async function listIndicesDue(db: D1Database, now: number, limit: number) {
  return d1(db).all<Pick<MediaIndexRow, "accountId" | "indexId">>`
    SELECT indices.account_id AS accountId, index_id AS indexId
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
        traversal_started_at, traverse_due_at LIMIT ${limit}`;
}

export async function recordTurns(db: D1Database, accountIds: AccountId[], now: number) {
  await d1(db).run`UPDATE accounts SET traversal_started_at = ${now}
    WHERE account_id ${inList(accountIds)}`;
}

export async function isIndexLive(db: D1Database, indexId: IndexId): Promise<boolean> {
  const live = await d1(db).firstValue<number>`
    SELECT 1 AS live FROM indices WHERE index_id = ${indexId} AND deleted_at IS NULL`;
  return live === 1;
}

/** Records a traversal. `isCurrent`: all text vectors are of the present model. */
export async function markTraversed(
  db: D1Database,
  indexId: IndexId,
  isCurrent: boolean,
  now: number,
): Promise<void> {
  await d1(db).run`UPDATE indices
      SET last_traversed_at = ${now},
        text_model = CASE WHEN ${isCurrent ? 1 : 0} THEN ${MODELS.embedText.id} ELSE '' END
      WHERE index_id = ${indexId}`;
}

export interface TraversalJob {
  jobId: JobId;
  state: "queued" | "running";
}

export async function getTraversal(db: D1Database, indexId: IndexId): Promise<TraversalJob | null> {
  return d1(db).first`SELECT job_id AS jobId, state FROM jobs
      WHERE index_id = ${indexId} AND kind = 'traverse' AND state IN ('queued', 'running')`;
}
