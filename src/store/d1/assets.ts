import { AppError, type Failure } from "../../errors.ts";
import { ASSET_PREFIX, type AssetId, type IndexId, isIdText } from "../../ids.ts";
import type { Asset, AssetSource, AssetState, AssetType, JsonObject } from "../../types.ts";
import {
  all,
  batch,
  concat,
  first,
  IN_TURN,
  inList,
  type Page,
  type PageRequest,
  parseColumns,
  raw,
  sql,
  type SqlFragment,
  toPage,
  whereMissing,
} from "../sql.ts";
import { releaseStatement, transferStatement } from "./object-bytes.ts";
import { QuotaGuard, recordBytes } from "./quotas.ts";
import { countAssets } from "./tallies.ts";

const ASSET_COLUMNS = raw(`asset_id AS assetId, index_id AS indexId, assets.account_id AS accountId,
  indices.name AS indexName, asset_type AS assetType, title, state, progress, error, warnings,
  source, content_type AS contentType, size_bytes AS sizeBytes, sha256, width, height,
  duration_ms AS durationMs, fps, has_audio AS hasAudio, language, technical, assets.metadata,
  keyframe_ms AS keyframeMs, segments, shard, vector_pair AS vectorPair, job_id AS jobId,
  transcript_job_id AS transcriptJobId, transcript_revision AS transcriptRevision,
  assets.created_at AS createdAt, assets.updated_at AS updatedAt`);
const FROM_ASSETS = raw(
  "FROM assets JOIN indices USING (index_id) JOIN shards USING (index_id, shard)",
);

/**
 * Inserts an asset and its ingest job. Returns false, and writes nothing, if the index has an asset
 * with these bytes. Throws what `requireQuota` throws. Its upload counts `reservedBytes` already.
 */
export async function insertAsset(
  db: D1Database,
  asset: Asset,
  reservedBytes = 0,
): Promise<boolean> {
  const quota = new QuotaGuard(asset.accountId, {
    concurrent_ingests: 1,
    stored_bytes: asset.sizeBytes - reservedBytes,
    ...recordBytes(asset.title, asset.source, asset.metadata),
    ...(asset.assetType === "image" && { ingest_images_per_day: 1 }),
  });
  const [, inserted, , usage] = await batch(db, [
    transferStatement(asset.assetId, asset.sizeBytes),
    sql`INSERT OR IGNORE INTO assets (asset_id, index_id, shard, account_id, asset_type, title,
          state, warnings, source, content_type, size_bytes, sha256, metadata, job_id, created_at,
          updated_at)
        SELECT ${asset.assetId}, ${asset.indexId}, ${asset.shard}, ${asset.accountId},
          ${asset.assetType}, ${asset.title}, ${asset.state}, ${JSON.stringify(asset.warnings)},
          ${JSON.stringify(asset.source)}, ${asset.contentType}, ${asset.sizeBytes}, ${asset.sha256},
          ${JSON.stringify(asset.metadata)}, ${asset.jobId}, ${asset.createdAt}, ${asset.updatedAt}
        WHERE ${quota.condition}`,
    sql`INSERT INTO jobs
        (job_id, account_id, index_id, asset_id, kind, state, created_at, updated_at)
      SELECT job_id, account_id, index_id, asset_id, 'ingest', 'queued', created_at, updated_at
      FROM assets WHERE asset_id = ${asset.assetId} AND job_id = ${asset.jobId}`,
    quota.usageStatement,
  ]);
  if (inserted!.meta.changes > 0) return true;
  quota.throwIfExceeded(usage!.results[0]);
  return false;
}

export async function getAsset(db: D1Database, assetId: AssetId): Promise<Asset | null> {
  const row = await first<AssetRow>(
    db,
    sql`SELECT ${ASSET_COLUMNS} ${FROM_ASSETS} WHERE asset_id = ${assetId}`,
  );
  return row && toAsset(row);
}

/** Throws `not_found` if the index has no such asset of that type. */
export async function requireAsset(
  db: D1Database,
  indexId: IndexId,
  assetType: AssetType,
  assetId: string,
): Promise<Asset> {
  const selected = sql`SELECT ${ASSET_COLUMNS} ${FROM_ASSETS}
    WHERE asset_id = ${assetId} AND index_id = ${indexId} AND asset_type = ${assetType}`;
  const row = isIdText([ASSET_PREFIX[assetType]], assetId) && (await first<AssetRow>(db, selected));
  if (!row) throw new AppError("not_found", `There is no ${assetType} "${assetId}" in this index.`);
  return toAsset(row);
}

