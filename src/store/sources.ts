import { AppError, type Failure } from "../errors.ts";
import type { AccountId, IndexId, JobId, SourceId } from "../ids.ts";
import type { JobState, JsonObject } from "../types.ts";
import {
  concat,
  type Page,
  type PageRequest,
  parseColumns,
  prepare,
  raw,
  sql,
  toPage,
} from "./sql.ts";

const COLUMNS = `source_id AS sourceId, sources.account_id AS accountId,
  sources.index_id AS indexId, platform, request, listing, item_limit AS itemLimit, metadata,
  follow, validators, sync_cursor AS syncCursor, sources.job_id AS jobId, synced_at AS syncedAt,
  sources.created_at AS createdAt`;

/** An import source: a listing or a search on a platform. Times are epoch ms. */
export interface SourceRow<Request = JsonObject, Listing = JsonObject> {
  sourceId: SourceId;
  accountId: AccountId;
  indexId: IndexId;
  platform: string;
  request: Request;
  listing: Listing | null;
  itemLimit: number;
  metadata: JsonObject;
  /** 1 if every traversal syncs the source. */
  follow: number;
  /** ETag and Last-Modified of the first page, as of the last sync. */
  validators: JsonObject | null;
  /** Cursor of the last sync; stale if it belongs to another job. */
  syncCursor: SyncCursor | null;
  /** Job of the last sync. */
  jobId: JobId;
  syncedAt: number | null;
  createdAt: number;
}

export interface SyncCursor {
  jobId: JobId;
  /** Cursor of the next page; null for the first page. */
  pageCursor: JsonObject | null;
  /** Number of items before that page. */
  position: number;
  /** Number of pages before that page. */
  pages: number;
  /** ETag and Last-Modified of the first page. */
  validators: JsonObject | null;
}

export type NewSource = Omit<SourceRow, "listing" | "validators" | "syncCursor" | "syncedAt">;

/**
 * Inserts or updates a source. A source with the same request gets the new settings, and keeps its
 * id and, while it is being synced, its job.
 */
export async function putSource(db: D1Database, source: NewSource): Promise<SourceRow> {
  const row = await db
    .prepare(
      `INSERT INTO sources (source_id, account_id, index_id, platform, request, item_limit,
         metadata, follow, job_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (index_id, platform, request) DO UPDATE SET item_limit = excluded.item_limit,
         metadata = excluded.metadata, validators = NULL, follow = MAX(follow, excluded.follow),
         job_id = CASE WHEN ${IS_SYNCING} THEN sources.job_id ELSE excluded.job_id END
       RETURNING ${COLUMNS}`,
    )
    .bind(
      source.sourceId,
      source.accountId,
      source.indexId,
      source.platform,
      JSON.stringify(source.request),
      source.itemLimit,
      JSON.stringify(source.metadata),
      source.follow,
      source.jobId,
      source.createdAt,
    )
    .first<SourceRow>();
  return fromRow(row!);
}

/** Whether the source's last job is unfinished. */
const IS_SYNCING = `EXISTS (
  SELECT 1 FROM jobs WHERE jobs.job_id = sources.job_id AND state IN ('queued', 'running'))`;

/** Starts a sync: makes `jobId` the source's job. Returns false if another sync is unfinished. */
export async function beginSync(
  db: D1Database,
  sourceId: SourceId,
  jobId: JobId,
): Promise<boolean> {
  const { meta } = await db
    .prepare(`UPDATE sources SET job_id = ? WHERE source_id = ? AND NOT ${IS_SYNCING}`)
    .bind(jobId, sourceId)
    .run();
  return meta.changes > 0;
}

export async function getSource<Request, Listing>(
  db: D1Database,
  sourceId: SourceId,
): Promise<SourceRow<Request, Listing> | null> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM sources WHERE source_id = ?`)
    .bind(sourceId)
    .first<SourceRow<Request, Listing>>();
  return row && fromRow(row);
}

/** A source with the results of its syncs. */
export interface SourceSummary extends SourceRow {
  /** Number of imported items. */
  items: number;
  /** Number of imported items that were removed from the platform. */
  removedUpstream: number;
  jobState: JobState;
  jobError: Failure | null;
}

export async function listSources(
  db: D1Database,
  indexId: IndexId,
  { limit, after }: PageRequest,
): Promise<Page<SourceSummary>> {
  const [rows, total] = await db.batch<SourceSummary & { total: number }>([
    db
      .prepare(
        `SELECT ${COLUMNS}, COALESCE(state, 'queued') AS jobState, error AS jobError,
           (SELECT COUNT(*) FROM imports WHERE imports.source_id = sources.source_id) AS items,
           (SELECT COUNT(removed_at) FROM imports WHERE imports.source_id = sources.source_id)
             AS removedUpstream
         FROM sources LEFT JOIN jobs USING (job_id)
         WHERE sources.index_id = ? AND source_id > ? ORDER BY source_id LIMIT ?`,
      )
      .bind(indexId, after, limit + 1),
    db.prepare("SELECT COUNT(*) AS total FROM sources WHERE index_id = ?").bind(indexId),
  ]);
  const items = rows!.results.map((row) => parseColumns(fromRow(row), ["jobError"]));
  return toPage(items, total!.results[0]!.total, limit, (source) => source.sourceId);
}

/** Lists the ids of an index's followed sources. */
export async function listFollowedSources(db: D1Database, indexId: IndexId): Promise<SourceId[]> {
  const { results } = await db
    .prepare("SELECT source_id AS id FROM sources WHERE index_id = ? AND follow = 1")
    .bind(indexId)
    .all<{ id: SourceId }>();
  return results.map(({ id }) => id);
}

export interface SourceChange {
  listing?: object;
  syncCursor?: SyncCursor | null;
  /** Set with `syncedAt`, when a sync has ended. */
  validators?: JsonObject | null;
  syncedAt?: number;
}

/** Columns whose name differs from the property's. */
const COLUMN_NAMES: Record<string, string> = { syncCursor: "sync_cursor", syncedAt: "synced_at" };

export async function updateSource(
  db: D1Database,
  sourceId: SourceId,
  change: SourceChange,
): Promise<void> {
  const assignments = Object.entries(change).map(([name, value]: [string, unknown]) => {
    const isJson = typeof value === "object" && value !== null;
    const bound = isJson ? JSON.stringify(value) : (value as number | null);
    return sql`${raw(COLUMN_NAMES[name] ?? name)} = ${bound}`;
  });
  await prepare(
    db,
    sql`UPDATE sources SET ${concat(assignments, ", ")} WHERE source_id = ${sourceId}`,
  ).run();
}

/**
 * Deletes a source and cancels its sync. Imported assets stay. Throws `not_found` if the index has
 * no such source.
 */
export async function deleteSource(
  db: D1Database,
  indexId: IndexId,
  sourceId: string,
): Promise<void> {
  const [, deleted] = await db.batch([
    db
      .prepare(
        `UPDATE jobs SET state = 'cancelled', updated_at = ? WHERE state IN ('queued', 'running')
           AND job_id IN (SELECT job_id FROM sources WHERE source_id = ? AND index_id = ?)`,
      )
      .bind(Date.now(), sourceId, indexId),
    db.prepare("DELETE FROM sources WHERE source_id = ? AND index_id = ?").bind(sourceId, indexId),
  ]);
  if (deleted!.meta.changes === 0) {
    throw new AppError("not_found", `There is no source "${sourceId}" in this index.`);
  }
}

function fromRow<Row extends SourceRow<unknown, unknown>>(row: Row): Row {
  return parseColumns(row, ["request", "listing", "metadata", "validators", "syncCursor"]);
}
