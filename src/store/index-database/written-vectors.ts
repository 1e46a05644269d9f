import type { SegmentId, VectorId } from "../../ids.ts";
import type { Segment } from "../../types.ts";
import { inChunks, inList, raw, sql } from "../sql.ts";
import { possibleIds, toSegmentId } from "../vectorize/vectors.ts";
import type { IndexDb } from "./index-database.ts";
import { HAS_KEYFRAME } from "./segments.ts";

/**
 * Vectors that a segment may have in Vectorize, which can't be listed there. `vectors` has a bit
 * for each of `possibleIds`, set before a vector is written. It stays set: a deleted vector is then
 * deleted again now and then, and one that is being written is never forgotten.
 */
interface WrittenVectors {
  segmentId: SegmentId;
  vectors: number;
}

/** `vectors` of a segment that may have any of them. */
export const ANY_VECTOR = 127;

function bitOf(id: VectorId): number {
  return 1 << possibleIds(toSegmentId(id)).indexOf(id);
}

function idsOf({ segmentId, vectors }: WrittenVectors): VectorId[] {
  return possibleIds(segmentId).filter((_, i) => vectors & (1 << i));
}

const ofSegments = (segmentIds: readonly SegmentId[]) =>
  sql`SELECT segment_id AS segmentId, vectors FROM segments
    WHERE segment_id ${inList(segmentIds)}`;

/**
 * Records which vectors are about to be written or deleted. Returns those of `candidates` that may
 * have been written before.
 */
export async function recordVectors(
  db: IndexDb,
  ids: readonly VectorId[],
  candidates: readonly VectorId[],
  now: number,
): Promise<VectorId[]> {
  const segmentIds = [...new Set([...ids, ...candidates].map(toSegmentId))];
  if (segmentIds.length === 0) return [];
  const rows = segmentIds.map((segmentId) => ({
    segmentId,
    bits: ids.reduce((bits, id) => (toSegmentId(id) === segmentId ? bits | bitOf(id) : bits), 0),
  }));
  const [before] = await db.batch([
    ofSegments(segmentIds),
    ...inChunks(rows).map(
      (chunk) => sql`UPDATE segments SET vectors = vectors | (value ->> 'bits'),
          vectors_at = ${now}
        FROM json_each(${chunk}) WHERE segment_id = value ->> 'segmentId'`,
    ),
  ]);
  const written = new Set((before as WrittenVectors[]).flatMap(idsOf));
  return candidates.filter((id) => written.has(id));
}

/** Lists the vectors that segments may have. */
export async function listWrittenVectors(
  db: IndexDb,
  segmentIds: readonly SegmentId[],
): Promise<VectorId[]> {
  const rows = await db.all<WrittenVectors>(ofSegments(segmentIds));
  return rows.flatMap(idsOf);
}

/** Records the model of segments' text vectors: null for segments without text. */
export async function setTextModel(db: IndexDb, segments: Segment[], model: string): Promise<void> {
  const ids = segments.map(({ segmentId }) => segmentId);
  await db.batch([
    sql`UPDATE segments SET text_model =
        (CASE WHEN caption || transcript || on_screen_text <> '' THEN ${model} END)
      WHERE segment_id ${inList(ids)}`,
  ]);
}

/** Records the model of segments' image vectors: null for segments without a keyframe. */
export async function setImageModel(
  db: IndexDb,
  segments: Segment[],
  model: string | null,
): Promise<void> {
  const ids = segments.map(({ segmentId }) => segmentId);
  await db.batch([
    sql`UPDATE segments SET image_model = (CASE WHEN ${raw(HAS_KEYFRAME)} THEN ${model} END)
      WHERE segment_id ${inList(ids)}`,
  ]);
}
