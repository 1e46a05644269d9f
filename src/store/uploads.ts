import { UPLOADS } from "../config.ts";
import type { AccountId, AssetId, IndexId, UploadId } from "../ids.ts";
import type { AssetType, JsonObject } from "../types.ts";
import { Room } from "./limits.ts";
import { parseColumns } from "./rows.ts";

/** A resumable upload. Epoch ms, bytes. */
export interface Upload {
  uploadId: UploadId;
  accountId: AccountId;
  indexId: IndexId;
  indexName: string;
  /** The index's settings. */
  settings: JsonObject;
  title: string | null;
  metadata: JsonObject;
  /** `Upload-Metadata`, as it came. */
  describedAs: string;
  /** Null: not told yet. */
  length: number | null;
  /** Bytes that count. */
  received: number;
  /** Of the request that may add to it. */
  token: string | null;
  /** The key of the object that holds what is behind the last whole part. */
  tail: string | null;
  /** SHA-256's state after the parts, hex; null before the first. */
  hash: string | null;
  /** Of the whole: nothing is to come. */
  sha256: string | null;
  /** What it is and where it is put; null before the first part. */
  target: Target | null;
  /** The id of the asset that it became. */
  became: AssetId | null;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
}

export interface Target {
  assetId: AssetId;
  assetType: AssetType;
  contentType: string;
  /** R2's multipart upload. */
  storageId: string;
}

export interface UploadRow extends Omit<Upload, "target"> {
  assetId: AssetId | null;
  assetType: AssetType;
  contentType: string;
  storageId: string;
}

export const UPLOAD_COLUMNS = `upload_id AS uploadId, uploads.account_id AS accountId, index_id AS indexId,
  indices.name AS indexName, indices.settings, title, uploads.metadata, described_as AS describedAs, length,
  received, token, tail, hash, sha256, asset_id AS assetId, asset_type AS assetType,
  content_type AS contentType, storage_id AS storageId, became, uploads.created_at AS createdAt,
  uploads.updated_at AS updatedAt, expires_at AS expiresAt`;
export const FROM_UPLOADS = "FROM uploads JOIN indices USING (index_id)";

export type NewUpload = Pick<
  Upload,
  "uploadId" | "accountId" | "indexId" | "title" | "metadata" | "describedAs" | "length"
>;

/** Throws as `requireRoom` does: of many that begin at once no more get through than there is room for. */
export async function insertUpload(db: D1Database, upload: NewUpload, now: number): Promise<void> {
  const room = new Room(upload.accountId, {
    open_uploads: 1,
    concurrent_ingests: 1,
    stored_bytes: upload.length ?? 1,
  });
  const insert = db
    .prepare(
      `INSERT INTO uploads (upload_id, account_id, index_id, title, metadata, described_as, length,
         created_at, updated_at, expires_at)
       SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE ${room.condition}`,
    )
    .bind(
      upload.uploadId,
      upload.accountId,
      upload.indexId,
      upload.title,
      JSON.stringify(upload.metadata),
      upload.describedAs,
      upload.length,
      now,
      now,
      expiryOf(now, now),
      ...room.bindings,
    );
  const [inserted, used] = await db.batch([insert, room.look(db)]);
  if (inserted!.meta.changes === 0) room.require(used!.results[0]);
}

/** Also one whose time is over, until it is removed. */
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
      `SELECT ${UPLOAD_COLUMNS} ${FROM_UPLOADS} WHERE index_id = ? AND upload_id = ? AND removed_at IS NULL`,
    )
    .bind(indexId, uploadId);
}

/**
 * From now on the request with `token` is the only one that can add to the upload: another one that does so
 * stops at its next commit. `length` is kept if none was told before. Null where `offset` isn't how far it is.
 */
export async function holdUpload(
  db: D1Database,
  { indexId, uploadId }: Pick<Upload, "indexId" | "uploadId">,
  { token, offset, length }: { token: string; offset: number; length: number | null },
): Promise<Upload | null> {
  const [, found] = await db.batch<UploadRow>([
    db
      .prepare(
        `UPDATE uploads SET token = ?, length = COALESCE(length, ?)
         WHERE upload_id = ? AND received = ? AND sha256 IS NULL AND removed_at IS NULL`,
      )
      .bind(token, length, uploadId, offset),
    selectUpload(db, indexId, uploadId),
  ]);
  const row = found!.results[0];
  return row?.token === token ? toUpload(row) : null;
}

/** A part number that nobody else has had or will; null where another request holds the upload. */
export async function takePartNumber(db: D1Database, upload: Upload): Promise<number | null> {
  return db
    .prepare(
      "UPDATE uploads SET part_number = part_number + 1 WHERE upload_id = ? AND token = ? RETURNING part_number",
    )
    .bind(upload.uploadId, upload.token)
    .first<number>("part_number");
}

/** How far an upload has come. */
export type Progress = Pick<Upload, "received" | "tail" | "hash" | "sha256" | "target">;

/** The parts and the progress count from now on. False where another request holds the upload: nothing does. */
export async function commitUpload(
  db: D1Database,
  upload: Upload,
  parts: R2UploadedPart[],
  { received, tail, hash, sha256, target }: Progress,
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
        `UPDATE uploads SET received = ?, tail = ?, hash = ?, sha256 = ?, asset_id = ?, asset_type = ?,
           content_type = ?, storage_id = ?, updated_at = ?, expires_at = ?
         WHERE upload_id = ? AND token = ?`,
      )
      .bind(
        received,
        tail,
        hash,
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

/** The stored parts that count, in order. */
export async function listParts(db: D1Database, uploadId: UploadId): Promise<R2UploadedPart[]> {
  const { results } = await db
    .prepare(
      "SELECT number AS partNumber, etag FROM upload_parts WHERE upload_id = ? ORDER BY number",
    )
    .bind(uploadId)
    .all<R2UploadedPart>();
  return results;
}

/** The upload is that asset now. False where it was removed meanwhile. */
export async function noteBecame(
  db: D1Database,
  uploadId: UploadId,
  assetId: AssetId,
): Promise<boolean> {
  const [noted] = await db.batch([
    db
      .prepare("UPDATE uploads SET became = ? WHERE upload_id = ? AND removed_at IS NULL")
      .bind(assetId, uploadId),
    db.prepare("DELETE FROM upload_parts WHERE upload_id = ?").bind(uploadId),
  ]);
  return noted!.meta.changes > 0;
}

/** Nobody can add to it any more, nor finish it. */
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
  return Math.min(lastByteAt + UPLOADS.idleMs, createdAt + UPLOADS.wholeMs);
}

export function toUpload(row: UploadRow): Upload {
  const { assetId, assetType, contentType, storageId, ...upload } = row;
  const target = assetId === null ? null : { assetId, assetType, contentType, storageId };
  return { ...parseColumns(upload, ["metadata", "settings"]), target };
}
