import type { IndexId, SegmentId } from "../ids.ts";
import { IN_INDEX, listMissing } from "./rows.ts";

/** Full-text rows of an index (`?1`) whose segment is gone. */
const ORPHAN_WORDS = `SELECT rowid FROM segment_words WHERE rowid ${IN_INDEX} AND rowid NOT IN (
  SELECT segments.rowid FROM assets JOIN segments USING (asset_id) WHERE assets.index_id = ?1
)`;
/** Its signatures, likewise. */
const ORPHAN_SIGNATURES = `SELECT signature_id FROM signatures WHERE index_id = ?1 AND NOT EXISTS (
  SELECT 1 FROM segments WHERE segments.segment_id = signatures.segment_id
)`;
/** Of assets that are gone, which no index has. */
const ORPHAN_STILLS = `asset_id NOT IN (SELECT asset_id FROM assets)`;

export interface OrphanRows {
  words: number;
  signatures: number;
}

/** How many rows of an index belong to a segment that is gone. */
export async function countOrphanRows(db: D1Database, indexId: IndexId): Promise<OrphanRows> {
  const [words, signatures] = await db.batch<{ count: number }>([
    db.prepare(`SELECT COUNT(*) AS count FROM (${ORPHAN_WORDS})`).bind(indexId),
    db.prepare(`SELECT COUNT(*) AS count FROM (${ORPHAN_SIGNATURES})`).bind(indexId),
  ]);
  return { words: words!.results[0]!.count, signatures: signatures!.results[0]!.count };
}

/** They go. Stills of assets that are gone name no index, and go as well. */
export async function deleteOrphanRows(db: D1Database, indexId: IndexId): Promise<void> {
  await db.batch([
    db.prepare(`DELETE FROM segment_words WHERE rowid IN (${ORPHAN_WORDS})`).bind(indexId),
    db.prepare(`DELETE FROM signatures WHERE signature_id IN (${ORPHAN_SIGNATURES})`).bind(indexId),
    db.prepare(`DELETE FROM stills WHERE ${ORPHAN_STILLS}`),
  ]);
}

/** Of these ids of assets, the ones that an index has no row of. */
export function listGoneAssets(db: D1Database, indexId: IndexId, ids: string[]): Promise<string[]> {
  const row = "SELECT 1 FROM assets WHERE asset_id = value AND index_id = ?2";
  return listMissing(db, indexId, ids, row);
}

/** Of these ids of segments, the ones that an index doesn't have. */
export function listUnknownSegments(
  db: D1Database,
  indexId: IndexId,
  ids: string[],
): Promise<string[]> {
  const row = "SELECT 1 FROM segments WHERE segment_id = value AND index_id = ?2";
  return listMissing(db, indexId, ids, row);
}

/** The first segments of assets of an index, at most 1000 of them, in order. */
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
