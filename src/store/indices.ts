import { MODELS } from "../config.ts";
import { AppError } from "../errors.ts";
import type { AccountId, IndexId } from "../ids.ts";
import type { JsonObject, MediaIndexRow } from "../types.ts";
import { QuotaGuard, type QuotaRequest } from "./quotas.ts";
import { insertFirstShard, SHARDS_COLUMN } from "./shards.ts";
import { type Page, type PageRequest, parseColumns, prepare, sql, toPage } from "./sql.ts";

export type NewMediaIndex = Omit<MediaIndexRow, "shards">;

const COLUMNS = `index_id AS indexId, account_id AS accountId, name, description, metadata,
  settings, created_at AS createdAt, updated_at AS updatedAt,
  last_traversed_at AS lastTraversedAt, revision, ${SHARDS_COLUMN}`;

/** Inserts an index and its first shard. Throws `conflict` if the account has one of that name. */
export async function insertIndex(env: Env, index: NewMediaIndex): Promise<void> {
  const row = sql`INSERT OR IGNORE INTO indices (index_id, account_id, name, description, metadata,
      settings, created_at, updated_at, text_model)
    VALUES (${index.indexId}, ${index.accountId}, ${index.name}, ${index.description},
      ${JSON.stringify(index.metadata)}, ${JSON.stringify(index.settings)}, ${index.createdAt},
      ${index.updatedAt}, ${MODELS.embedText.id})`;
  const statements = [row, ...insertFirstShard(env, index.indexId)];
  const [inserted] = await env.DB.batch(statements.map((each) => prepare(env.DB, each)));
  if (inserted!.meta.changes === 0) {
    throw new AppError("conflict", `An index named "${index.name}" exists; choose another name.`);
  }
}

/** Throws `not_found` if the account has no such index, whether or not another account has. */
export async function requireIndex(
  db: D1Database,
  accountId: AccountId,
  name: string,
): Promise<MediaIndexRow> {
  return requireRow(await selectByName(db, accountId, name).first<MediaIndexRow>(), name);
}

/** Returns the index of an account, as a replica knows it; null if it doesn't. */
export async function findIndex(
  db: D1DatabaseSession,
  accountId: AccountId,
  name: string,
): Promise<MediaIndexRow | null> {
  const row = await selectByName(db, accountId, name).first<MediaIndexRow>();
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
  const [rows, usage] = await db.batch([
    selectByName(db, accountId, name),
    quota.usageStatement(db),
  ]);
  const index = requireRow(rows!.results[0] as MediaIndexRow | undefined, name);
  quota.throwIfExceeded(usage!.results[0]);
  return index;
}

function selectByName(
  db: Pick<D1Database, "prepare">,
  accountId: AccountId,
  name: string,
): D1PreparedStatement {
  return db
    .prepare(
      `SELECT ${COLUMNS} FROM indices WHERE account_id = ? AND name = ? AND deleted_at IS NULL`,
    )
    .bind(accountId, name);
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
  const [rows, total] = await db.batch<MediaIndexRow & { total: number }>([
    db
      .prepare(
        `SELECT ${COLUMNS} FROM indices
         WHERE account_id = ? AND deleted_at IS NULL AND index_id > ? ORDER BY index_id LIMIT ?`,
      )
      .bind(accountId, after, limit + 1),
    db
      .prepare("SELECT COUNT(*) AS total FROM indices WHERE account_id = ? AND deleted_at IS NULL")
      .bind(accountId),
  ]);
  return toPage(rows!.results.map(fromRow), total!.results[0]!.total, limit, (i) => i.indexId);
}

export interface IndexChange {
  description?: string | undefined;
  metadata?: JsonObject | undefined;
  settings?: JsonObject | undefined;
}

export async function updateIndex(
  db: D1Database,
  indexId: IndexId,
  change: IndexChange,
  now: number,
): Promise<void> {
  await db
    .prepare(
      `UPDATE indices SET description = COALESCE(?, description), metadata = COALESCE(?, metadata),
         settings = COALESCE(?, settings), updated_at = ? WHERE index_id = ?`,
    )
    .bind(
      change.description ?? null,
      change.metadata ? JSON.stringify(change.metadata) : null,
      change.settings ? JSON.stringify(change.settings) : null,
      now,
      indexId,
    )
    .run();
}

/** Marks an index as deleted and frees its name. A job deletes its content. */
export async function softDeleteIndex(
  db: D1Database,
  indexId: IndexId,
  now: number,
): Promise<void> {
  await db.prepare("UPDATE indices SET deleted_at = ? WHERE index_id = ?").bind(now, indexId).run();
}

/** Lists indices that were marked as deleted before `before` and that no job is deleting. */
export async function listSoftDeletedIndices(
  db: D1Database,
  before: number,
  limit: number,
): Promise<Pick<MediaIndexRow, "accountId" | "indexId">[]> {
  const { results } = await db
    .prepare(
      `SELECT account_id AS accountId, index_id AS indexId FROM indices
       WHERE deleted_at < ? AND NOT EXISTS (
         SELECT 1 FROM jobs
         WHERE jobs.account_id = indices.account_id AND jobs.index_id = indices.index_id
           AND kind = 'delete_index' AND state IN ('queued', 'running')
       ) LIMIT ?`,
    )
    .bind(before, limit)
    .all<Pick<MediaIndexRow, "accountId" | "indexId">>();
  return results;
}

/** Deletes the rows of an index that has no assets any more. */
export async function deleteIndexRow(db: D1Database, indexId: IndexId): Promise<void> {
  await db.batch([
    db.prepare("DELETE FROM tallies WHERE index_id = ?").bind(indexId),
    db
      .prepare(
        `DELETE FROM job_items
         WHERE job_id IN (SELECT job_id FROM jobs WHERE index_id = ? AND kind = 'import')`,
      )
      .bind(indexId),
    db.prepare("DELETE FROM imports WHERE index_id = ?").bind(indexId),
    db.prepare("DELETE FROM sources WHERE index_id = ?").bind(indexId),
    db.prepare("DELETE FROM shards WHERE index_id = ?").bind(indexId),
    db.prepare("DELETE FROM indices WHERE index_id = ?").bind(indexId),
  ]);
}

function fromRow(row: MediaIndexRow): MediaIndexRow {
  return parseColumns(row, ["metadata", "settings", "shards"]);
}