export async function getAssetByBytes(
  db: D1Database,
  indexId: IndexId,
  sha256: string,
): Promise<Asset | null> {
  const row = await first<AssetRow>(
    db,
    sql`SELECT ${ASSET_COLUMNS} ${FROM_ASSETS} WHERE index_id = ${indexId}
      AND sha256 = ${sha256}`,
  );
  return row && toAsset(row);
}

/** Ids without their prefix sort by creation time. */
const BY_TIME = raw("substr(asset_id, 5)");

export interface AssetFilter {
  type?: AssetType | undefined;
  state?: AssetState | undefined;
}

export async function listAssets(
  db: D1Database,
  indexId: IndexId,
  filter: AssetFilter,
  { limit, after }: PageRequest,
): Promise<Page<Asset>> {
  const filters: SqlFragment[] = [];
  if (filter.type !== undefined) filters.push(sql`asset_type = ${filter.type}`);
  if (filter.state !== undefined) filters.push(sql`state = ${filter.state}`);
  const isListed = concat([sql`index_id = ${indexId}`, ...filters], " AND ");
  const [rows, total] = await batch<AssetRow & { total: number | null }>(db, [
    sql`SELECT ${ASSET_COLUMNS} ${FROM_ASSETS}
        WHERE ${isListed} AND ${BY_TIME} > substr(${after}, 5)
        ORDER BY ${BY_TIME} LIMIT ${limit + 1}`,
    countAssets(indexId, filters),
  ]);
  return toPage(rows!.results.map(toAsset), total!.results[0]?.total ?? 0, limit, (a) => a.assetId);
}

export type UndispatchedAsset = Pick<Asset, "indexId" | "assetId" | "assetType" | "jobId">;

/** Lists assets, in turn, that were inserted before `before` and that no object has started. */
export async function listUndispatchedAssets(
  db: D1Database,
  before: number,
  limit: number,
): Promise<UndispatchedAsset[]> {
  return all<UndispatchedAsset>(
    db,
    sql`SELECT index_id AS indexId, asset_id AS assetId, asset_type AS assetType, job_id AS jobId
      FROM assets WHERE state = 'queued' AND revision = 0 AND created_at < ${before}
      ${IN_TURN} LIMIT ${limit}`,
  );
}

/** Lists indices, in turn, with an ingest in progress that hasn't changed since `before`. */
export async function listWaitingIndices(
  db: D1Database,
  before: number,
  limit: number,
): Promise<IndexId[]> {
  const rows = await all<{ indexId: IndexId }>(
    db,
    sql`SELECT index_id AS indexId FROM (SELECT DISTINCT account_id, index_id FROM assets
        WHERE state NOT IN ('ready', 'failed') AND updated_at < ${before})
      ${IN_TURN} LIMIT ${limit}`,
  );
  return rows.map(({ indexId }) => indexId);
}

/** Lists the ids that an index has no asset for, or only one that is being deleted. */
export async function listUnknownAssets(
  db: D1Database,
  indexId: IndexId,
  ids: string[],
): Promise<string[]> {
  const row = sql`SELECT 1 FROM assets
    WHERE asset_id = value AND index_id = ${indexId} AND deleted_at IS NULL`;
  const possible = ids.filter((id) => isIdText(["vid", "img"], id));
  const rows = await all<{ id: string }>(db, whereMissing(possible, row));
  const unknown = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => unknown.has(id) || !possible.includes(id));
}

/** Lists the assets of an index with one of these ids, in no order. */
export async function listAssetsByIds(
  db: D1Database,
  indexId: IndexId,
  ids: string[],
): Promise<Asset[]> {
  const possible = ids.filter((id) => isIdText(["vid", "img"], id));
  const rows = await all<AssetRow>(
    db,
    sql`SELECT ${ASSET_COLUMNS} ${FROM_ASSETS}
      WHERE index_id = ${indexId} AND assets.deleted_at IS NULL AND asset_id ${inList(possible)}`,
  );
  return rows.map(toAsset);
}

