import { AppError, type Failure } from "../../errors.ts";
import { type AccountId, type IndexId, isIdText, type JobId, type SourceId } from "../../ids.ts";
import type { JobState, JsonObject } from "../../types.ts";
import {
  assignments,
  batch,
  newRow,
  type PageRequest,
  parseColumns,
  raw,
  readPage,
  sql,
  d1,
} from "../sql.ts";
import { QuotaGuard, recordBytes } from "./quotas.ts";

const COLUMNS = raw(`source_id AS sourceId, sources.account_id AS accountId,
  sources.index_id AS indexId, platform, request, listing, item_limit AS itemLimit, metadata,
  follow, sync_cursor AS syncCursor, sources.job_id AS jobId, synced_at AS syncedAt,
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
  /** Cursor of the last sync; stale if it belongs to another job. */
  syncCursor: SyncCursor | null;
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
  /** Entries of these pages that couldn't be read; none in cursors of before. */
  brokenEntries?: { page: number; entry: number; message: string }[];
}

export interface NewSource extends Omit<
  SourceRow<object>,
  "listing" | "syncCursor" | "syncedAt" | "follow"
> {
  follow: boolean;
}

/**
 * Inserts or updates a source. A source with the same request gets the new settings, and keeps its
 * id and, while it is being synced, its job. Throws `account_full` if the account has no room for
 * it and its job.
 */
export async function putSource(db: D1Database, source: NewSource): Promise<SourceRow> {
  const { request, metadata } = source;
  const quota = new QuotaGuard(source.accountId, recordBytes(request, request, metadata));
  const put = sql`INSERT INTO ${newRow("sources", source)} WHERE ${quota.condition}
       ON CONFLICT (index_id, platform, request) DO UPDATE SET item_limit = excluded.item_limit,
         metadata = excluded.metadata, follow = MAX(follow, excluded.follow),
         job_id = CASE WHEN ${IS_SYNCING} THEN sources.job_id ELSE excluded.job_id END
       RETURNING ${COLUMNS}`;
  const [rows] = await quota.write(db, [put]);
  return fromRow(rows!.results[0] as SourceRow);
}

const IS_SYNCING = raw(`EXISTS (
  SELECT 1 FROM jobs WHERE jobs.job_id = sources.job_id AND state IN ('queued', 'running'))`);

/** Starts a sync: makes `jobId` the source's job. Returns false if another sync is unfinished. */
export async function beginSync(db: D1Database, sourceId: SourceId, jobId: JobId) {
  const { meta } = await d1(db).run`
    UPDATE sources SET job_id = ${jobId} WHERE source_id = ${sourceId}
      AND NOT ${IS_SYNCING}`;
  return meta.changes > 0;
}

export async function getSource<Request, Listing>(db: D1Database, sourceId: SourceId) {
  const row = await d1(db).first<SourceRow<Request, Listing>>`
    SELECT ${COLUMNS} FROM sources WHERE source_id = ${sourceId}`;
  return row && fromRow(row);
}

export interface SourceSummary<Request, Listing> extends SourceRow<Request, Listing> {
  items: number;
  jobState: JobState;
  jobError: Failure | null;
}

export function listSources<Request, Listing>(
  db: D1Database,
  indexId: IndexId,
  request: PageRequest,
) {
  const columns = sql`${COLUMNS}, COALESCE(state, 'queued') AS jobState, error AS jobError,
    (SELECT COUNT(*) FROM imports WHERE imports.source_id = sources.source_id) AS items`;
  const from = sql`FROM sources LEFT JOIN jobs USING (job_id) WHERE sources.index_id = ${indexId}`;
  const toSource = (row: SourceSummary<Request, Listing>) =>
    parseColumns(fromRow(row), ["jobError"]);
  return readPage(db, { columns, from, id: "sourceId" }, request, toSource);
}

/** Sources of an index that one traversal syncs. The next one takes others. */
const MAX_SYNCED = 50;

/** Lists followed sources of an index that aren't syncing, by when their last sync began. */
export async function listFollowedSources(db: D1Database, indexId: IndexId): Promise<SourceId[]> {
  const rows = await d1(db).all<{ id: SourceId }>`
    SELECT source_id AS id FROM sources WHERE index_id = ${indexId} AND follow = 1
        AND NOT ${IS_SYNCING}
      ORDER BY job_id LIMIT ${MAX_SYNCED}`;
  return rows.map(({ id }) => id);
}

export interface SourceChange {
  listing?: object;
  syncCursor?: SyncCursor | null;
  syncedAt?: number;
}

export async function updateSource(db: D1Database, sourceId: SourceId, change: SourceChange) {
  await d1(db).run`UPDATE sources SET ${assignments(change)} WHERE source_id = ${sourceId}`;
}

/**
 * Deletes a source and cancels its sync. Imported assets stay. Throws `not_found` if the index has
 * no such source.
 */
export async function deleteSource(db: D1Database, indexId: IndexId, sourceId: string) {
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
  return parseColumns(row, ["request", "listing", "metadata", "syncCursor"]);
}
