import { AppError } from "../errors.ts";
import { listUnknownAssets } from "../store/d1/assets.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { listSegmentIds } from "../store/index-database/segments.ts";
import { vectorPairs } from "../store/vectorize/vector-pairs.ts";
import { getVectors } from "../store/vectorize/vectors.ts";
import { type IndexRef, TEXT_KINDS } from "../types.ts";
import { IndexGroup, type SearchTarget } from "./index-group.ts";
import type { ExampleQuery } from "./query.ts";

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

/** Makes an example of what any index of a target has. Throws `not_found` if none has the id. */
export async function exampleFromTarget(
  env: Env,
  target: SearchTarget,
  id: string,
): Promise<ExampleQuery | null> {
  if (!(target instanceof IndexGroup)) return exampleFromStored(env, target, id);
  const examples = await Promise.all(
    target.indices.map((index) =>
      target.queryDatabase(index.indexId, async () => {
        try {
          return { example: await exampleFromStored(env, index, id) };
        } catch (error) {
          if (error instanceof AppError && error.code === "not_found") return null;
          throw error;
        }
      }),
    ),
  );
  const found = examples.find((example) => example !== null);
  if (found) return found.example;
  return target.throwNotFound(`There is no segment or asset "${id}" in these indices.`);
}

/** Returns the direction of the mean of unit vectors, as for "this, but at night". Skips nulls. */
export function meanDirection(vectors: (number[] | null)[]): number[] {
  const units = vectors.flatMap((vector) => {
    const length = vector && Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    return vector && length ? [vector.map((value) => value / length)] : [];
  });
  const [first = [], ...rest] = units;
  return first.map((value, i) => rest.reduce((sum, unit) => sum + unit[i]!, value));
}
