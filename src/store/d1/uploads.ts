import { UPLOADS } from "../../config.ts";
import { type AccountId, type AssetId, type IndexId, isIdText, type UploadId } from "../../ids.ts";
import type { AssetType, JsonObject } from "../../types.ts";
import { all, batch, first, parseColumns, raw, run, sql, type SqlFragment } from "../sql.ts";
import { QuotaGuard, recordBytes } from "./quotas.ts";

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
  /** Bytes in R2 of its parts, with parts that were discarded, and of its tail. */
  storedBytes: number;
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

export const UPLOAD_COLUMNS = raw(`upload_id AS uploadId, uploads.account_id AS accountId,
  index_id AS indexId, indices.name AS indexName, indices.settings, title, uploads.metadata,
  upload_metadata AS uploadMetadata, length, received, stored_bytes AS storedBytes,
  token, tail, sha256_state AS sha256State,
  sha256, asset_id AS assetId, asset_type AS assetType, content_type AS contentType,
  storage_id AS storageId, result_asset_id AS resultAssetId, uploads.created_at AS createdAt,
  uploads.updated_at AS updatedAt, expires_at AS expiresAt`);
export const FROM_UPLOADS = raw("FROM uploads JOIN indices USING (index_id)");

export type NewUpload = Pick<
  Upload,
  "uploadId" | "accountId" | "indexId" | "title" | "metadata" | "uploadMetadata" | "length"
>;

/** Throws what `requireQuota` throws, even if concurrent inserts use up the quota. */
export async function insertUpload(db: D1Database, upload: NewUpload, now: number): Promise<void> {
  const quota = new QuotaGuard(upload.accountId, {
    open_uploads: 1,
    concurrent_ingests: 1,
    stored_bytes: upload.length ?? 1,
    ...recordBytes(upload.title, upload.metadata, upload.uploadMetadata),
  });
  const insert = sql`INSERT INTO uploads (upload_id, account_id, index_id, title, metadata,
      upload_metadata, length, created_at, updated_at, expires_at)
    SELECT ${upload.uploadId}, ${upload.accountId}, ${upload.indexId}, ${upload.title},
      ${JSON.stringify(upload.metadata)}, ${upload.uploadMetadata}, ${upload.length},
      ${now}, ${now}, ${expiryOf(now, now)}
    WHERE ${quota.condition}`;
  const [inserted, usage] = await batch(db, [insert, quota.usageStatement]);
  if (inserted!.meta.changes === 0) quota.throwIfExceeded(usage!.results[0]);
}

/** Returns an upload, an expired one too until it is removed, or null. */
export async function getUpload(
  db: D1Database,
  indexId: IndexId,
  uploadId: string,
): Promise<Upload | null> {
  if (!isIdText(["upl"], uploadId)) return null;
  const row = await first<UploadRow>(db, selectUpload(indexId, uploadId));
  return row && toUpload(row);
}

function selectUpload(indexId: IndexId, uploadId: string): SqlFragment {
  return sql`SELECT ${UPLOAD_COLUMNS} ${FROM_UPLOADS}
    WHERE index_id = ${indexId} AND upload_id = ${uploadId} AND removed_at IS NULL`;
}

/**
 * Locks an upload for the request with `token`: any other request fails at its next commit. Stores
 * `length` unless one is stored. Returns null if `offset` differs from the committed offset. Throws
 * `account_full` if the account has no room for `length`.
 */
export async function lockUpload(
  db: D1Database,
  upload: Upload,
  { token, offset, length }: { token: string; offset: number; length: number | null },
): Promise<Upload | null> {
  const { indexId, uploadId, accountId } = upload;
  const stored_bytes = Math.max(length ?? 0, countedBytes(upload)) - countedBytes(upload);
  const quota = new QuotaGuard(accountId, { stored_bytes });
  const locked = sql`UPDATE uploads SET token = ${token}, length = COALESCE(length, ${length})
    WHERE upload_id = ${uploadId} AND received = ${offset} AND sha256 IS NULL
      AND removed_at IS NULL AND (length IS NOT NULL OR ${length} IS NULL OR ${quota.condition})`;
  const [changed, uploads, usage] = await batch(db, [
    locked,
    selectUpload(indexId, uploadId),
    ...(length === null ? [] : [quota.usageStatement]),
  ]);
  const row = uploads!.results[0] as UploadRow | undefined;
  if (usage && changed!.meta.changes === 0 && row?.received === offset && row.length === null) {
    quota.throwIfExceeded(usage.results[0]);
  }
  return row?.token === token ? toUpload(row) : null;
}

