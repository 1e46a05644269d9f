import { AppError, type Failure } from "../../errors.ts";
import { type AccountId, type IndexId, isIdText, type JobId, type SourceId } from "../../ids.ts";
import type { JobState, JsonObject } from "../../types.ts";
import {
  all,
  batch,
  concat,
  first,
  type Page,
  type PageRequest,
  parseColumns,
  raw,
  run,
  sql,
  toPage,
} from "../sql.ts";
import { QuotaGuard, recordBytes } from "./quotas.ts";

const COLUMNS = raw(`source_id AS sourceId, sources.account_id AS accountId,
  sources.index_id AS indexId, platform, request, listing, item_limit AS itemLimit, metadata,
  follow, validators, sync_cursor AS syncCursor, sources.job_id AS jobId, synced_at AS syncedAt,
  sources.created_at AS createdAt`);

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
  /** Entries of these pages that couldn't be read; none in cursors of before. */
  brokenEntries?: { page: number; entry: number; message: string }[];
}

export type NewSource = Omit<SourceRow, "listing" | "validators" | "syncCursor" | "syncedAt">;

/**
 * Inserts or updates a source. A source with the same request gets the new settings, and keeps its
 * id and, while it is being synced, its job. Throws `account_full` if the account has no room for
 * it and its job.
 */
export async function putSource(db: D1Database, source: NewSource): Promise<SourceRow> {
  const request = JSON.stringify(source.request);
  const metadata = JSON.stringify(source.metadata);
  const quota = new QuotaGuard(source.accountId, recordBytes(request, request, metadata));
  const put = sql`INSERT INTO sources (source_id, account_id, index_id, platform, request,
         item_limit, metadata, follow, job_id, created_at)
       SELECT ${source.sourceId}, ${source.accountId}, ${source.indexId}, ${source.platform},
         ${request}, ${source.itemLimit}, ${metadata}, ${source.follow}, ${source.jobId},
         ${source.createdAt}
       WHERE ${quota.condition}
       ON CONFLICT (index_id, platform, request) DO UPDATE SET item_limit = excluded.item_limit,
         metadata = excluded.metadata, validators = NULL, follow = MAX(follow, excluded.follow),
         job_id = CASE WHEN ${IS_SYNCING} THEN sources.job_id ELSE excluded.job_id END
       RETURNING ${COLUMNS}`;
  const [rows, usage] = await batch(db, [put, quota.usageStatement]);
  const row = rows!.results[0] as SourceRow | undefined;
  if (!row) quota.throwIfExceeded(usage!.results[0]);
  return fromRow(row!);
}

/** Whether the source's last job is unfinished. */
const IS_SYNCING = raw(`EXISTS (
  SELECT 1 FROM jobs WHERE jobs.job_id = sources.job_id AND state IN ('queued', 'running'))`);

/** Starts a sync: makes `jobId` the source's job. Returns false if another sync is unfinished. */
export async function beginSync(
  db: D1Database,
  sourceId: SourceId,
  jobId: JobId,
): Promise<boolean> {
  const { meta } = await run(
    db,
    sql`UPDATE sources SET job_id = ${jobId} WHERE source_id = ${sourceId}
      AND NOT ${IS_SYNCING}`,
  );
  return meta.changes > 0;
}

export async function getSource<Request, Listing>(
  db: D1Database,
  sourceId: SourceId,
): Promise<SourceRow<Request, Listing> | null> {
  const row = await first<SourceRow<Request, Listing>>(
    db,
    sql`SELECT ${COLUMNS} FROM sources WHERE source_id = ${sourceId}`,
  );
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
  const [rows, total] = await batch<SourceSummary & { total: number }>(db, [
    sql`SELECT ${COLUMNS}, COALESCE(state, 'queued') AS jobState, error AS jobError,
        (SELECT COUNT(*) FROM imports WHERE imports.source_id = sources.source_id) AS items,
        (SELECT COUNT(removed_at) FROM imports WHERE imports.source_id = sources.source_id)
          AS removedUpstream
      FROM sources LEFT JOIN jobs USING (job_id)
      WHERE sources.index_id = ${indexId} AND source_id > ${after}
      ORDER BY source_id LIMIT ${limit + 1}`,
    sql`SELECT COUNT(*) AS total FROM sources WHERE index_id = ${indexId}`,
  ]);
  const items = rows!.results.map((row) => parseColumns(fromRow(row), ["jobError"]));
  return toPage(items, total!.results[0]!.total, limit, (source) => source.sourceId);
}

/** Sources of an index that one traversal syncs. The next one takes others. */
const MAX_SYNCED = 50;

/** Lists followed sources of an index that aren't syncing, by when their last sync began. */
export async function listFollowedSources(db: D1Database, indexId: IndexId): Promise<SourceId[]> {
  const rows = await all<{ id: SourceId }>(
    db,
    sql`SELECT source_id AS id FROM sources WHERE index_id = ${indexId} AND follow = 1
        AND NOT ${IS_SYNCING}
      ORDER BY job_id LIMIT ${MAX_SYNCED}`,
  );
  return rows.map(({ id }) => id);
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
  await run(db, sql`UPDATE sources SET ${concat(assignments, ", ")} WHERE source_id = ${sourceId}`);
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
  const unknown = new AppError("not_found", `There is no source "${sourceId}" in this index.`);
  if (!isIdText(["src"], sourceId)) throw unknown;
  const [, deleted] = await batch(db, [
    sql`UPDATE jobs SET state = 'cancelled', updated_at = ${Date.now()}
      WHERE state IN ('queued', 'running') AND job_id IN (
        SELECT job_id FROM sources WHERE source_id = ${sourceId} AND index_id = ${indexId})`,
    sql`DELETE FROM sources WHERE source_id = ${sourceId} AND index_id = ${indexId}`,
  ]);
  if (deleted!.meta.changes === 0) throw unknown;
}

function fromRow<Row extends SourceRow<unknown, unknown>>(row: Row): Row {
  return parseColumns(row, ["request", "listing", "metadata", "validators", "syncCursor"]);
}
