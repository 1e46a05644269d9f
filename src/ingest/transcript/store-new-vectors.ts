import type { SegmentId } from "../../ids.ts";
import type { IndexDb } from "../../store/index-database/index-database.ts";
import { putNewVectors } from "../../store/index-database/new-vectors.ts";
import { listWrittenVectors } from "../../store/index-database/written-vectors.ts";
import type { VectorPair } from "../../store/vectorize/vector-pairs.ts";
import { isImageVector, readVectors, type SegmentVector } from "../../store/vectorize/vectors.ts";
import { IMAGE_VECTOR_KINDS, type Segment, TEXT_KINDS } from "../../types.ts";

/**
 * Stores the vectors of segments whose speech was embedded again, for watches: the new ones, and
 * the others from Vectorize, where they can be read by now.
 */
export async function storeReembedded(
  db: IndexDb,
  { text, image }: VectorPair,
  segments: readonly Segment[],
  speech: readonly SegmentVector[],
): Promise<void> {
  const byId = new Map<SegmentId, Segment>(segments.map((each) => [each.segmentId, each]));
  const written = await listWrittenVectors(db, [...byId.keys()]);
  const others = written.filter((id) => !id.endsWith(":speech"));
  const [texts, images] = await Promise.all([
    readVectors(
      text,
      others.filter((id) => !isImageVector(id)),
    ),
    readVectors(image, others.filter(isImageVector)),
  ]);
  const toVector = ({ segmentId, ...vector }: (typeof texts)[number]): SegmentVector => {
    return { segment: byId.get(segmentId)!, model: "", ...vector };
  };
  await putNewVectors(db, segments, [...speech, ...texts.map(toVector)], TEXT_KINDS);
  await putNewVectors(db, segments, images.map(toVector), IMAGE_VECTOR_KINDS);
}
