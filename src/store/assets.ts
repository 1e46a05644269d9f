import { AppError, type Failure } from "../errors.ts";
import type { AssetId, IndexId } from "../ids.ts";
import type { Asset, AssetState, AssetType, JsonObject, Shard } from "../types.ts";
import { QuotaGuard } from "./quotas.ts";
import {
  concat,
  type Page,
  type PageRequest,
  parseColumns,
  prepare,
  raw,
  sql,
  type SqlFragment,
  toPage,
  whereMissing,
} from "./sql.ts";

const ASSET_COLUMNS = `asset_id AS assetId, index_id AS indexId, assets.account_id AS accountId,
  indices.name AS indexName, asset_type AS assetType, title, state, progress, error, warnings,
  source, content_type AS contentType, size_bytes AS sizeBytes, sha256, width, height,
  duration_ms AS durationMs, fps, has_audio AS hasAudio, language, technical, assets.metadata,
  keyframe_ms AS keyframeMs, segments, shard, vector_pair AS vectorPair, job_id AS jobId,
  transcript_job_id AS transcriptJobId, transcript_revision AS transcriptRevision,
  assets.created_at AS createdAt, assets.updated_at AS updatedAt`;
const FROM_ASSETS = "FROM assets JOIN indices USING (index_id) JOIN shards USING (index_id, shard)";

/**
 * Inserts an asset and its ingest job. Returns false, and writes nothing, if the index has an asset
 * with these bytes. Throws what `requireQuota` throws, also if concurrent inserts use up the quota.
 * `reservedBytes` of the asset are already counted, by its upload.
 */
export async function insertAsset(
  db: D1Database,
  asset: Asset,
  reservedBytes = 0,
): Promise<boolean> {
  const quota = new QuotaGuard(asset.accountId, {
    concurrent_ingests: 1,
    stored_bytes: asset.sizeBytes - reservedBytes,
    ...(asset.assetType === "image" && { ingest_images_per_day: 1 }),
  });
  const [inserted, , usage] = await db.batch([
    prepare(
      db,
      sql`INSERT OR IGNORE INTO assets (asset_id, index_id, shard, account_id, asset_type, title,
          state, source, content_type, size_bytes, sha256, metadata, job_id, created_at, updated_at)
        SELECT ${asset.assetId}, ${asset.indexId}, ${asset.shard}, ${asset.accountId},
          ${asset.assetType}, ${asset.title}, ${asset.state}, ${JSON.stringify(asset.source)},
          ${asset.contentType}, ${asset.sizeBytes}, ${asset.sha256},
          ${JSON.stringify(asset.metadata)}, ${asset.jobId}, ${asset.createdAt}, ${asset.updatedAt}
        WHERE ${quota.condition}`,
    ),
    db
      .prepare(
        `INSERT INTO jobs
           (job_id, account_id, index_id, asset_id, kind, state, created_at, updated_at)
         SELECT job_id, account_id, index_id, asset_id, 'ingest', 'queued', created_at, updated_at
         FROM assets WHERE asset_id = ? AND job_id = ?`,
      )
      .bind(asset.assetId, asset.jobId),
    quota.usageStatement(db),
  ]);
  if (inserted!.meta.changes > 0) return true;
  quota.throwIfExceeded(usage!.results[0]);
  return false;
}

export async function getAsset(db: D1Database, assetId: AssetId): Promise<Asset | null> {
  const row = await db
    .prepare(`SELECT ${ASSET_COLUMNS} ${FROM_ASSETS} WHERE asset_id = ?`)
    .bind(assetId)
    .first<AssetRow>();
  return row && toAsset(row);
}

/** Throws `not_found` if the index has no such asset of that type. */
export async function requireAsset(
  db: D1Database,
  indexId: IndexId,
  assetType: AssetType,
  assetId: string,
): Promise<Asset> {
  const row = await db
    .prepare(
      `SELECT ${ASSET_COLUMNS} ${FROM_ASSETS}
       WHERE asset_id = ? AND index_id = ? AND asset_type = ?`,
    )
    .bind(assetId, indexId, assetType)
    .first<AssetRow>();
  if (!row) throw new AppError("not_found", `There is no ${assetType} "${assetId}" in this index.`);
  return toAsset(row);
}

export async function getAssetByBytes(
  db: D1Database,
  indexId: IndexId,
  sha256: string,
): Promise<Asset | null> {
  const row = await db
    .prepare(`SELECT ${ASSET_COLUMNS} ${FROM_ASSETS} WHERE index_id = ? AND sha256 = ?`)
    .bind(indexId, sha256)
    .first<AssetRow>();
  return row && toAsset(row);
}

