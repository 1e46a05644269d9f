import { isAudioOnly } from "../../asset-kind.ts";
import { LIMITS } from "../../config.ts";
import { technicalFactsOf } from "../../derived-media.ts";
import { AppError } from "../../errors.ts";
import { ASSET_PREFIX, type AssetId, type IndexId, isIdText } from "../../ids.ts";
import type { Asset, AssetState, AssetType, ContentRef, JsonObject } from "../../types.ts";
import {
  IN_TURN,
  type Page,
  type PageRequest,
  type SqlFragment,
  assignments,
  batch,
  concat,
  inList,
  newRow,
  parseColumns,
  raw,
  sql,
  toPage,
  whereMissing,
  d1,
} from "../sql.ts";
import { countAssets } from "./indices.ts";
import { releaseBytes, transferBytes, QuotaGuard, recordBytes } from "./quotas.ts";

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

/** Inserts the ingest jobs of assets, to which a condition follows. */
export const INSERT_INGEST_JOBS = raw(`INSERT INTO jobs
    (job_id, account_id, index_id, asset_id, kind, state, created_at, updated_at)
  SELECT job_id, account_id, index_id, asset_id, 'ingest', 'queued', created_at, updated_at
  FROM assets`);

/**
 * Inserts an asset and its ingest job. Returns false, and writes nothing, if the index has an asset
 * with these bytes. Throws what `requireQuota` throws. Its upload counts `reservedBytes` already.
 */
export async function insertAsset(db: D1Database, asset: Asset, reservedBytes = 0) {
  const quota = new QuotaGuard(asset.accountId, {
    concurrent_ingests: 1,
    stored_bytes: asset.sizeBytes - reservedBytes,
    ...recordBytes(asset.title, asset.source, asset.metadata),
    ...(asset.assetType === "image" && { ingest_images_per_day: 1 }),
  });
  const { indexName: _, vectorPair: _pair, ...columns } = asset;
  const statements = [
    transferBytes(asset.assetId, asset.sizeBytes),
    sql`INSERT OR IGNORE INTO ${newRow("assets", columns)} WHERE ${quota.condition}`,
    sql`${INSERT_INGEST_JOBS} WHERE asset_id = ${asset.assetId} AND job_id = ${asset.jobId}`,
  ];
  const [, inserted] = await quota.write(db, statements, 1);
  return inserted!.meta.changes > 0;
}

export async function getAsset(db: D1Database, assetId: AssetId): Promise<Asset | null> {
  const row = await d1(db).first<AssetRow>`
    SELECT ${ASSET_COLUMNS} ${FROM_ASSETS} WHERE asset_id = ${assetId}`;
  return row && toAsset(row);
}

/** Throws `not_found` if the index has no such asset of that type. */
export async function requireAsset(
  db: D1Database,
  indexId: IndexId,
  assetType: AssetType,
  assetId: string,
): Promise<Asset> {
  const row =
    isIdText([ASSET_PREFIX[assetType]], assetId) &&
    (await d1(db).first<AssetRow>`SELECT ${ASSET_COLUMNS} ${FROM_ASSETS}
    WHERE asset_id = ${assetId} AND index_id = ${indexId} AND asset_type = ${assetType}`);
  if (row) return toAsset(row);
  const [other, it] = assetType === "video" ? ["image", "an image"] : ["video", "a video"];
  const isOther = isIdText([ASSET_PREFIX[other as AssetType]], assetId);
  const hint = isOther ? ` It is ${it}: use …/${other}/{${other}_id}.` : "";
  throw new AppError("not_found", `There is no ${assetType} "${assetId}" in this index.${hint}`);
}

export async function getAssetByBytes(db: D1Database, indexId: IndexId, sha256: string) {
  const row = await d1(db).first<AssetRow>`
    SELECT ${ASSET_COLUMNS} ${FROM_ASSETS} WHERE index_id = ${indexId}
      AND sha256 = ${sha256}`;
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

/** Yields the assets of an index behind an id, by their creation. */
export async function* allAssets(
  db: D1Database,
  indexId: IndexId,
  filter: AssetFilter,
  after: string,
): AsyncGenerator<Asset> {
  for (let next: string | null = after; next !== null;) {
    const page = await listAssets(db, indexId, filter, { limit: LIMITS.pageSize, after: next });
    yield* page.items;
    ({ next } = page);
  }
}

/** Lists assets, in turn, that were inserted before `before` and that no object has started. */
export async function listUndispatchedAssets(db: D1Database, before: number, limit: number) {
  return d1(db).all<Pick<Asset, "indexId" | "assetId" | "assetType" | "jobId">>`
    SELECT index_id AS indexId, asset_id AS assetId, asset_type AS assetType, job_id AS jobId
      FROM assets WHERE state = 'queued' AND revision = 0 AND created_at < ${before}
      ${IN_TURN} LIMIT ${limit}`;
}

/** Lists indices, in turn, with an ingest in progress that hasn't changed since `before`. */
export async function listWaitingIndices(db: D1Database, before: number, limit: number) {
  const rows = await d1(db).all<{ indexId: IndexId }>`
    SELECT index_id AS indexId FROM (SELECT DISTINCT account_id, index_id FROM assets
        WHERE state NOT IN ('ready', 'failed') AND updated_at < ${before})
      ${IN_TURN} LIMIT ${limit}`;
  return rows.map(({ indexId }) => indexId);
}

/** Lists the ids that an index has no asset for, or only one that is being deleted. */
export async function listUnknownAssets(db: D1Database, indexId: IndexId, ids: string[]) {
  const row = sql`SELECT 1 FROM assets
    WHERE asset_id = value AND index_id = ${indexId} AND deleted_at IS NULL`;
  const possible = ids.filter((id) => isIdText(["vid", "img"], id));
  const rows = await d1(db).all<{ id: string }>`${whereMissing(possible, row)}`;
  const unknown = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => unknown.has(id) || !possible.includes(id));
}

