import type { Failure } from "../errors.ts";
import type { AccountId, AssetId, IndexId, JobId, SourceId } from "../ids.ts";
import type { Asset, AssetType } from "../types.ts";
import { inChunks, parseColumns } from "./rows.ts";

/** Something that a platform lists, and the asset that it becomes if the index hasn't got it. */
export interface Offer {
  platformId: string;
  position: number;
  title: string;
  /** Its page, for people. */
  url: string;
  assetType: AssetType;
  /** As the platform lists it. */
  item: object;
  /** Null where its file can't be had; then `error` says why. */
  asset: Pick<Asset, "assetId" | "jobId" | "source" | "language"> | null;
  error: Failure | null;
}

/** The look that offers come from. */
export interface Look {
  jobId: JobId;
  accountId: AccountId;
  indexId: IndexId;
  sourceId: SourceId;
  platform: string;
  metadata: object;
  /** Whether what its owner deleted comes back. */
  bringsBack: boolean;
  now: number;
}

const IS_SAME = `imports.index_id = ?1 AND imports.platform = ?2 AND imports.platform_id = value ->> 'platformId'`;

/**
 * Takes what a look found into the index, each thing once, as queued assets, and notes what became of it. In
 * one transaction: done again, it changes nothing and says the same.
 */
export async function takeOffers(db: D1Database, look: Look, offers: Offer[]): Promise<void> {
  if (offers.length === 0) return;
  const { jobId, accountId, indexId, sourceId, platform, bringsBack, now } = look;
  const metadata = JSON.stringify(look.metadata);
  await db.batch(
    inChunks(offers).flatMap((rows) => [
      db
        .prepare(
          `INSERT INTO imports (index_id, platform, platform_id, source_id, item, asset_id)
           SELECT ?1, ?2, value ->> 'platformId', ?3, value -> 'item', value ->> '$.asset.assetId'
           FROM json_each(?4) WHERE value ->> '$.asset.assetId' IS NOT NULL
             AND EXISTS (SELECT 1 FROM indices WHERE index_id = ?1 AND deleted_at IS NULL)
           ON CONFLICT DO UPDATE SET asset_id = excluded.asset_id, item = excluded.item, removed_at = NULL
           WHERE ?5 AND NOT EXISTS (SELECT 1 FROM assets WHERE assets.asset_id = imports.asset_id)`,
        )
        .bind(indexId, platform, sourceId, rows, bringsBack ? 1 : 0),
      db
        .prepare(
          `INSERT INTO assets (index_id, account_id, asset_id, asset_type, title, state, source, language,
             metadata, job_id, created_at, updated_at)
           SELECT ?1, ?3, asset_id, value ->> 'assetType', value ->> 'title', 'queued',
             value -> '$.asset.source',
             COALESCE(value ->> '$.asset.language', settings ->> '$.language'), ?4, value ->> '$.asset.jobId', ?5, ?5
           FROM json_each(?6) JOIN imports ON ${IS_SAME} AND imports.asset_id = value ->> '$.asset.assetId'
             JOIN indices USING (index_id)`,
        )
        .bind(indexId, platform, accountId, metadata, now, rows),
      db
        .prepare(
          `INSERT INTO jobs (job_id, account_id, index_id, asset_id, kind, state, created_at, updated_at)
           SELECT job_id, account_id, index_id, asset_id, 'ingest', 'queued', created_at, updated_at
           FROM assets WHERE asset_id IN (SELECT value ->> '$.asset.assetId' FROM json_each(?))`,
        )
        .bind(rows),
      db
        .prepare(
          `INSERT INTO job_items
             (job_id, platform_id, position, title, url, asset_type, outcome, asset_id, error)
           SELECT ?3, value ->> 'platformId', value ->> 'position', value ->> 'title', value ->> 'url',
             value ->> 'assetType',
             CASE WHEN assets.asset_id = value ->> '$.asset.assetId' THEN 'added'
               WHEN assets.asset_id IS NOT NULL THEN 'present'
               WHEN imports.asset_id IS NOT NULL THEN 'deleted' ELSE 'refused' END,
             assets.asset_id, CASE WHEN imports.asset_id IS NULL THEN value -> 'error' END
           FROM json_each(?4) LEFT JOIN imports ON ${IS_SAME} LEFT JOIN assets USING (asset_id)
           WHERE true ON CONFLICT DO NOTHING`,
        )
        .bind(indexId, platform, jobId, rows),
    ]),
  );
}

export type Startable = Pick<Asset, "assetId" | "assetType" | "jobId">;