/** Ids without their prefix sort by creation time. */
const BY_TIME = "substr(asset_id, 5)";

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
  const conditions = [sql`index_id = ${indexId}`];
  if (filter.type !== undefined) conditions.push(sql`asset_type = ${filter.type}`);
  if (filter.state !== undefined) conditions.push(sql`state = ${filter.state}`);
  const isListed = concat(conditions, " AND ");
  const [rows, total] = await db.batch<AssetRow & { total: number | null }>([
    prepare(
      db,
      sql`SELECT ${raw(ASSET_COLUMNS)} ${raw(FROM_ASSETS)}
        WHERE ${isListed} AND ${raw(BY_TIME)} > substr(${after}, 5)
        ORDER BY ${raw(BY_TIME)} LIMIT ${limit + 1}`,
    ),
    prepare(db, sql`SELECT SUM(assets) AS total FROM tallies WHERE ${isListed}`),
  ]);
  return toPage(rows!.results.map(toAsset), total!.results[0]?.total ?? 0, limit, (a) => a.assetId);
}

/** What names an asset's content in every store. */
export type ContentRef = Pick<Asset, "accountId" | "indexId" | "assetId" | keyof Shard>;

/** Lists the content of the first `limit` assets of an index. */
export async function listContentRefs(
  db: D1Database,
  indexId: IndexId,
  limit: number,
): Promise<ContentRef[]> {
  const { results } = await db
    .prepare(
      `SELECT account_id AS accountId, index_id AS indexId, asset_id AS assetId, shard,
         vector_pair AS vectorPair
       FROM assets JOIN shards USING (index_id, shard)
       WHERE index_id = ? ORDER BY asset_id LIMIT ?`,
    )
    .bind(indexId, limit)
    .all<ContentRef>();
  return results;
}

export type UndispatchedAsset = Pick<Asset, "indexId" | "assetId" | "assetType" | "jobId">;

/** Lists assets that were inserted before `before` and that their index's object hasn't started. */
export async function listUndispatchedAssets(
  db: D1Database,
  before: number,
  limit: number,
): Promise<UndispatchedAsset[]> {
  const { results } = await db
    .prepare(
      `SELECT index_id AS indexId, asset_id AS assetId, asset_type AS assetType, job_id AS jobId
       FROM assets WHERE state = 'queued' AND revision = 0 AND created_at < ? LIMIT ?`,
    )
    .bind(before, limit)
    .all<UndispatchedAsset>();
  return results;
}

/** Lists indices, at random, with an ingest in progress that hasn't changed since `before`. */
export async function listWaitingIndices(
  db: D1Database,
  before: number,
  limit: number,
): Promise<IndexId[]> {
  const { results } = await db
    .prepare(
      `SELECT DISTINCT index_id AS indexId FROM assets
       WHERE state NOT IN ('ready', 'failed') AND updated_at < ? ORDER BY random() LIMIT ?`,
    )
    .bind(before, limit)
    .all<{ indexId: IndexId }>();
  return results.map(({ indexId }) => indexId);
}

/** Lists the ids that an index has no asset for, or only one that is being deleted. */
export async function listUnknownAssets(
  db: D1Database,
  indexId: IndexId,
  ids: string[],
): Promise<string[]> {
  const row = sql`SELECT 1 FROM assets
    WHERE asset_id = value AND index_id = ${indexId} AND deleted_at IS NULL`;
  const { results } = await prepare(db, whereMissing(ids, row)).all<{ id: string }>();
  return results.map(({ id }) => id);
}

/** Properties of an asset that the ingest steps determine. */
export interface AssetProperties {
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
  technical?: JsonObject;
  warnings?: Failure[];
}

const PROPERTY_COLUMNS: Record<keyof AssetProperties, string> = {
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
  technical: "technical",
  warnings: "warnings",
};

/**
 * Writes properties of an asset. Throws `duplicate_bytes` if another asset of the index has the
 * same `sha256`, and what `QuotaGuard.throwIfExceeded` throws if `quota` is given and exceeded.
 */
export async function updateProperties(
  db: D1Database,
  assetId: AssetId,
  properties: AssetProperties,
  quota?: QuotaGuard,
): Promise<void> {
  const assignments = (Object.keys(properties) as (keyof AssetProperties)[]).map(
    (name): SqlFragment => {
      const value = properties[name] ?? null;
      const bound = typeof value === "object" && value !== null ? JSON.stringify(value) : value;
      return sql`${raw(PROPERTY_COLUMNS[name])} = ${typeof bound === "boolean" ? Number(bound) : bound}`;
    },
  );
  const [updated, usage] = await db.batch([
    prepare(
      db,
      sql`UPDATE OR IGNORE assets SET ${concat(assignments, ", ")}
        WHERE asset_id = ${assetId} AND ${quota?.condition ?? raw("true")}`,
    ),
    ...(quota ? [quota.usageStatement(db)] : []),
  ]);
  if (updated!.meta.changes > 0) return;
  quota?.throwIfExceeded(usage!.results[0]);
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
