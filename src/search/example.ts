import { AppError } from "../errors.ts";
import type { SignatureHit } from "../store/signatures.ts";
import { listUnknownAssets } from "../store/assets.ts";
import { indexDatabases } from "../store/index-database.ts";
import { listSegmentIds } from "../store/segments.ts";
import { vectorPairs } from "../store/vector-pairs.ts";
import { getVectors } from "../store/vectors.ts";
import type { TimeRangeMs } from "../time-range.ts";
import { type IndexRef, TEXT_KINDS } from "../types.ts";
import { meanDirection } from "./knn.ts";

/** A stored copy of the example, edited or not. */
export interface CopyMatch extends SignatureHit {
  /** The part of the stored video that was copied; null for an image, or if alignment failed. */
  timeRange: TimeRangeMs | null;
}

/** A stored segment or asset, or an uploaded image or clip, that hits are similar to. */
export interface ExampleQuery {
  /** Direction in the space of image embeddings; null if there is none. */
  imageVector: number[] | null;
  /** Direction in the space of text embeddings; null if there is none. */
  textVector: number[] | null;
  /** Copies of an uploaded image or clip; null for a stored example. */
  copies: CopyMatch[] | null;
  /** The failure of an embedding model, if one was unavailable. */
  outage: AppError | null;
  /** The stored example itself, which is no hit. */
  exclude: { segmentId: string | null; assetId: string | null };
}

/** Vectors that Vectorize returns by id in one call. */
const SAMPLE_SIZE = 20;

/**
 * Makes an example of a stored segment, or of an asset: the mean of at most 20 evenly spaced
 * segments. Null for an asset without segments. Throws `not_found` if the index has no such id.
 */
export async function exampleFromStored(
  env: Env,
  index: IndexRef,
  id: string,
): Promise<ExampleQuery | null> {
  const ids = await listSegmentIds(indexDatabases(env, index), id);
  if (ids.length === 0) {
    const [unknown] = await listUnknownAssets(env.DB, index.indexId, [id]);
    if (unknown === undefined) return null;
    throw new AppError("not_found", `There is no segment or asset "${id}" in this index.`);
  }
  const step = Math.max(1, ids.length / SAMPLE_SIZE);
  const sample = Array.from({ length: Math.min(SAMPLE_SIZE, ids.length) }, (_, i) => {
    return ids[Math.floor(i * step)]!;
  });
  const pairs = vectorPairs(env, index);
  const [imagesByPair, textsByKind] = await Promise.all([
    Promise.all(pairs.map(({ image }) => getVectors(image, sample, "image"))),
    Promise.all(
      pairs.flatMap(({ text }) => TEXT_KINDS.map((kind) => getVectors(text, sample, kind))),
    ),
  ]);
  const [images, texts] = [imagesByPair.flat(), textsByKind.flat()];
  return {
    imageVector: images.length > 0 ? meanDirection(images) : null,
    textVector: texts.length > 0 ? meanDirection(texts) : null,
    copies: null,
    outage: null,
    exclude: ids[0] === id ? { segmentId: id, assetId: null } : { segmentId: null, assetId: id },
  };
}