/** Properties of an asset that the ingest steps determine. */
export interface AssetProperties {
  title?: string;
  contentType?: string;
  sizeBytes?: number;
  sha256?: string;
  width?: number;
  height?: number;
  durationMs?: number;
  fps?: number | null;
  hasAudio?: boolean;
  language?: string | null;
  keyframeMs?: number;
  segments?: number;
  source?: AssetSource;
  technical?: JsonObject;
  /** `WAVEFORM.peaks` amplitudes from 0 to 1. */
  waveform?: number[];
  warnings?: Failure[];
}

const PROPERTY_COLUMNS: Record<keyof AssetProperties, string> = {
  title: "title",
  contentType: "content_type",
  sizeBytes: "size_bytes",
  sha256: "sha256",
  width: "width",
  height: "height",
  durationMs: "duration_ms",
  fps: "fps",
  hasAudio: "has_audio",
  language: "language",
  keyframeMs: "keyframe_ms",
  segments: "segments",
  source: "source",
  technical: "technical",
  waveform: "waveform",
  warnings: "warnings",
};

/** Usage that a change of an asset's properties adds. */
interface AddedUsage {
  quota: QuotaGuard;
  /** Bytes of a file that were charged as they were stored: its row counts them from here on. */
  storedBytes?: number;
  /** Length of media that `durationMs` doesn't tell, to add to the day's ingests. */
  untoldMs?: number;
}

/**
 * Writes properties of an asset. Throws `duplicate_bytes` if another asset of the index has the
 * same `sha256`, and what `QuotaGuard.throwIfExceeded` throws if the quota of `added` is exceeded.
 */
export async function updateProperties(
  db: D1Database,
  assetId: AssetId,
  properties: AssetProperties,
  added?: AddedUsage,
): Promise<void> {
  const { quota, storedBytes = 0, untoldMs = 0 } = added ?? {};
  const assignments = (Object.keys(properties) as (keyof AssetProperties)[]).map(
    (name): SqlFragment => {
      const value = properties[name] ?? null;
      const bound = typeof value === "object" && value !== null ? JSON.stringify(value) : value;
      return sql`${raw(PROPERTY_COLUMNS[name])} =
        ${typeof bound === "boolean" ? Number(bound) : bound}`;
    },
  );
  const ingested = sql`INSERT INTO usage (account_id, date, ingested_ms)
    SELECT account_id, date('now'), ${Math.round(untoldMs)} FROM assets
    WHERE asset_id = ${assetId} AND changes() > 0
    ON CONFLICT DO UPDATE SET ingested_ms = ingested_ms + excluded.ingested_ms`;
  const released = storedBytes > 0 ? [releaseStatement(assetId, storedBytes)] : [];
  const results = await batch(db, [
    ...released,
    sql`UPDATE OR IGNORE assets SET ${concat(assignments, ", ")}
        WHERE asset_id = ${assetId} AND ${quota?.condition ?? raw("true")}`,
    ...(untoldMs > 0 ? [ingested] : []),
    ...(quota ? [quota.usageStatement] : []),
  ]);
  if (results[released.length]!.meta.changes > 0) return;
  quota?.throwIfExceeded(results.at(-1)!.results[0]);
  if (properties.sha256 !== undefined) {
    throw new AppError("duplicate_bytes", "The same bytes are in this index already.");
  }
}

/** An asset as stored: SQLite has no booleans. */
type AssetRow = Omit<Asset, "hasAudio"> & { hasAudio: number | null };

function toAsset(row: AssetRow): Asset {
  const asset = parseColumns(row, ["error", "warnings", "source", "technical", "metadata"]);
  return { ...asset, hasAudio: row.hasAudio === null ? null : row.hasAudio === 1 };
}

/** Returns when some assets of an index were added, in epoch ms. */
export async function listCreationTimes(
  db: D1Database,
  indexId: IndexId,
  assetIds: readonly AssetId[],
): Promise<Map<AssetId, number>> {
  const rows = await all<Pick<Asset, "assetId" | "createdAt">>(
    db,
    sql`SELECT asset_id AS assetId, created_at AS createdAt FROM assets
      WHERE index_id = ${indexId} AND asset_id ${inList(assetIds)}`,
  );
  return new Map(rows.map(({ assetId, createdAt }) => [assetId, createdAt]));
}
