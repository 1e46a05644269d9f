import type { IndexId } from "../../ids.ts";
import {
  all,
  batch,
  IN_TURN,
  type Page,
  type PageRequest,
  raw,
  sql,
  type SqlFragment,
  toPage,
} from "../sql.ts";
import { FROM_UPLOADS, toUpload, type Upload, UPLOAD_COLUMNS, type UploadRow } from "./uploads.ts";

const SELECT_UPLOADS = sql`SELECT ${UPLOAD_COLUMNS} ${FROM_UPLOADS}`;

/** Lists the uploads of an index that haven't resulted in an asset, nor expired. */
export async function pageOpenUploads(
  db: D1Database,
  indexId: IndexId,
  { limit, after }: PageRequest,
  now: number,
): Promise<Page<Upload>> {
  const isOpen = sql`index_id = ${indexId} AND result_asset_id IS NULL AND removed_at IS NULL
    AND expires_at > ${now}`;
  const [rows, total] = await batch<UploadRow & { total: number }>(db, [
    sql`${SELECT_UPLOADS} WHERE ${isOpen} AND upload_id > ${after}
        ORDER BY upload_id LIMIT ${limit + 1}`,
    sql`SELECT COUNT(*) AS total FROM uploads WHERE ${isOpen}`,
  ]);
  return toPage(rows!.results.map(toUpload), total!.results[0]!.total, limit, (u) => u.uploadId);
}

/** Lists uploads of an index, in whatever state, by any order: all of them are removed. */
export function listIndexUploads(
  db: D1Database,
  indexId: IndexId,
  limit: number,
): Promise<Upload[]> {
  return list(db, sql`index_id = ${indexId}`, limit);
}

/** Lists, in turn, received uploads without an asset whose last byte came before `before`. */
export function listReceivedUploads(
  db: D1Database,
  before: number,
  limit: number,
): Promise<Upload[]> {
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
  const rows = await all<UploadRow>(
    db,
    sql`${SELECT_UPLOADS} WHERE ${where}
      ${raw(IN_TURN.sql.replace("account_id", "uploads.account_id"))} LIMIT ${limit}`,
  );
  return rows.map(toUpload);
}
