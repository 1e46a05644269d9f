import { AppError, type Failure } from "../errors.ts";
import type { AssetId, IndexId } from "../ids.ts";
import type { Asset, AssetState, AssetType, JsonObject } from "../types.ts";
import { Room } from "./limits.ts";
import { listMissing, type Page, type PageRequest, parseColumns, toPage } from "./rows.ts";

const ASSET_COLUMNS = `asset_id AS assetId, index_id AS indexId, assets.account_id AS accountId,
  indices.name AS indexName, asset_type AS assetType, title, state, progress, error, warnings, source,
  content_type AS contentType, size_bytes AS sizeBytes, sha256, width, height,
  duration_ms AS durationMs, fps, has_audio AS hasAudio, language, technical, assets.metadata,
  keyframe_ms AS keyframeMs, segments, job_id AS jobId,
  transcript_job AS transcriptJob, assets.created_at AS createdAt, assets.updated_at AS updatedAt`;
export const FROM_ASSETS = "FROM assets JOIN indices USING (index_id)";

/**
 * The asset and its ingest job. False where the index has these bytes already: nothing is written. Throws as
 * `requireRoom` does: of many that are added at once no more get through than there is room for. `reserved`
 * bytes of the asset are counted already.
 */
export async function insertAsset(db: D1Database, asset: Asset, reserved = 0): Promise<boolean> {
  const room = new Room(asset.accountId, {
    concurrent_ingests: 1,
    stored_bytes: asset.sizeBytes - reserved,
    ...(asset.assetType === "image" && { ingest_images_per_day: 1 }),
  });
  const [inserted, , used] = await db.batch([
    db
      .prepare(
        `INSERT OR IGNORE INTO assets (asset_id, index_id, account_id, asset_type, title, state,
           source, content_type, size_bytes, sha256, metadata, job_id, created_at, updated_at)
         SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ${room.condition}`,
      )
      .bind(
        asset.assetId,
        asset.indexId,
        asset.accountId,
        asset.assetType,
        asset.title,
        asset.state,
        JSON.stringify(asset.source),
        asset.contentType,
        asset.sizeBytes,
        asset.sha256,
        JSON.stringify(asset.metadata),
        asset.jobId,
        asset.createdAt,
        asset.updatedAt,
        ...room.bindings,
      ),
    db
      .prepare(
        `INSERT INTO jobs (job_id, account_id, index_id, asset_id, kind, state, created_at, updated_at)
         SELECT job_id, account_id, index_id, asset_id, 'ingest', 'queued', created_at, updated_at
         FROM assets WHERE asset_id = ? AND job_id = ?`,
      )
      .bind(asset.assetId, asset.jobId),
    room.look(db),
  ]);
  if (inserted!.meta.changes > 0) return true;
  room.require(used!.results[0]);
  return false;
}

export async function getAsset(db: D1Database, assetId: AssetId): Promise<Asset | null> {
  const row = await db
    .prepare(`SELECT ${ASSET_COLUMNS} ${FROM_ASSETS} WHERE asset_id = ?`)
    .bind(assetId)
    .first<AssetRow>();
  return row && toAsset(row);
}

