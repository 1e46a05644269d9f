import { UPLOADS } from "../config.ts";
import type { AccountId, AssetId, IndexId, UploadId } from "../ids.ts";
import type { AssetType, JsonObject } from "../types.ts";
import { QuotaGuard } from "./quotas.ts";
import { parseColumns, prepare, sql } from "./sql.ts";

/** A resumable upload (tus 1.0). Times are epoch ms, lengths are bytes. */
export interface Upload {
  uploadId: UploadId;
  accountId: AccountId;
  indexId: IndexId;
  indexName: string;
  /** The index's settings. */
  settings: JsonObject;
  title: string | null;
  metadata: JsonObject;
  /** The `Upload-Metadata` header, unparsed. */
  uploadMetadata: string;
  /** Declared length (`Upload-Length`); null while deferred. */
  length: number | null;
  /** Committed bytes (`Upload-Offset`). */
  received: number;
  /** Identifies the request that may append; any other fails at its next commit. */
  token: string | null;
  /** Key of the R2 object with the bytes after the last whole part. */
  tail: string | null;
  /** State of SHA-256 after the stored parts, hex; null before the first part. */
  sha256State: string | null;
  /** SHA-256 of the whole file, hex; null until all bytes are received. */
  sha256: string | null;
  /** The asset and the multipart upload that the parts go to; null before the first part. */
  target: UploadTarget | null;
  /** Id of the asset that the upload resulted in. */
  resultAssetId: AssetId | null;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
}

export interface UploadTarget {
  assetId: AssetId;
  assetType: AssetType;
  contentType: string;
  /** Id of R2's multipart upload. */
  storageId: string;
}

export interface UploadRow extends Omit<Upload, "target"> {
  assetId: AssetId | null;
  assetType: AssetType;
  contentType: string;
  storageId: string;
}

export const UPLOAD_COLUMNS = `upload_id AS uploadId, uploads.account_id AS accountId,
  index_id AS indexId, indices.name AS indexName, indices.settings, title, uploads.metadata,
  upload_metadata AS uploadMetadata, length, received, token, tail, sha256_state AS sha256State,
  sha256, asset_id AS assetId, asset_type AS assetType, content_type AS contentType,
  storage_id AS storageId, result_asset_id AS resultAssetId, uploads.created_at AS createdAt,
  uploads.updated_at AS updatedAt, expires_at AS expiresAt`;
export const FROM_UPLOADS = "FROM uploads JOIN indices USING (index_id)";

export type NewUpload = Pick<
  Upload,
  "uploadId" | "accountId" | "indexId" | "title" | "metadata" | "uploadMetadata" | "length"
>;

/** Throws what `requireQuota` throws, also if concurrent inserts use up the quota. */
export async function insertUpload(db: D1Database, upload: NewUpload, now: number): Promise<void> {
  const quota = new QuotaGuard(upload.accountId, {
    open_uploads: 1,
    concurrent_ingests: 1,
    stored_bytes: upload.length ?? 1,
  });
  const insert = sql`INSERT INTO uploads (upload_id, account_id, index_id, title, metadata,
      upload_metadata, length, created_at, updated_at, expires_at)
    SELECT ${upload.uploadId}, ${upload.accountId}, ${upload.indexId}, ${upload.title},
      ${JSON.stringify(upload.metadata)}, ${upload.uploadMetadata}, ${upload.length},
      ${now}, ${now}, ${expiryOf(now, now)}
    WHERE ${quota.condition}`;
  const [inserted, usage] = await db.batch([prepare(db, insert), quota.usageStatement(db)]);
  if (inserted!.meta.changes === 0) quota.throwIfExceeded(usage!.results[0]);
}

/** Returns an upload, an expired one too until it is removed, or null. */
export async function getUpload(
  db: D1Database,
  indexId: IndexId,
  uploadId: string,
): Promise<Upload | null> {
  const row = await selectUpload(db, indexId, uploadId).first<UploadRow>();
  return row && toUpload(row);
}

function selectUpload(db: D1Database, indexId: IndexId, uploadId: string): D1PreparedStatement {
  return db
    .prepare(
      `SELECT ${UPLOAD_COLUMNS} ${FROM_UPLOADS}
       WHERE index_id = ? AND upload_id = ? AND removed_at IS NULL`,
    )
    .bind(indexId, uploadId);
}

/**
 * Locks an upload for the request with `token`: any other request fails at its next commit. Stores
 * `length` unless one is stored. Returns null if `offset` differs from the committed offset.
 */
