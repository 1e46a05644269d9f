import type { IndexId, SegmentId } from "../ids.ts";
import { inIndex, listMissing, prepare, sql } from "./sql.ts";

/** Full-text rows of an index without their segment. */
const orphanFullText = (indexId: IndexId) =>
  sql`SELECT rowid FROM segment_fts WHERE rowid ${inIndex(indexId)} AND rowid NOT IN (
    SELECT segments.rowid FROM assets JOIN segments USING (asset_id)
    WHERE assets.index_id = ${indexId}
  )`;
/** Signatures of an index without their segment. */
const orphanSignatures = (indexId: IndexId) =>
  sql`SELECT signature_id FROM signatures WHERE index_id = ${indexId} AND NOT EXISTS (
    SELECT 1 FROM segments WHERE segments.segment_id = signatures.segment_id
  )`;

export interface OrphanRows {
  fulltext: number;
  signatures: number;
}

/** Counts the rows of an index whose segment is missing. */
export async function countOrphanRows(db: D1Database, indexId: IndexId): Promise<OrphanRows> {
  const [fulltext, signatures] = await db.batch<{ count: number }>([
    prepare(db, sql`SELECT COUNT(*) AS count FROM (${orphanFullText(indexId)})`),
    prepare(db, sql`SELECT COUNT(*) AS count FROM (${orphanSignatures(indexId)})`),
  ]);
  return { fulltext: fulltext!.results[0]!.count, signatures: signatures!.results[0]!.count };
}

/**
 * Deletes the rows that `countOrphanRows` counts. Also deletes the reference frames of missing
 * assets of every index: such rows don't say which index they belonged to.
 */
export async function deleteOrphanRows(db: D1Database, indexId: IndexId): Promise<void> {
  await db.batch([
    prepare(db, sql`DELETE FROM segment_fts WHERE rowid IN (${orphanFullText(indexId)})`),
    prepare(db, sql`DELETE FROM signatures WHERE signature_id IN (${orphanSignatures(indexId)})`),
    db.prepare("DELETE FROM reference_frames WHERE asset_id NOT IN (SELECT asset_id FROM assets)"),
  ]);
}

/** Lists the asset ids that an index has no row for. */
export function listMissingAssets(
  db: D1Database,
  indexId: IndexId,
  ids: string[],
): Promise<string[]> {
  const row = sql`SELECT 1 FROM assets WHERE asset_id = value AND index_id = ${indexId}`;
  return listMissing(db, ids, row);
}

/** Lists the segment ids that an index has no row for. */
export function listUnknownSegments(
  db: D1Database,
  indexId: IndexId,
  ids: string[],
): Promise<string[]> {
  const row = sql`SELECT 1 FROM segments WHERE segment_id = value AND index_id = ${indexId}`;
  return listMissing(db, ids, row);
}

/** Lists the first segment of each asset of an index, at most 1000, by asset creation. */
export async function listFirstSegments(db: D1Database, indexId: IndexId): Promise<SegmentId[]> {
  const { results } = await db
    .prepare(
      `SELECT segment_id AS id FROM assets JOIN segments USING (asset_id)
       WHERE assets.index_id = ? AND position = 0 ORDER BY substr(asset_id, 5) LIMIT 1000`,
    )
    .bind(indexId)
    .all<{ id: SegmentId }>();
  return results.map(({ id }) => id);
}