/** Throws `not_found` where the index holds no such asset of that type. */
export async function requireAsset(
  db: D1Database,
  indexId: IndexId,
  assetType: AssetType,
  assetId: string,
): Promise<Asset> {
  const row = await db
    .prepare(
      `SELECT ${ASSET_COLUMNS} ${FROM_ASSETS} WHERE asset_id = ? AND index_id = ? AND asset_type = ?`,
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

/** Ids sort by time once their prefix is off. */
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
  const where = "index_id = ?1 AND (?2 IS NULL OR asset_type = ?2) AND (?3 IS NULL OR state = ?3)";
  const bindings = [indexId, filter.type ?? null, filter.state ?? null];
  const [rows, total] = await db.batch<AssetRow & { total: number | null }>([
    db
      .prepare(
        `SELECT ${ASSET_COLUMNS} ${FROM_ASSETS} WHERE ${where} AND ${BY_TIME} > substr(?4, 5) ORDER BY ${BY_TIME} LIMIT ?5`,
      )
      .bind(...bindings, after, limit + 1),
    db.prepare(`SELECT SUM(assets) AS total FROM tallies WHERE ${where}`).bind(...bindings),
  ]);
  return toPage(rows!.results.map(toAsset), total!.results[0]?.total ?? 0, limit, (a) => a.assetId);
}

/** Ids only, for work on every asset of an index. */
export async function listAssetIds(
  db: D1Database,
  indexId: IndexId,
  limit: number,
): Promise<AssetId[]> {
  const { results } = await db
    .prepare("SELECT asset_id AS id FROM assets WHERE index_id = ? ORDER BY asset_id LIMIT ?")
    .bind(indexId, limit)
    .all<{ id: AssetId }>();
  return results.map(({ id }) => id);
}

export type LostAsset = Pick<Asset, "indexId" | "assetId" | "assetType" | "jobId">;

/** Assets on record since before `before` of which their index's object has never shown anything. */
export async function listLostAssets(
  db: D1Database,
  before: number,
  limit: number,
): Promise<LostAsset[]> {
  const { results } = await db
    .prepare(
      `SELECT index_id AS indexId, asset_id AS assetId, asset_type AS assetType, job_id AS jobId
       FROM assets WHERE state = 'queued' AND revision = 0 AND created_at < ? LIMIT ?`,
    )
    .bind(before, limit)
    .all<LostAsset>();
  return results;
}

/** Of these ids, the ones that are not in the index, or are on their way out of it. */
export function listUnknownAssets(
  db: D1Database,
  indexId: IndexId,
  ids: string[],
): Promise<string[]> {
  const row =
    "SELECT 1 FROM assets WHERE asset_id = value AND index_id = ?2 AND deleted_at IS NULL";
  return listMissing(db, indexId, ids, row);
}

export interface Shown {
  state: AssetState;
  /** Null keeps what was reached. */
  progress: number | null;
  error: Failure | null;
  revision: number;
}

/** Brings the record up to the object's `revision`; one that comes late changes nothing. */
export async function showState(db: D1Database, assetId: AssetId, shown: Shown): Promise<void> {
  await db
    .prepare(
      `UPDATE assets SET state = ?2, progress = COALESCE(?3, progress), error = ?4, revision = ?5,
         updated_at = ?6, ready_at = CASE ?2 WHEN 'ready' THEN COALESCE(ready_at, ?6) ELSE ready_at END
       WHERE asset_id = ?1 AND revision < ?5`,
    )
    .bind(
      assetId,
      shown.state,
      shown.progress,
      shown.error && JSON.stringify(shown.error),
      shown.revision,
      Date.now(),
    )
    .run();
}

/** What its owner says of an asset; undefined keeps what was said. */
export interface AssetChange {
  title?: string | undefined;
  metadata?: JsonObject | undefined;
}

export async function updateAsset(
  db: D1Database,
  assetId: AssetId,
  { title, metadata }: AssetChange,
  now: number,
): Promise<void> {
  await db
    .prepare(
      `UPDATE assets SET title = COALESCE(?, title), metadata = COALESCE(?, metadata), updated_at = ?
       WHERE asset_id = ?`,
    )
    .bind(title ?? null, metadata ? JSON.stringify(metadata) : null, now, assetId)
    .run();
}

/** What the steps find out about an asset. */
export interface Facts {
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

const FACT_COLUMNS: Record<keyof Facts, string> = {
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
 * Throws `duplicate_bytes` where another asset of the index has the same `sha256`, and as `requireRoom` does
 * where there isn't the `room`.
 */
export async function updateFacts(
  db: D1Database,
  assetId: AssetId,
  facts: Facts,
  room?: Room,
): Promise<void> {
  const names = Object.keys(facts) as (keyof Facts)[];
  const values = names.map((name) => {
    const value = facts[name] ?? null;
    return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
  });
  const set = names.map((name) => `${FACT_COLUMNS[name]} = ?`).join(", ");
  const where = room ? ` AND ${room.condition}` : "";
  const [updated, used] = await db.batch([
    db
      .prepare(`UPDATE OR IGNORE assets SET ${set} WHERE asset_id = ?${where}`)
      .bind(...values, assetId, ...(room?.bindings ?? [])),
    ...(room ? [room.look(db)] : []),
  ]);
  if (updated!.meta.changes > 0) return;
  room?.require(used!.results[0]);
  if (facts.sha256 !== undefined) {
    throw new AppError("duplicate_bytes", "The same bytes are in this index already.");
  }
}

/** SQLite has no booleans. */
type AssetRow = Omit<Asset, "hasAudio"> & { hasAudio: number | null };

function toAsset(row: AssetRow): Asset {
  const asset = parseColumns(row, ["error", "warnings", "source", "technical", "metadata"]);
  return { ...asset, hasAudio: row.hasAudio === null ? null : row.hasAudio === 1 };
}
