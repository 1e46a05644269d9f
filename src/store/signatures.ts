import { SIGNATURE } from "../config.ts";
import type { AssetId, IndexId, SegmentId } from "../ids.ts";
import { inList, prepare, sql } from "./sql.ts";

/** A stored `ImageSignature` (src/media/pixels/image-signature.ts). */
interface Signature {
  hashes: number[];
  lumaThumbnail: string;
}

/** The signature of a query image. `compare` returns the similarity to a stored thumbnail, 0–1. */
interface SignatureQuery {
  hashes: number[];
  compare(lumaThumbnail: string): number;
}

export interface SignatureHit {
  segmentId: SegmentId;
  /** 0–1; from `SIGNATURE.minCopySimilarity`, the image is an edited copy. */
  similarity: number;
}

/** A stored image or frame that may be a copy. */
export interface SignatureMatch extends SignatureHit {
  assetId: AssetId;
  /** Time in the video; null for an image. */
  ms: number | null;
}

/** Signature of a frame that differs from its segment's keyframe. */
export interface FrameSignature {
  segmentId: SegmentId;
  ms: number;
  signature: Signature;
}

/** Replaces the signature of a segment's keyframe. It is deleted with the segment. */
export async function putSignature(
  db: D1Database,
  segmentId: SegmentId,
  { hashes, lumaThumbnail }: Signature,
): Promise<void> {
  await db.batch([
    db.prepare("DELETE FROM signatures WHERE segment_id = ? AND frame_ms IS NULL").bind(segmentId),
    db
      .prepare(
        `INSERT INTO signatures (segment_id, index_id, hashes, luma_thumbnail)
         SELECT segment_id, index_id, ?2, ?3 FROM segments WHERE segment_id = ?1`,
      )
      .bind(segmentId, JSON.stringify(hashes), lumaThumbnail),
  ]);
}

/** Replaces the frame signatures of segments. The signatures of their keyframes stay. */
export async function putFrameSignatures(
  db: D1Database,
  segmentIds: SegmentId[],
  frames: FrameSignature[],
): Promise<void> {
  const rows = frames.map(({ segmentId, ms, signature: { hashes, lumaThumbnail } }) => {
    return { segmentId, ms, hashes, lumaThumbnail };
  });
  await db.batch([
    prepare(
      db,
      sql`DELETE FROM signatures
        WHERE segment_id ${inList(segmentIds)} AND frame_ms IS NOT NULL`,
    ),
    db
      .prepare(
        `INSERT INTO signatures (segment_id, index_id, frame_ms, hashes, luma_thumbnail)
         SELECT segment_id, index_id, value ->> 'ms', value -> 'hashes', value ->> 'lumaThumbnail'
         FROM json_each(?), segments WHERE segment_id = value ->> 'segmentId'`,
      )
      .bind(JSON.stringify(rows)),
  ]);
}

/**
 * Finds the images and frames of an index that are most similar to the query, best first. Compares
 * the ones that share the most hashes with the query, at most `SIGNATURE.maxCandidates`. Results
 * below `SIGNATURE.minCopySimilarity` are accidental: image embeddings find similar scenes. A
 * segment of a video may occur more than once.
 */
export async function findSignatures(
  db: D1Database,
  indexId: IndexId,
  query: SignatureQuery,
  limit: number,
): Promise<SignatureMatch[]> {
  const { results } = await db
    .prepare(
      `SELECT segment_id AS segmentId, asset_id AS assetId, luma_thumbnail AS lumaThumbnail,
         CASE WHEN start_ms IS NOT NULL THEN COALESCE(frame_ms, keyframe_ms) END AS ms
       FROM (
         SELECT signature_id, COUNT(*) AS shared FROM (
           SELECT signature_id FROM json_each(?1) AS query_hashes CROSS JOIN signature_hashes
             ON index_id = ?2 AND signature_hashes.hash = query_hashes.value LIMIT ?3
         ) GROUP BY signature_id ORDER BY shared DESC, signature_id LIMIT ?4
       ) JOIN signatures USING (signature_id) JOIN segments USING (segment_id)`,
    )
    .bind(JSON.stringify(query.hashes), indexId, SIGNATURE.maxHashMatches, SIGNATURE.maxCandidates)
    .all<Omit<SignatureMatch, "similarity"> & { lumaThumbnail: string }>();
  return results
    .map(({ segmentId, assetId, ms, lumaThumbnail }) => {
      return { segmentId, assetId, ms, similarity: query.compare(lumaThumbnail) };
    })
    .toSorted((a, b) => b.similarity - a.similarity)
    .slice(0, limit);
}
