import type { AssetId, SegmentId } from "../../ids.ts";
import type { Segment, VectorKind } from "../../types.ts";
import { concat, inList, sql } from "../sql.ts";
import type { SegmentVector } from "../vectorize/vectors.ts";
import type { IndexDb } from "./index-database.ts";
import { ofAsset } from "./segments.ts";

/** A stored vector of a segment that isn't searchable yet. */
export interface StoredVector {
  segmentId: SegmentId;
  kind: VectorKind;
  values: ArrayBuffer;
}

/** Vectors of one statement, which takes 100 parameters. */
const VECTORS_PER_INSERT = 20;
/** Segments whose vectors are read at a time, which makes some 10 MB. */
export const SEGMENTS_PER_READ = 300;

/**
 * Stores vectors of segments until their asset is searchable: Vectorize shows what is written only
 * later. Replaces all that the segments have of the same space.
 */
export async function putNewVectors(
  db: IndexDb,
  segments: readonly Pick<Segment, "segmentId">[],
  vectors: readonly SegmentVector[],
  kinds: readonly VectorKind[],
): Promise<void> {
  const chunks = Array.from({ length: Math.ceil(vectors.length / VECTORS_PER_INSERT) }, (_, i) =>
    vectors.slice(i * VECTORS_PER_INSERT, (i + 1) * VECTORS_PER_INSERT),
  );
  const segmentIds = segments.map(({ segmentId }) => segmentId);
  await db.batch([
    sql`DELETE FROM new_vectors WHERE kind ${inList(kinds)} AND segment_key IN (
      SELECT segment_key FROM segments WHERE segment_id ${inList(segmentIds)})`,
    ...chunks.map((chunk) => {
      const rows = chunk.map(({ segment, kind, region = 0, values }) => {
        const bytes = new Uint8Array(Float32Array.from(values).buffer);
        return sql`(${segment.segmentId}, ${kind}, ${region}, ${bytes})`;
      });
      return sql`INSERT OR REPLACE INTO new_vectors
        SELECT segment_key, column2, column3, column4
        FROM (VALUES ${concat(rows, ", ")}) JOIN segments ON segment_id = column1`;
    }),
  ]);
}

/**
 * Lists the stored vectors of `SEGMENTS_PER_READ` segments of an asset, from a position on; null
 * behind the last segment.
 */
export async function listNewVectors(
  db: IndexDb,
  assetId: AssetId,
  position: number,
): Promise<StoredVector[] | null> {
  const [segments, vectors] = await db.batch([
    sql`SELECT 1 FROM segments WHERE ${ofAsset(assetId)} AND position >= ${position} LIMIT 1`,
    sql`SELECT segment_id AS segmentId, kind, "values"
      FROM segments JOIN new_vectors USING (segment_key)
      WHERE ${ofAsset(assetId)} AND position >= ${position}
        AND position < ${position + SEGMENTS_PER_READ}
      ORDER BY position`,
  ]);
  return segments!.length === 0 ? null : (vectors as StoredVector[]);
}

/** Deletes the stored vectors of an asset, and the matches that it had before it was searchable. */
export async function clearNewVectors(db: IndexDb, assetId: AssetId): Promise<void> {
  const segments = sql`SELECT segment_key FROM segments WHERE ${ofAsset(assetId)}`;
  await db.batch([
    sql`DELETE FROM new_vectors WHERE segment_key IN (${segments})`,
    sql`DELETE FROM new_matches WHERE segment_key IN (${segments})`,
  ]);
}