export async function lockUpload(
  db: D1Database,
  { indexId, uploadId }: Pick<Upload, "indexId" | "uploadId">,
  { token, offset, length }: { token: string; offset: number; length: number | null },
): Promise<Upload | null> {
  const [, uploads] = await db.batch<UploadRow>([
    db
      .prepare(
        `UPDATE uploads SET token = ?, length = COALESCE(length, ?)
         WHERE upload_id = ? AND received = ? AND sha256 IS NULL AND removed_at IS NULL`,
      )
      .bind(token, length, uploadId, offset),
    selectUpload(db, indexId, uploadId),
  ]);
  const row = uploads!.results[0];
  return row?.token === token ? toUpload(row) : null;
}

/** Allocates an unused part number. Returns null if another request has locked the upload. */
export async function allocatePartNumber(db: D1Database, upload: Upload): Promise<number | null> {
  return db
    .prepare(
      `UPDATE uploads SET part_number = part_number + 1 WHERE upload_id = ? AND token = ?
       RETURNING part_number`,
    )
    .bind(upload.uploadId, upload.token)
    .first<number>("part_number");
}

/** Fields of an upload that a commit writes. */
export type UploadProgress = Pick<
  Upload,
  "received" | "tail" | "sha256State" | "sha256" | "target"
>;

/** Commits stored parts and progress. Returns false, and writes nothing, if the lock was lost. */
export async function commitUpload(
  db: D1Database,
  upload: Upload,
  parts: R2UploadedPart[],
  { received, tail, sha256State, sha256, target }: UploadProgress,
): Promise<boolean> {
  const now = Date.now();
  const [, updated] = await db.batch([
    db
      .prepare(
        `INSERT INTO upload_parts (upload_id, number, etag)
         SELECT upload_id, value ->> 'partNumber', value ->> 'etag' FROM uploads, json_each(?)
         WHERE upload_id = ? AND token = ?`,
      )
      .bind(JSON.stringify(parts), upload.uploadId, upload.token),
    db
      .prepare(
        `UPDATE uploads SET received = ?, tail = ?, sha256_state = ?, sha256 = ?, asset_id = ?,
           asset_type = ?, content_type = ?, storage_id = ?, updated_at = ?, expires_at = ?
         WHERE upload_id = ? AND token = ?`,
      )
      .bind(
        received,
        tail,
        sha256State,
        sha256,
        target?.assetId ?? null,
        target?.assetType ?? null,
        target?.contentType ?? null,
        target?.storageId ?? null,
        now,
        expiryOf(now, upload.createdAt),
        upload.uploadId,
        upload.token,
      ),
  ]);
  return updated!.meta.changes > 0;
}

/** Lists the committed parts, in order. */
export async function listParts(db: D1Database, uploadId: UploadId): Promise<R2UploadedPart[]> {
  const { results } = await db
    .prepare(
      "SELECT number AS partNumber, etag FROM upload_parts WHERE upload_id = ? ORDER BY number",
    )
    .bind(uploadId)
    .all<R2UploadedPart>();
  return results;
}

/** Records the asset that an upload resulted in. Returns false if the upload is being removed. */
export async function setUploadResult(
  db: D1Database,
  uploadId: UploadId,
  assetId: AssetId,
): Promise<boolean> {
  const [updated] = await db.batch([
    db
      .prepare("UPDATE uploads SET result_asset_id = ? WHERE upload_id = ? AND removed_at IS NULL")
      .bind(assetId, uploadId),
    db.prepare("DELETE FROM upload_parts WHERE upload_id = ?").bind(uploadId),
  ]);
  return updated!.meta.changes > 0;
}

/** Marks an upload as being removed: no request can append to it or complete it any more. */
export async function beginUploadRemoval(
  db: D1Database,
  uploadId: UploadId,
  now: number,
): Promise<void> {
  await db
    .prepare(
      "UPDATE uploads SET token = NULL, removed_at = COALESCE(removed_at, ?) WHERE upload_id = ?",
    )
    .bind(now, uploadId)
    .run();
}

export async function deleteUploadRow(db: D1Database, uploadId: UploadId): Promise<void> {
  await db.prepare("DELETE FROM uploads WHERE upload_id = ?").bind(uploadId).run();
}

function expiryOf(lastByteAt: number, createdAt: number): number {
  return Math.min(lastByteAt + UPLOADS.idleMs, createdAt + UPLOADS.maxAgeMs);
}

export function toUpload(row: UploadRow): Upload {
  const { assetId, assetType, contentType, storageId, ...upload } = row;
  const target = assetId === null ? null : { assetId, assetType, contentType, storageId };
  return { ...parseColumns(upload, ["metadata", "settings"]), target };
}