export async function listAssetsByIds(db: D1Database, indexId: IndexId, ids: string[]) {
  const possible = ids.filter((id) => isIdText(["vid", "img"], id));
  const rows = await d1(db).all<AssetRow>`SELECT ${ASSET_COLUMNS} ${FROM_ASSETS}
      WHERE index_id = ${indexId} AND assets.deleted_at IS NULL AND asset_id ${inList(possible)}`;
  return rows.map(toAsset);
}

/**
 * Properties of an asset that the ingest steps determine. `waveform`: `WAVEFORM.peaks` amplitudes
 * from 0 to 1.
 */
type AssetProperties = Partial<Omit<Asset, keyof ContentRef | "assetType" | "indexName">> & {
  waveform?: number[];
};

interface AddedUsage {
  quota: QuotaGuard;
  /** Bytes of a file that were charged as they were stored: its row counts them from here on. */
  storedBytes?: number;
  /** Length of media that `durationMs` doesn't tell, to add to the day's ingests. */
  uncountedMs?: number;
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
  const { quota, storedBytes = 0, uncountedMs = 0 } = added ?? {};
  const ingested = sql`INSERT INTO usage (account_id, date, ingested_ms)
    SELECT account_id, date('now'), ${Math.round(uncountedMs)} FROM assets
    WHERE asset_id = ${assetId} AND changes() > 0
    ON CONFLICT DO UPDATE SET ingested_ms = ingested_ms + excluded.ingested_ms`;
  const released = storedBytes > 0 ? [releaseBytes(assetId, storedBytes)] : [];
  const results = await batch(db, [
    ...released,
    sql`UPDATE OR IGNORE assets SET ${assignments(properties)}
        WHERE asset_id = ${assetId} AND deleted_at IS NULL
          AND ${quota?.condition ?? raw("true")}`,
    ...(uncountedMs > 0 ? [ingested] : []),
    ...(quota ? [quota.usageStatement] : []),
  ]);
  if (results[released.length]!.meta.changes > 0) return;
  quota?.throwIfExceeded(results.at(-1)!.results[0]);
  if (properties.sha256 !== undefined) {
    throw new AppError("duplicate_bytes", "The same bytes are in this index already.");
  }
}

type AssetRow = Omit<Asset, "hasAudio"> & { hasAudio: number | null };

function toAsset(row: AssetRow): Asset {
  const asset = parseColumns(row, ["error", "warnings", "source", "technical", "metadata"]);
  return { ...asset, hasAudio: row.hasAudio === null ? null : row.hasAudio === 1 };
}

export async function listCreationTimes(
  db: D1Database,
  indexId: IndexId,
  assetIds: readonly AssetId[],
): Promise<Map<AssetId, number>> {
  const rows = await d1(db).all<Pick<Asset, "assetId" | "createdAt">>`
    SELECT asset_id AS assetId, created_at AS createdAt FROM assets
      WHERE index_id = ${indexId} AND asset_id ${inList(assetIds)}`;
  return new Map(rows.map(({ assetId, createdAt }) => [assetId, createdAt]));
}

/** Returns the amplitudes of sound without pictures; null if they aren't known, and for others. */
export async function getWaveform(db: D1Database, assetId: AssetId): Promise<number[] | null> {
  const text = await d1(db).firstValue<
    string | null
  >`SELECT waveform FROM assets WHERE asset_id = ${assetId}`;
  return text === null ? null : JSON.parse(text);
}

export async function getTechnical(db: D1Database, asset: Asset): Promise<JsonObject> {
  const waveform = isAudioOnly(asset) ? await getWaveform(db, asset.assetId) : null;
  return { ...technicalFactsOf(asset), ...(waveform && { waveform }) };
}
