import type { Failure } from "../../errors.ts";
import type { AccountId, AssetId, IndexId, JobId, SourceId } from "../../ids.ts";
import type { Asset, AssetType } from "../../types.ts";
import { batch, inChunks, parseColumns, sql, type SqlFragment, d1 } from "../sql.ts";
import { INSERT_INGEST_JOBS } from "./assets.ts";

/**
 * An item of a platform's listing, and the asset that it becomes if the index hasn't imported it.
 */
export interface ImportCandidate {
  platformId: string;
  position: number;
  title: string;
  url: string;
  assetType: AssetType;
  item: object;
  /** Null if the file can't be downloaded; `error` says why. */
  asset: Pick<Asset, "assetId" | "jobId" | "source" | "language"> | null;
  error: Failure | null;
}

export interface SourceSync {
  jobId: JobId;
  accountId: AccountId;
  indexId: IndexId;
  sourceId: SourceId;
  platform: string;
  metadata: object;
  /** Whether assets that the user deleted are imported once more. */
  restoresDeleted: boolean;
  now: number;
}

/**
 * Imports the items that a sync found, each once, as queued assets, and records each one's outcome.
 * Runs in one transaction. Repeating it changes nothing and records the same outcomes.
 */
export async function importItems(db: D1Database, sync: SourceSync, candidates: ImportCandidate[]) {
  if (candidates.length === 0) return;
  await batch(
    db,
    inChunks(candidates).flatMap((rows) => importStatements(sync, rows)),
  );
}

function importStatements(sync: SourceSync, rows: string): SqlFragment[] {
  const { jobId, accountId, indexId, sourceId, platform, restoresDeleted, now } = sync;
  const metadata = JSON.stringify(sync.metadata);
  const isImported = sql`imports.index_id = ${indexId} AND imports.platform = ${platform}
    AND imports.platform_id = value ->> 'platformId'`;
  return [
    sql`INSERT INTO imports (index_id, platform, platform_id, source_id, item, asset_id)
      SELECT ${indexId}, ${platform}, value ->> 'platformId', ${sourceId}, value -> 'item',
        value ->> '$.asset.assetId'
      FROM json_each(${rows}) WHERE value ->> '$.asset.assetId' IS NOT NULL
        AND EXISTS (SELECT 1 FROM indices WHERE index_id = ${indexId} AND deleted_at IS NULL)
      ON CONFLICT DO UPDATE SET asset_id = excluded.asset_id, item = excluded.item
      WHERE ${restoresDeleted ? 1 : 0}
        AND NOT EXISTS (SELECT 1 FROM assets
          WHERE assets.asset_id = imports.asset_id AND deleted_at IS NULL)`,
    sql`INSERT INTO assets (index_id, shard, account_id, asset_id, asset_type, title, state, source,
        language, metadata, job_id, created_at, updated_at)
      SELECT ${indexId}, (SELECT MAX(shard) FROM shards WHERE index_id = ${indexId}),
        ${accountId}, asset_id, value ->> 'assetType', value ->> 'title', 'queued',
        value -> '$.asset.source', COALESCE(value ->> '$.asset.language', settings ->> '$.language'),
        ${metadata}, value ->> '$.asset.jobId', ${now}, ${now}
      FROM json_each(${rows})
        CROSS JOIN imports ON ${isImported} AND imports.asset_id = value ->> '$.asset.assetId'
        JOIN indices USING (index_id)`,
    sql`${INSERT_INGEST_JOBS}
      WHERE asset_id IN (SELECT value ->> '$.asset.assetId' FROM json_each(${rows}))`,
    sql`INSERT INTO job_items
        (job_id, platform_id, position, title, url, asset_type, outcome, asset_id, error)
      SELECT ${jobId}, value ->> 'platformId', value ->> 'position', value ->> 'title',
        value ->> 'url', value ->> 'assetType',
        CASE WHEN assets.asset_id = value ->> '$.asset.assetId' THEN 'added'
          WHEN assets.asset_id IS NOT NULL THEN 'present'
          WHEN imports.asset_id IS NOT NULL THEN 'deleted_locally' ELSE 'unavailable' END,
        assets.asset_id, CASE WHEN imports.asset_id IS NULL THEN value -> 'error' END
      FROM json_each(${rows}) LEFT JOIN imports ON ${isImported}
        LEFT JOIN assets ON assets.asset_id = imports.asset_id AND assets.deleted_at IS NULL
      WHERE true ON CONFLICT DO NOTHING`,
  ];
}

