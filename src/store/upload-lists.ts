import type { IndexId } from "../ids.ts";
import { type Page, type PageRequest, toPage } from "./rows.ts";
import { FROM_UPLOADS, toUpload, type Upload, UPLOAD_COLUMNS, type UploadRow } from "./uploads.ts";

/** Those of an index that haven't become assets, and still may. */
export async function pageOpenUploads(
  db: D1Database,
  indexId: IndexId,
  { limit, after }: PageRequest,
  now: number,
): Promise<Page<Upload>> {
  const open = "index_id = ? AND became IS NULL AND removed_at IS NULL AND expires_at > ?";
  const [rows, total] = await db.batch<UploadRow & { total: number }>([
    db
      .prepare(
        `SELECT ${UPLOAD_COLUMNS} ${FROM_UPLOADS} WHERE ${open} AND upload_id > ? ORDER BY upload_id LIMIT ?`,
      )
      .bind(indexId, now, after, limit + 1),
    db.prepare(`SELECT COUNT(*) AS total FROM uploads WHERE ${open}`).bind(indexId, now),
  ]);
  return toPage(rows!.results.map(toUpload), total!.results[0]!.total, limit, (u) => u.uploadId);
}

/** All uploads of an index, whatever became of them. */
export function listIndexUploads(
  db: D1Database,
  indexId: IndexId,
  limit: number,
): Promise<Upload[]> {
  return list(db, "index_id = ?", [indexId], limit);
}

/** Uploads of which all had come by `before`, and that haven't become assets. */
export function listReceivedUploads(
  db: D1Database,
  before: number,
  limit: number,
): Promise<Upload[]> {
  const where = `sha256 IS NOT NULL AND became IS NULL AND removed_at IS NULL
    AND deleted_at IS NULL AND uploads.updated_at < ?`;
  return list(db, where, [before], limit);
}

/** Uploads whose time is over, or whose removal was cut off. */
export function listOverUploads(
  db: D1Database,
  now: number,
  settledBefore: number,
  limit: number,
): Promise<Upload[]> {
  return list(db, "expires_at <= ? OR removed_at <= ?", [now, settledBefore], limit);
}

async function list(
  db: D1Database,
  where: string,
  bindings: unknown[],
  limit: number,
): Promise<Upload[]> {
  const { results } = await db
    .prepare(`SELECT ${UPLOAD_COLUMNS} ${FROM_UPLOADS} WHERE ${where} LIMIT ?`)
    .bind(...bindings, limit)
    .all<UploadRow>();
  return results.map(toUpload);
}
