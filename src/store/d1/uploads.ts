import { UPLOADS } from "../../config.ts";
import { type AccountId, type AssetId, type IndexId, type UploadId, isIdText } from "../../ids.ts";
import type { AssetType, JsonObject } from "../../types.ts";
import { assetPrefix, deletePrefix, sourceKey, uploadPrefix } from "../r2/object-keys.ts";
import {
  IN_TURN,
  type PageRequest,
  type SqlFragment,
  batch,
  newRow,
  raw,
  readPage,
  sql,
  d1,
  parseColumns,
} from "../sql.ts";
import { getAsset } from "./assets.ts";
import { QuotaGuard, recordBytes } from "./quotas.ts";

/** A resumable upload (tus 1.0). Times are epoch ms, lengths are bytes. */
export interface Upload {
  uploadId: UploadId;
  accountId: AccountId;
  indexId: IndexId;
  indexName: string;
  settings: JsonObject;
  title: string | null;
  /** Folder of the file, with `/`; empty without one. */
  folder: string;
  metadata: JsonObject;
  /** The `Upload-Metadata` header, unparsed. */
  uploadMetadata: string;
  /** Declared length (`Upload-Length`). */
  length: number;
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
  resultAssetId: AssetId | null;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
}

export interface UploadTarget {
  assetId: AssetId;
  assetType: AssetType;
  contentType: string;
  storageId: string;
}

interface UploadRow extends Omit<Upload, "target"> {
  assetId: AssetId | null;
  assetType: AssetType;
  contentType: string;
  storageId: string;
}

const UPLOAD_COLUMNS = raw(`upload_id AS uploadId, uploads.account_id AS accountId,
  index_id AS indexId, indices.name AS indexName, indices.settings, title, folder, uploads.metadata,
  upload_metadata AS uploadMetadata, length, received, stored_bytes AS storedBytes,
  token, tail, sha256_state AS sha256State,
  sha256, asset_id AS assetId, asset_type AS assetType, content_type AS contentType,
  storage_id AS storageId, result_asset_id AS resultAssetId, uploads.created_at AS createdAt,
  uploads.updated_at AS updatedAt, expires_at AS expiresAt`);
const FROM_UPLOADS = raw("FROM uploads JOIN indices USING (index_id)");
const SELECT_UPLOADS = sql`SELECT ${UPLOAD_COLUMNS} ${FROM_UPLOADS}`;

export type NewUpload = Pick<
  Upload,
  | "uploadId"
  | "accountId"
  | "indexId"
  | "title"
  | "folder"
  | "metadata"
  | "uploadMetadata"
  | "length"
>;

/** Throws what `requireQuota` throws, even if concurrent inserts use up the quota. */
export async function insertUpload(db: D1Database, upload: NewUpload, now: number): Promise<void> {
  const quota = new QuotaGuard(upload.accountId, {
    open_uploads: 1,
    concurrent_ingests: 1,
    stored_bytes: upload.length,
    ...recordBytes(upload.title, upload.folder, upload.metadata, upload.uploadMetadata),
  });
  const row = { ...upload, createdAt: now, updatedAt: now, expiresAt: expiryOf(now, now) };
  await quota.write(db, [sql`INSERT INTO ${newRow("uploads", row)} WHERE ${quota.condition}`]);
}

/** Returns an upload, an expired one too until it is removed, or null. */
export async function getUpload(db: D1Database, indexId: IndexId, uploadId: string) {
  if (!isIdText(["upl"], uploadId)) return null;
  const row = await d1(db).first<UploadRow>`${selectUpload(indexId, uploadId)}`;
  return row && toUpload(row);
}

function selectUpload(indexId: IndexId, uploadId: string): SqlFragment {
  return sql`${SELECT_UPLOADS}
    WHERE index_id = ${indexId} AND upload_id = ${uploadId} AND removed_at IS NULL`;
}

/**
 * Locks an upload for the request with `token`: any other request fails at its next commit. Returns
 * null if the committed offset isn't that of `upload` any more.
 */
export async function lockUpload(
  db: D1Database,
  { indexId, uploadId, received }: Upload,
  token: string,
): Promise<Upload | null> {
  const [, uploads] = await batch(db, [
    sql`UPDATE uploads SET token = ${token} WHERE upload_id = ${uploadId}
      AND received = ${received} AND sha256 IS NULL AND removed_at IS NULL`,
    selectUpload(indexId, uploadId),
  ]);
  const row = uploads!.results[0] as UploadRow | undefined;
  return row?.token === token ? toUpload(row) : null;
}

/**
 * Counts the bytes that an upload has in R2 once its next part, or its tail, is stored, and
 * allocates an unused part number. Returns null if another request has locked the upload. Throws
 * `account_full`.
 */
export async function allocatePartNumber(db: D1Database, upload: Upload, storedBytes: number) {
  const countedBytes = Math.max(upload.length, upload.received, upload.storedBytes);
  const added = Math.max(0, storedBytes - countedBytes);
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
  await d1(db).run`UPDATE uploads SET stored_bytes = received
    WHERE upload_id = ${uploadId} AND token = ${token}`;
}

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

export async function listParts(db: D1Database, uploadId: UploadId): Promise<R2UploadedPart[]> {
  return d1(db).all<R2UploadedPart>`
    SELECT number AS partNumber, etag FROM upload_parts WHERE upload_id = ${uploadId}
      ORDER BY number`;
}

export async function setUploadResult(db: D1Database, uploadId: UploadId, assetId: AssetId) {
  const [updated] = await batch(db, [
    sql`UPDATE uploads SET result_asset_id = ${assetId} WHERE upload_id = ${uploadId}
      AND removed_at IS NULL`,
    sql`DELETE FROM upload_parts WHERE upload_id = ${uploadId}`,
  ]);
  return updated!.meta.changes > 0;
}