/** Bytes that an upload counts towards `stored_bytes`. */
function countedBytes({ length, received, storedBytes }: Upload): number {
  return Math.max(length ?? 0, received, storedBytes);
}

/**
 * Counts the bytes that an upload has in R2 once its next part, or its tail, is stored, and
 * allocates an unused part number. Returns null if another request has locked the upload. Throws
 * `account_full`.
 */
export async function allocatePartNumber(
  db: D1Database,
  upload: Upload,
  storedBytes: number,
): Promise<number | null> {
  const added = Math.max(0, storedBytes - countedBytes(upload));
  const quota = new QuotaGuard(upload.accountId, { stored_bytes: added });
  const isLocked = sql`upload_id = ${upload.uploadId} AND token = ${upload.token}`;
  const condition = added > 0 ? quota.condition : raw("true");
  const [allocated, locked, usage] = await batch(db, [
    sql`UPDATE uploads SET part_number = part_number + 1, stored_bytes = ${storedBytes}
        WHERE ${isLocked} AND ${condition} RETURNING part_number AS number`,
    sql`SELECT 1 FROM uploads WHERE ${isLocked}`,
    ...(added > 0 ? [quota.usageStatement] : []),
  ]);
  const [part] = allocated!.results as { number: number }[];
  if (!part && usage && locked!.results.length > 0) quota.throwIfExceeded(usage.results[0]);
  return part?.number ?? null;
}

/** Counts an upload without its parts, none of which was committed: R2 has deleted them. */
export async function discardParts(db: D1Database, { uploadId, token }: Upload): Promise<void> {
  const discarded = sql`UPDATE uploads SET stored_bytes = received
    WHERE upload_id = ${uploadId} AND token = ${token}`;
  await run(db, discarded);
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
  const [, updated] = await batch(db, [
    sql`INSERT INTO upload_parts (upload_id, number, etag)
      SELECT upload_id, value ->> 'partNumber', value ->> 'etag'
      FROM uploads, json_each(${JSON.stringify(parts)})
      WHERE upload_id = ${upload.uploadId} AND token = ${upload.token}`,
    sql`UPDATE uploads
      SET received = ${received}, tail = ${tail}, sha256_state = ${sha256State}, sha256 = ${sha256},
        asset_id = ${target?.assetId ?? null}, asset_type = ${target?.assetType ?? null},
        content_type = ${target?.contentType ?? null}, storage_id = ${target?.storageId ?? null},
        updated_at = ${now}, expires_at = ${expiryOf(now, upload.createdAt)}
      WHERE upload_id = ${upload.uploadId} AND token = ${upload.token}`,
  ]);
  return updated!.meta.changes > 0;
}

/** Lists the committed parts, in order. */
export async function listParts(db: D1Database, uploadId: UploadId): Promise<R2UploadedPart[]> {
  return all<R2UploadedPart>(
    db,
    sql`SELECT number AS partNumber, etag FROM upload_parts WHERE upload_id = ${uploadId}
      ORDER BY number`,
  );
}

/** Records the asset that an upload resulted in. Returns false if the upload is being removed. */
export async function setUploadResult(
  db: D1Database,
  uploadId: UploadId,
  assetId: AssetId,
): Promise<boolean> {
  const [updated] = await batch(db, [
    sql`UPDATE uploads SET result_asset_id = ${assetId} WHERE upload_id = ${uploadId}
      AND removed_at IS NULL`,
    sql`DELETE FROM upload_parts WHERE upload_id = ${uploadId}`,
  ]);
  return updated!.meta.changes > 0;
}

/** Marks an upload as being removed: no request can append to it or complete it any more. */
export async function beginUploadRemoval(
  db: D1Database,
  uploadId: UploadId,
  now: number,
): Promise<void> {
  await run(
    db,
    sql`UPDATE uploads SET token = NULL, removed_at = COALESCE(removed_at, ${now})
      WHERE upload_id = ${uploadId}`,
  );
}

export async function deleteUploadRow(db: D1Database, uploadId: UploadId): Promise<void> {
  await run(db, sql`DELETE FROM uploads WHERE upload_id = ${uploadId}`);
}

function expiryOf(lastByteAt: number, createdAt: number): number {
  return Math.min(lastByteAt + UPLOADS.idleMs, createdAt + UPLOADS.maxAgeMs);
}

export function toUpload(row: UploadRow): Upload {
  const { assetId, assetType, contentType, storageId, ...upload } = row;
  const target = assetId === null ? null : { assetId, assetType, contentType, storageId };
  return { ...parseColumns(upload, ["metadata", "settings"]), target };
}