/**
 * Lists assets that a sync added and that their index's object hasn't started. With
 * `includeFailed`, also those that the sync found present and failed.
 */
export async function listUnstarted(db: D1Database, jobId: JobId, includeFailed: boolean) {
  return d1(db).all<Pick<Asset, "assetId" | "assetType" | "jobId">>`
    SELECT asset_id AS assetId, assets.asset_type AS assetType, assets.job_id AS jobId
      FROM job_items JOIN assets USING (asset_id)
      WHERE job_items.job_id = ${jobId} AND (state = 'queued' AND revision = 0
        OR ${includeFailed ? 1 : 0} AND state = 'failed' AND outcome = 'present')`;
}

/** Returns the platform's item that an asset was imported from; null for other assets. */
export async function getImported<Item>(db: D1Database, assetId: AssetId): Promise<Item | null> {
  const item = await d1(db)
    .firstValue<string>`SELECT item FROM imports WHERE asset_id = ${assetId}`;
  return item === null ? null : (JSON.parse(item) as Item);
}

/**
 * Replaces an asset by the one in the index that has the same bytes: in its import, and in its job,
 * which succeeds. `warnings` become part of the job's result.
 */
export async function linkToDuplicate(
  db: D1Database,
  { assetId, jobId }: Pick<Asset, "assetId" | "jobId">,
  { assetId: duplicateId, assetType }: Pick<Asset, "assetId" | "assetType">,
  warnings: object[],
): Promise<void> {
  const result = { asset_id: duplicateId, asset_type: assetType, duplicate: true, warnings };
  await batch(db, [
    sql`UPDATE jobs SET state = 'succeeded', progress = 1, result = ${JSON.stringify(result)}
      WHERE job_id = ${jobId}`,
    sql`UPDATE imports SET asset_id = ${duplicateId} WHERE asset_id = ${assetId}`,
    sql`UPDATE job_items SET asset_id = ${duplicateId}, outcome = 'present'
      WHERE asset_id = ${assetId} AND outcome = 'added'`,
  ]);
}

type Outcome = "added" | "present" | "unavailable" | "deleted_locally";

export async function pruneUnchanged(db: D1Database, jobId: JobId): Promise<void> {
  await d1(db).run`DELETE FROM job_items WHERE job_id = ${jobId} AND outcome
      IN ('present', 'deleted_locally')`;
}

/** Outcome of an item that a sync found, with the asset's present state. */
export interface JobItem {
  platformId: string;
  title: string;
  url: string;
  assetType: AssetType;
  outcome: Outcome;
  assetId: AssetId | null;
  /** Null if the asset was deleted. */
  state: Asset["state"] | null;
  error: Failure | null;
}

export async function listJobItems(db: D1Database, jobId: JobId): Promise<JobItem[]> {
  const rows = await d1(db).all<JobItem>`
    SELECT platform_id AS platformId, job_items.title, url, job_items.asset_type AS assetType,
        outcome, job_items.asset_id AS assetId, assets.state,
        COALESCE(assets.error, job_items.error) AS error
      FROM job_items LEFT JOIN assets USING (asset_id)
      WHERE job_items.job_id = ${jobId} ORDER BY position, platform_id`;
  return rows.map((row) => parseColumns(row, ["error"]));
}
