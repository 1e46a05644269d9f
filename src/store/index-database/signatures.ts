import type { AssetId, SegmentId } from "../../ids.ts";
import { SIGNATURE } from "../../parameters.ts";
import { inChunks, inList, sql } from "../sql.ts";
import type { IndexDb } from "./index-database.ts";

/** A stored `ImageSignature` (src/media/pixels/image-signature.ts). */
interface Signature {
  hashes: number[];
  /** `SIGNATURE.thumbnailSide`² luma values. */
  lumaThumbnail: Uint8Array<ArrayBuffer>;
}

/** The signature of a query image. `compare` returns the similarity to a stored thumbnail, 0–1. */
interface HashQuery {
  hashes: number[];
  compare(lumaThumbnail: Uint8Array): number;
}

export interface SignatureMatch {
  segmentId: SegmentId;
  assetId: AssetId;
  /** Time in the video; null for an image. */
  ms: number | null;
  /** 0–1; from `SIGNATURE.minCopySimilarity`, the image is an edited copy. */
  similarity: number;
}

/** Signature of a frame that differs from its segment's keyframe. */
export interface FrameSignature {
  segmentId: SegmentId;
  ms: number;
  signature: Signature;
}

export async function putSignature(
  db: IndexDb,
  segmentId: SegmentId,
  { hashes, lumaThumbnail }: Signature,
): Promise<void> {
  await db.batch([
    sql`DELETE FROM signatures WHERE frame_ms IS NULL
      AND segment_key = (SELECT segment_key FROM segments WHERE segment_id = ${segmentId})`,
    sql`INSERT INTO signatures (segment_key, hashes, luma_thumbnail)
      SELECT segment_key, ${toBytes(hashes)}, ${lumaThumbnail}
      FROM segments WHERE segment_id = ${segmentId}`,
  ]);
}

function toBytes(hashes: number[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Uint32Array.from(hashes).buffer);
}

export async function putFrameSignatures(
  db: IndexDb,
  segmentIds: SegmentId[],
  frames: FrameSignature[],
): Promise<void> {
  const rows = frames.map(({ segmentId, ms, signature: { hashes, lumaThumbnail } }) => {
    const [hashesHex, thumbnailHex] = [toBytes(hashes), lumaThumbnail].map((bytes) =>
      Buffer.from(bytes).toString("hex"),
    );
    return { segmentId, ms, hashesHex, thumbnailHex };
  });
  await db.batch([
    sql`DELETE FROM signatures WHERE frame_ms IS NOT NULL AND segment_key IN (
        SELECT segment_key FROM segments WHERE segment_id ${inList(segmentIds)}
      )`,
    ...inChunks(rows).map(
      (chunk) => sql`INSERT INTO signatures (segment_key, frame_ms, hashes, luma_thumbnail)
        SELECT segment_key, value ->> 'ms', unhex(value ->> 'hashesHex'),
          unhex(value ->> 'thumbnailHex')
        FROM json_each(${chunk}) CROSS JOIN segments ON segment_id = value ->> 'segmentId'`,
    ),
  ]);
}

/**
 * Finds the images and frames of an index that are most similar to each query, best first. Compares
 * the ones that share the most hashes with the query, at most `SIGNATURE.maxCandidates`. Results
 * below `SIGNATURE.minCopySimilarity` are accidental: image embeddings find similar scenes. A
 * segment of a video may occur more than once.
 */
export async function findSignatures(databases: readonly IndexDb[], queries: readonly HashQuery[]) {
  const statements = queries.map(({ hashes }) => selectCandidates(hashes));
  const found = await Promise.all(databases.map((db) => db.batch(statements)));
  return queries.map((query, i) =>
    (
      found.flatMap((matches) => matches[i]!) as (Omit<SignatureMatch, "similarity"> & {
        lumaThumbnail: ArrayBuffer;
      })[]
    )
      .map(({ segmentId, assetId, ms, lumaThumbnail }) => {
        const similarity = query.compare(new Uint8Array(lumaThumbnail));
        return { segmentId, assetId, ms, similarity };
      })
      .toSorted((a, b) => b.similarity - a.similarity)
      .slice(0, SIGNATURE.maxCandidates),
  );
}

const selectCandidates = (hashes: number[]) => sql`
  SELECT segment_id AS segmentId, asset_id AS assetId, luma_thumbnail AS lumaThumbnail,
    (CASE WHEN start_ms IS NOT NULL THEN COALESCE(frame_ms, keyframe_ms) END) AS ms
  FROM (
    SELECT signature_key, COUNT(*) AS shared FROM (
      SELECT signature_key
      FROM json_each(${JSON.stringify(hashes)}) AS query_hashes
        CROSS JOIN signature_hashes ON signature_hashes.hash = query_hashes.value
      LIMIT ${SIGNATURE.maxHashMatches}
    ) GROUP BY signature_key ORDER BY shared DESC, signature_key LIMIT ${SIGNATURE.maxCandidates}
  ) JOIN signatures USING (signature_key)
    JOIN segments USING (segment_key) JOIN assets USING (asset_key)`;