function expiryOf(lastByteAt: number, createdAt: number): number {
  return Math.min(lastByteAt + UPLOADS.idleMs, createdAt + UPLOADS.maxAgeMs);
}

function toUpload(row: UploadRow): Upload {
  const { assetId, assetType, contentType, storageId, ...upload } = row;
  const target = assetId === null ? null : { assetId, assetType, contentType, storageId };
  return { ...parseColumns(upload, ["metadata", "settings"]), target };
}

export function pageOpenUploads(
  db: D1Database,
  indexId: IndexId,
  request: PageRequest,
  now: number,
) {
  const from = sql`${FROM_UPLOADS} WHERE index_id = ${indexId} AND result_asset_id IS NULL
    AND removed_at IS NULL AND expires_at > ${now}`;
  return readPage(db, { columns: UPLOAD_COLUMNS, from, id: "uploadId" }, request, toUpload);
}

/** Lists uploads of an index, in whatever state, by any order: all of them are removed. */
export function listIndexUploads(db: D1Database, indexId: IndexId, limit: number) {
  return list(db, sql`index_id = ${indexId}`, limit);
}

/** Lists, in turn, received uploads without an asset whose last byte came before `before`. */
export function listReceivedUploads(db: D1Database, before: number, limit: number) {
  const isReceived = sql`sha256 IS NOT NULL AND result_asset_id IS NULL AND removed_at IS NULL
    AND deleted_at IS NULL AND uploads.updated_at < ${before}`;
  return list(db, isReceived, limit);
}

/** Lists, in turn, expired uploads, and ones whose removal began by `removedBefore`. */
export function listExpiredUploads(
  db: D1Database,
  now: number,
  removedBefore: number,
  limit: number,
): Promise<Upload[]> {
  return list(db, sql`expires_at <= ${now} OR removed_at <= ${removedBefore}`, limit);
}

async function list(db: D1Database, where: SqlFragment, limit: number): Promise<Upload[]> {
  const rows = await d1(db).all<UploadRow>`${SELECT_UPLOADS} WHERE ${where}
      ${raw(IN_TURN.sql.replace("account_id", "uploads.account_id"))} LIMIT ${limit}`;
  return rows.map(toUpload);
}

/**
 * Assembles the committed parts into one object. Safe to repeat: if the multipart upload is
 * complete, the object exists with the length of the upload.
 */
export async function completeMultipart(
  env: Pick<Env, "DB" | "MEDIA">,
  upload: Upload,
  target: UploadTarget,
): Promise<void> {
  const parts = await listParts(env.DB, upload.uploadId);
  try {
    await resumeMultipart(env.MEDIA, upload, target).complete(parts);
  } catch (error) {
    const object = await env.MEDIA.head(multipartKey(upload, target));
    if (object?.size !== upload.received) throw error;
  }
}

/**
 * Removes an upload: its parts, its tail and its rows. Its asset stays. Marks its row first, so
 * that no request can append to it or complete it any more, and deletes it last, so that an
 * interrupted removal can be repeated.
 */
export async function removeUpload({ DB, MEDIA }: Pick<Env, "DB" | "MEDIA">, upload: Upload) {
  const { uploadId, indexId, target, resultAssetId } = upload;
  await d1(DB).run`UPDATE uploads SET token = NULL,
    removed_at = COALESCE(removed_at, ${Date.now()}) WHERE upload_id = ${uploadId}`;
  if (target && resultAssetId === null) {
    await resumeMultipart(MEDIA, upload, target).abort().catch(ignoreEnded);
    if (!(await getAsset(DB, target.assetId))) {
      await deletePrefix(MEDIA, assetPrefix({ ...upload, assetId: target.assetId }));
    }
  }
  await deletePrefix(MEDIA, uploadPrefix(indexId, uploadId));
  await d1(DB).run`DELETE FROM uploads WHERE upload_id = ${uploadId}`;
}

/** Ignores that a multipart upload can't be aborted: it was completed or aborted before. */
function ignoreEnded(): void {}

function multipartKey(upload: Upload, { assetId }: Pick<UploadTarget, "assetId">): string {
  return sourceKey({ ...upload, assetId });
}

/** Begins the multipart upload that the parts go to, which count as the upload's. */
export async function createMultipart(
  bucket: R2Bucket,
  upload: Upload,
  target: Pick<UploadTarget, "assetId" | "contentType">,
): Promise<R2MultipartUpload> {
  const key = multipartKey(upload, target);
  const httpMetadata = { contentType: target.contentType };
  const { uploadId } = await bucket.createMultipartUpload(key, { httpMetadata });
  return bucket.resumeMultipartUpload(key, uploadId);
}

export function resumeMultipart(bucket: R2Bucket, upload: Upload, target: UploadTarget) {
  return bucket.resumeMultipartUpload(multipartKey(upload, target), target.storageId);
}

/** Reads the bytes after the last whole part into the beginning of `part`. Returns their number. */
export async function readTail(bucket: R2Bucket, { tail }: Upload, part: Uint8Array) {
  if (tail === null) return 0;
  const object = await bucket.get(tail);
  if (!object) throw new Error("The tail of an upload is gone");
  part.set(await object.bytes());
  return object.size;
}

/** Stores the bytes after the last whole part. Returns the key, which is the request's own. */
export async function putTail(
  bucket: R2Bucket,
  { indexId, uploadId, token }: Upload,
  bytes: Uint8Array,
): Promise<string> {
  const key = `${uploadPrefix(indexId, uploadId)}${token}`;
  await bucket.put(key, bytes);
  return key;
}
