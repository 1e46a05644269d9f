import { MODELS } from "../../config.ts";
import { AppError } from "../../errors.ts";
import type { AccountId, IndexId } from "../../ids.ts";
import type { IndexCalibration } from "../../index-calibration.ts";
import type { JsonObject, MediaIndexRow } from "../../types.ts";
import {
  all,
  batch,
  first,
  IN_TURN,
  inList,
  type Page,
  type PageRequest,
  parseColumns,
  raw,
  run,
  sql,
  type SqlFragment,
  toPage,
} from "../sql.ts";
import { QuotaGuard, type QuotaRequest, recordBytes } from "./quotas.ts";
import { insertFirstShard, SHARDS_COLUMN } from "./shards.ts";
import { ofIndex } from "./tallies.ts";

export type NewMediaIndex = Omit<MediaIndexRow, "shards">;

const COLUMNS = raw(`index_id AS indexId, account_id AS accountId, name, description, metadata,
  settings, created_at AS createdAt, updated_at AS updatedAt,
  last_traversed_at AS lastTraversedAt, revision, ${SHARDS_COLUMN},
  (CASE WHEN calibration_slope IS NOT NULL
    AND COALESCE(settings ->> 'calibration', '') <> 'general'
    THEN json_object('slope', calibration_slope, 'offset', calibration_offset,
      'tag', calibration_tag) END) AS calibration`);

/**
 * Inserts an index and its first shard. Throws `conflict` if the account has one of that name, and
 * `account_full` if it has its maximum of indices or of records.
 */
export async function insertIndex(env: Env, index: NewMediaIndex): Promise<void> {
  const { accountId, description, metadata, settings } = index;
  const quota = new QuotaGuard(accountId, {
    indices: 1,
    ...recordBytes(description, metadata, settings),
  });
  const row = sql`INSERT OR IGNORE INTO indices (index_id, account_id, name, description, metadata,
      settings, created_at, updated_at, text_model)
    SELECT ${index.indexId}, ${accountId}, ${index.name}, ${description},
      ${JSON.stringify(metadata)}, ${JSON.stringify(settings)}, ${index.createdAt},
      ${index.updatedAt}, ${MODELS.embedText.id}
    WHERE ${quota.condition}`;
  const statements = [row, ...insertFirstShard(env, index.indexId)];
  const results = await batch(env.DB, [...statements, quota.usageStatement]);
  if (results[0]!.meta.changes === 0) {
    quota.throwIfExceeded(results.at(-1)!.results[0]);
    throw new AppError("conflict", `An index named "${index.name}" exists; choose another name.`);
  }
}

/** Throws `not_found` if the account has no such index, whether or not another account has. */
export async function requireIndex(
  db: D1Database,
  accountId: AccountId,
  name: string,
): Promise<MediaIndexRow> {
  return requireRow(await first<MediaIndexRow>(db, selectByName(accountId, name)), name);
}

/** Returns the index of an account, as a replica knows it; null if it doesn't. */
export async function findIndex(
  db: D1DatabaseSession,
  accountId: AccountId,
  name: string,
): Promise<MediaIndexRow | null> {
  const row = await first<MediaIndexRow>(db, selectByName(accountId, name));
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

/** Returns the indices of an account that have one of several names. */
export async function listIndicesByName(
  db: D1Database,
  accountId: AccountId,
  names: readonly string[],
): Promise<MediaIndexRow[]> {
  const rows = await all<MediaIndexRow>(
    db,
    sql`SELECT ${COLUMNS} FROM indices
      WHERE account_id = ${accountId} AND name ${inList(names)} AND deleted_at IS NULL`,
  );
  return rows.map(fromRow);
}

/**
 * Returns the `limit` indices of an account to which a video or image was added last, and the names
 * of the others. One without any counts from its creation.
 */
export async function listNewestIndices(
  db: D1Database,
  accountId: AccountId,
  limit: number,
): Promise<{ indices: MediaIndexRow[]; otherNames: string[] }> {
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

export async function listIndices(
  db: D1Database,
  accountId: AccountId,
  { limit, after }: PageRequest,
): Promise<Page<MediaIndexRow>> {
  const [rows, total] = await batch<MediaIndexRow & { total: number }>(db, [
    sql`SELECT ${COLUMNS} FROM indices
      WHERE account_id = ${accountId} AND deleted_at IS NULL AND index_id > ${after}
      ORDER BY index_id LIMIT ${limit + 1}`,
    sql`SELECT COUNT(*) AS total FROM indices WHERE account_id = ${accountId}
      AND deleted_at IS NULL`,
  ]);
  return toPage(rows!.results.map(fromRow), total!.results[0]!.total, limit, (i) => i.indexId);
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
  const changed = sql`UPDATE indices SET description = COALESCE(${texts.description ?? null},
      description), metadata = COALESCE(${texts.metadata ?? null}, metadata),
      settings = COALESCE(${texts.settings ?? null}, settings), updated_at = ${now}
    WHERE index_id = ${indexId} AND ${quota.replaceCondition(texts)}`;
  const [updated, usage] = await batch(db, [changed, quota.usageStatement]);
  if (updated!.meta.changes === 0) quota.throwIfExceeded(usage!.results[0]);
}

/** Stores an index's own calibration, whether or not it is turned off; null for none. */
export async function updateCalibration(
  db: D1Database,
  indexId: IndexId,
  calibration: IndexCalibration | null,
): Promise<void> {
  const { slope = null, offset = null, tag = null } = calibration ?? {};
  await run(
    db,
    sql`UPDATE indices SET calibration_slope = ${slope}, calibration_offset = ${offset},
        calibration_tag = ${tag}
      WHERE index_id = ${indexId} AND (calibration_slope IS NOT ${slope}
        OR calibration_offset IS NOT ${offset} OR calibration_tag IS NOT ${tag})`,
  );
}

/** Returns the shards of an index and its calibration; none for an index without a record. */
export async function getSearchableParts(
  db: D1Database,
  indexId: IndexId,
): Promise<Pick<MediaIndexRow, "shards" | "calibration">> {
  const row = await first<MediaIndexRow>(
    db,
    sql`SELECT ${COLUMNS} FROM indices WHERE index_id = ${indexId}`,
  );
  return row ? fromRow(row) : { shards: [], calibration: null };
}

/** Marks an index as deleted and frees its name. A job deletes its content. */
export async function softDeleteIndex(
  db: D1Database,
  indexId: IndexId,
  now: number,
): Promise<void> {
  await run(db, sql`UPDATE indices SET deleted_at = ${now} WHERE index_id = ${indexId}`);
}

/** Lists, in turn, indices that were deleted before `before` and that no job is deleting. */
export async function listSoftDeletedIndices(
  db: D1Database,
  before: number,
  limit: number,
): Promise<Pick<MediaIndexRow, "accountId" | "indexId">[]> {
  return all<Pick<MediaIndexRow, "accountId" | "indexId">>(
    db,
    sql`SELECT account_id AS accountId, index_id AS indexId FROM indices
      WHERE deleted_at < ${before} AND NOT EXISTS (
        SELECT 1 FROM jobs
        WHERE jobs.account_id = indices.account_id AND jobs.index_id = indices.index_id
          AND kind = 'delete_index' AND state IN ('queued', 'running')
      ) ${IN_TURN} LIMIT ${limit}`,
  );
}

/** Deletes the rows of an index that has no assets any more. */
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
  return parseColumns(row, ["metadata", "settings", "shards", "calibration"]);
}
