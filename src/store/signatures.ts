import { SIGNATURE } from "../config.ts";
import type { AssetId, IndexId, SegmentId } from "../ids.ts";
import { IN_JSON } from "./rows.ts";

/** As `media/signature.ts` makes it. */
interface Signature {
  keys: number[];
  thumbnail: string;
}

/** As `media/signature.ts` makes it. */
interface Query {
  keys: number[];
  compare(thumbnail: string): number;
}

export interface SignatureHit {
  segmentId: SegmentId;
  /** 0–1: 1 is the same, and from `SIGNATURE.same` on it is the same picture, edited. */
  similarity: number;
}

/** A stored picture that may be the one asked about. */
export interface SignatureMatch extends SignatureHit {
  assetId: AssetId;
  /** When the video shows it; null of an image. */
  ms: number | null;
}

/** One of a video's different pictures. */
export interface StillSignature {
  segmentId: SegmentId;
  ms: number;
  signature: Signature;
}

/** Keeps the signature of a segment's keyframe in place of any other. It goes when its segment goes. */
export async function putSignature(
  db: D1Database,
  segmentId: SegmentId,
  { keys, thumbnail }: Signature,
): Promise<void> {
  await db.batch([
    db.prepare("DELETE FROM signatures WHERE segment_id = ? AND still_ms IS NULL").bind(segmentId),
    db
      .prepare(
        `INSERT INTO signatures (segment_id, index_id, keys, thumbnail)
         SELECT segment_id, index_id, ?2, ?3 FROM segments WHERE segment_id = ?1`,
      )
      .bind(segmentId, JSON.stringify(keys), thumbnail),
  ]);
}

/** Keeps the signatures of segments' stills, beside those of their keyframes, in place of any others. */
export async function putStillSignatures(
  db: D1Database,
  segmentIds: SegmentId[],
  stills: StillSignature[],
): Promise<void> {
  const rows = stills.map(({ segmentId, ms, signature: { keys, thumbnail } }) => {
    return { segmentId, ms, keys, thumbnail };
  });
  await db.batch([
    db
      .prepare(`DELETE FROM signatures WHERE segment_id ${IN_JSON} AND still_ms IS NOT NULL`)
      .bind(JSON.stringify(segmentIds)),
    db
      .prepare(
        `INSERT INTO signatures (segment_id, index_id, still_ms, keys, thumbnail)
         SELECT segment_id, index_id, value ->> 'ms', value -> 'keys', value ->> 'thumbnail'
         FROM json_each(?), segments WHERE segment_id = value ->> 'segmentId'`,
      )
      .bind(JSON.stringify(rows)),
  ]);
}

/**
 * The pictures of an index that are most like the query, the best first: those that share most keys
 * with it are compared, `SIGNATURE.candidates` at most. Of what can be found, what isn't
 * the same picture is there by accident: similar scenes are for the picture space to find. A segment
 * of a video may come more than once.
 */
export async function findSignatures(
  db: D1Database,
  indexId: IndexId,
  query: Query,
  limit: number,
): Promise<SignatureMatch[]> {
  const { results } = await db
    .prepare(
      `SELECT segment_id AS segmentId, asset_id AS assetId, thumbnail,
         CASE WHEN start_ms IS NOT NULL THEN COALESCE(still_ms, keyframe_ms) END AS ms
       FROM (
         SELECT signature_id, COUNT(*) AS shared FROM (
           SELECT signature_id FROM json_each(?1) AS wanted
             CROSS JOIN signature_keys ON index_id = ?2 AND signature_keys.key = wanted.value LIMIT ?3
         ) GROUP BY signature_id ORDER BY shared DESC, signature_id LIMIT ?4
       ) JOIN signatures USING (signature_id) JOIN segments USING (segment_id)`,
    )
    .bind(JSON.stringify(query.keys), indexId, SIGNATURE.maxMatches, SIGNATURE.candidates)
    .all<Omit<SignatureMatch, "similarity"> & { thumbnail: string }>();
  return results
    .map(({ segmentId, assetId, ms, thumbnail }) => {
      return { segmentId, assetId, ms, similarity: query.compare(thumbnail) };
    })
    .toSorted((a, b) => b.similarity - a.similarity)
    .slice(0, limit);
}