/** What a look has added and its index's object has not heard of; with `failed`, also what it found failed. */
export async function listUnstarted(
  db: D1Database,
  jobId: JobId,
  failed: boolean,
): Promise<Startable[]> {
  const { results } = await db
    .prepare(
      `SELECT asset_id AS assetId, assets.asset_type AS assetType, assets.job_id AS jobId
       FROM job_items JOIN assets USING (asset_id)
       WHERE job_items.job_id = ?1 AND (state = 'queued' AND revision = 0
         OR ?2 AND state = 'failed' AND outcome = 'present')`,
    )
    .bind(jobId, failed ? 1 : 0)
    .all<Startable>();
  return results;
}

/** Of what came from a source, the things that a look hasn't met, nor an earlier one missed. */
export async function listUnmet<Item>(
  db: D1Database,
  sourceId: SourceId,
  jobId: JobId,
  limit: number,
): Promise<Item[]> {
  const { results } = await db
    .prepare(
      `SELECT item FROM imports WHERE source_id = ? AND removed_at IS NULL
         AND platform_id NOT IN (SELECT platform_id FROM job_items WHERE job_id = ?) LIMIT ?`,
    )
    .bind(sourceId, jobId, limit)
    .all<{ item: string }>();
  return results.map(({ item }) => JSON.parse(item) as Item);
}

/** Notes that an original is gone; what came of it stays. */
export async function markRemoved(
  db: D1Database,
  look: Pick<Look, "jobId" | "indexId" | "platform" | "now">,
  platformId: string,
): Promise<void> {
  const key = [look.indexId, look.platform, platformId];
  await db.batch([
    db
      .prepare(
        `INSERT INTO job_items (job_id, platform_id, position, title, url, asset_type, outcome, asset_id)
         SELECT ?4, platform_id, ?5, item ->> 'title', item ->> 'pageUrl', item ->> 'assetType', 'removed', asset_id
         FROM imports WHERE index_id = ?1 AND platform = ?2 AND platform_id = ?3
         ON CONFLICT DO NOTHING`,
      )
      .bind(...key, look.jobId, Number.MAX_SAFE_INTEGER),
    db
      .prepare(
        "UPDATE imports SET removed_at = ?4 WHERE index_id = ?1 AND platform = ?2 AND platform_id = ?3",
      )
      .bind(...key, look.now),
  ]);
}

/** As the platform listed what became this asset; null where it didn't come from one. */
export async function getImported<Item>(db: D1Database, assetId: AssetId): Promise<Item | null> {
  const item = await db
    .prepare("SELECT item FROM imports WHERE asset_id = ?")
    .bind(assetId)
    .first<string>("item");
  return item === null ? null : (JSON.parse(item) as Item);
}

/** What came from a platform is in the index already as `twinId`: that stands for it. */
export async function pointToTwin(
  db: D1Database,
  assetId: AssetId,
  twinId: AssetId,
): Promise<void> {
  await db.batch([
    db.prepare("UPDATE imports SET asset_id = ?2 WHERE asset_id = ?1").bind(assetId, twinId),
    db
      .prepare(
        "UPDATE job_items SET asset_id = ?2, outcome = 'present' WHERE asset_id = ?1 AND outcome = 'added'",
      )
      .bind(assetId, twinId),
  ]);
}

type Outcome = "added" | "present" | "refused" | "deleted" | "removed";

/** Of what a look found, keeps only what has changed by it. */
export async function forgetPresent(db: D1Database, jobId: JobId): Promise<void> {
  await db
    .prepare("DELETE FROM job_items WHERE job_id = ? AND outcome IN ('present', 'deleted')")
    .bind(jobId)
    .run();
}

/** What became of one thing that a look found, as it is now. */
export interface JobItem {
  platformId: string;
  title: string;
  url: string;
  assetType: AssetType;
  outcome: Outcome;
  assetId: AssetId | null;
  /** Null where the asset is gone. */
  state: Asset["state"] | null;
  error: Failure | null;
}

export async function listJobItems(db: D1Database, jobId: JobId): Promise<JobItem[]> {
  const { results } = await db
    .prepare(
      `SELECT platform_id AS platformId, job_items.title, url, job_items.asset_type AS assetType, outcome,
         job_items.asset_id AS assetId, assets.state, COALESCE(assets.error, job_items.error) AS error
       FROM job_items LEFT JOIN assets USING (asset_id) WHERE job_items.job_id = ? ORDER BY position, platform_id`,
    )
    .bind(jobId)
    .all<JobItem>();
  return results.map((row) => parseColumns(row, ["error"]));
}
