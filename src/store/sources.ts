import { AppError, type Failure } from "../errors.ts";
import type { AccountId, IndexId, JobId, SourceId } from "../ids.ts";
import type { JobState, JsonObject } from "../types.ts";
import { type Page, type PageRequest, parseColumns, toPage } from "./rows.ts";

const COLUMNS = `source_id AS sourceId, sources.account_id AS accountId, sources.index_id AS indexId, platform, wanted,
  listing, item_limit AS itemLimit, metadata, follow, validators, walk, sources.job_id AS jobId,
  looked_at AS lookedAt, sources.created_at AS createdAt`;

/** Something on a platform that was asked for. Times are epoch ms. */
export interface SourceRow<Wanted = JsonObject, Listing = JsonObject> {
  sourceId: SourceId;
  accountId: AccountId;
  indexId: IndexId;
  platform: string;
  wanted: Wanted;
  listing: Listing | null;
  itemLimit: number;
  metadata: JsonObject;
  /** 1: it is looked at again on every traversal. */
  follow: number;
  validators: JsonObject | null;
  /** Where the present look is; of another job, there is none. */
  walk: Walk | null;
  /** Of the last look. */
  jobId: JobId;
  lookedAt: number | null;
  createdAt: number;
}

export interface Walk {
  jobId: JobId;
  /** The next page's place; null for the first. */
  at: JsonObject | null;
  /** Items and pages before it. */
  position: number;
  pages: number;
  /** Of the first page. */
  validators: JsonObject | null;
}

export type NewSource = Omit<SourceRow, "listing" | "validators" | "walk" | "lookedAt">;

/**
 * The source that this is, on record: asking for the same again changes what it asks for, and not its id.
 * A look at it that is under way stays the last one.
 */
export async function putSource(db: D1Database, source: NewSource): Promise<SourceRow> {
  const row = await db
    .prepare(
      `INSERT INTO sources
         (source_id, account_id, index_id, platform, wanted, item_limit, metadata, follow, job_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (index_id, platform, wanted) DO UPDATE SET item_limit = excluded.item_limit,
         metadata = excluded.metadata, validators = NULL, follow = MAX(follow, excluded.follow),
         job_id = CASE WHEN ${IS_LOOKED_AT} THEN sources.job_id ELSE excluded.job_id END
       RETURNING ${COLUMNS}`,
    )
    .bind(
      source.sourceId,
      source.accountId,
      source.indexId,
      source.platform,
      JSON.stringify(source.wanted),
      source.itemLimit,
      JSON.stringify(source.metadata),
      source.follow,
      source.jobId,
      source.createdAt,
    )
    .first<SourceRow>();
  return fromRow(row!);
}

const IS_LOOKED_AT = `EXISTS (
  SELECT 1 FROM jobs WHERE jobs.job_id = sources.job_id AND state IN ('queued', 'running'))`;

/** Makes `jobId` the look at a source; false where one is under way. */
export async function beginLook(
  db: D1Database,
  sourceId: SourceId,
  jobId: JobId,
): Promise<boolean> {
  const { meta } = await db
    .prepare(`UPDATE sources SET job_id = ? WHERE source_id = ? AND NOT ${IS_LOOKED_AT}`)
    .bind(jobId, sourceId)
    .run();
  return meta.changes > 0;
}

export async function getSource<Wanted, Listing>(
  db: D1Database,
  sourceId: SourceId,
): Promise<SourceRow<Wanted, Listing> | null> {
  const row = await db
    .prepare(`SELECT ${COLUMNS} FROM sources WHERE source_id = ?`)
    .bind(sourceId)
    .first<SourceRow<Wanted, Listing>>();
  return row && fromRow(row);
}

/** What a source has brought, besides its row. */
export interface SourceSummary extends SourceRow {
  /** Things that came from it. */
  items: number;
  /** Of these, originals that are gone. */
  removed: number;
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
           (SELECT COUNT(removed_at) FROM imports WHERE imports.source_id = sources.source_id) AS removed
         FROM sources LEFT JOIN jobs USING (job_id)
         WHERE sources.index_id = ? AND source_id > ? ORDER BY source_id LIMIT ?`,
      )
      .bind(indexId, after, limit + 1),
    db.prepare("SELECT COUNT(*) AS total FROM sources WHERE index_id = ?").bind(indexId),
  ]);
  const items = rows!.results.map((row) => parseColumns(fromRow(row), ["jobError"]));
  return toPage(items, total!.results[0]!.total, limit, (source) => source.sourceId);
}

/** Of the sources of an index that are followed, their ids. */
export async function listFollowed(db: D1Database, indexId: IndexId): Promise<SourceId[]> {
  const { results } = await db
    .prepare("SELECT source_id AS id FROM sources WHERE index_id = ? AND follow = 1")
    .bind(indexId)
    .all<{ id: SourceId }>();
  return results.map(({ id }) => id);
}

export interface SourceChange {
  listing?: object;
  walk?: Walk | null;
  /** With `lookedAt`: a look has come to its end. */
  validators?: JsonObject | null;
  lookedAt?: number;
}

export async function updateSource(
  db: D1Database,
  sourceId: SourceId,
  change: SourceChange,
): Promise<void> {
  const columns: Record<string, unknown> = { ...change };
  const names = Object.keys(columns);
  const set = names.map((name) => `${name === "lookedAt" ? "looked_at" : name} = ?`).join(", ");
  const values = names.map((name) => {
    const value = columns[name];
    return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
  });
  await db
    .prepare(`UPDATE sources SET ${set} WHERE source_id = ?`)
    .bind(...values, sourceId)
    .run();
}

/** Nothing is looked at any more; what came stays. Throws `not_found` where the index has no such source. */
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
  return parseColumns(row, ["wanted", "listing", "metadata", "validators", "walk"]);
}
