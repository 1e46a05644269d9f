import { SIGNATURE } from "../config.ts";

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
  segmentId: string;
  /** 0–1: 1 is the same, and from `SIGNATURE.same` on it is the same picture, edited. */
  similarity: number;
}

/** Keeps the signature of a segment's keyframe in place of any other. It goes when its segment goes. */
export async function putSignature(
  db: D1Database,
  segmentId: string,
  { keys, thumbnail }: Signature,
): Promise<void> {
  await db.batch([
    db.prepare("DELETE FROM signatures WHERE segment_id = ?").bind(segmentId),
    db
      .prepare(
        `INSERT INTO signatures (segment_id, index_id, keys, thumbnail)
         SELECT segment_id, index_id, ?2, ?3 FROM segments WHERE segment_id = ?1`,
      )
      .bind(segmentId, JSON.stringify(keys), thumbnail),
  ]);
}

/**
 * The segments of an index whose keyframe is most like the query, the best first: those that share
 * most keys with it are compared, `SIGNATURE.candidates` at most. Of what can be found, what isn't
 * the same picture is there by accident: similar scenes are for the picture space to find.
 */
export async function findSignatures(
  db: D1Database,
  indexId: string,
  query: Query,
  limit: number,
): Promise<SignatureHit[]> {
  const { results } = await db
    .prepare(
      `SELECT segment_id AS segmentId, thumbnail
       FROM (
         SELECT signature_id, COUNT(*) AS shared FROM (
           SELECT signature_id FROM json_each(?1) AS wanted
             CROSS JOIN signature_keys ON index_id = ?2 AND signature_keys.key = wanted.value LIMIT ?3
         ) GROUP BY signature_id ORDER BY shared DESC, signature_id LIMIT ?4
       ) JOIN signatures USING (signature_id)`,
    )
    .bind(JSON.stringify(query.keys), indexId, SIGNATURE.maxMatches, SIGNATURE.candidates)
    .all<{ segmentId: string; thumbnail: string }>();
  return results
    .map(({ segmentId, thumbnail }) => ({ segmentId, similarity: query.compare(thumbnail) }))
    .toSorted((a, b) => b.similarity - a.similarity)
    .slice(0, limit);
}
