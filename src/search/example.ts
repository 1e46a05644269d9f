import { nullIfNotFound } from "../errors.ts";
import { FEEDBACK } from "../parameters.ts";
import { listUnknownAssets } from "../store/d1/assets.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { listKnownSegments, listSegmentIds } from "../store/index-database/segments.ts";
import { vectorPairs } from "../store/vectorize/vector-pairs.ts";
import { getVectors } from "../store/vectorize/vectors.ts";
import { type NamedIndexRef, TEXT_KINDS } from "../types.ts";
import {
  IndexGroup,
  listIndices,
  notFoundIn,
  type SearchTarget,
  targetDatabases,
} from "./index-group.ts";
import type { ExampleQuery } from "./query.ts";
import type { SearchRequest } from "./request.ts";

/** Vectors that Vectorize returns by id in one call. */
const SAMPLE_SIZE = 20;

/**
 * Makes an example of a stored segment, or of an asset: the mean of at most 20 evenly spaced
 * segments. Null for an asset without segments. Throws `not_found` if the index has no such id.
 */
async function exampleFromStored(
  env: Env,
  index: NamedIndexRef,
  id: string,
): Promise<ExampleQuery | null> {
  const ids = await listSegmentIds(indexDatabases(env, index), id);
  if (ids.length === 0) {
    const [unknown] = await listUnknownAssets(env.DB, index.indexId, [id]);
    if (unknown === undefined) return null;
    throw notFoundIn(index, "segment or asset", id);
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

/**
 * Makes an example of what any index of a target has; null without an id. Throws `not_found` if
 * none has the id.
 */
export async function exampleFromTarget(
  env: Env,
  target: SearchTarget,
  id: string | null,
): Promise<ExampleQuery | null> {
  if (id === null) return null;
  if (!(target instanceof IndexGroup)) return exampleFromStored(env, target, id);
  const examples = await Promise.all(
    target.indices.map((index) =>
      target.queryDatabase(index.indexId, () =>
        exampleFromStored(env, index, id)
          .then((example) => ({ example }))
          .catch(nullIfNotFound),
      ),
    ),
  );
  const found = examples.find((example) => example !== null);
  if (found) return found.example;
  throw notFoundIn(target, "segment or asset", id);
}

/** Returns the direction of the mean of unit vectors, as for "this, but at night". Skips nulls. */
export function meanDirection(vectors: (number[] | null)[]): number[] {
  const [first = [], ...rest] = vectors.flatMap((vector) => (vector ? [toUnit(vector)] : []));
  return first.map((value, i) => rest.reduce((sum, unit) => sum + unit[i]!, value));
}

/** Returns the direction of a vector; a vector of zeros stays as it is. */
export function toUnit(vector: readonly number[]): number[] {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
  return vector.map((value) => value / length);
}

/** Mean directions of segments that are right and of those that are wrong; null for none. */
interface Directions {
  relevant: number[] | null;
  irrelevant: number[] | null;
}

/** What a user said of results, in each space of vectors; null for nothing. */
export interface Feedback {
  text: Directions | null;
  image: Directions | null;
  /** How far a query's vector moves by each direction, if its own has 1. */
  weights: { relevant: number; irrelevant: number };
}

const NO_FEEDBACK: Feedback = { text: null, image: null, weights: FEEDBACK.weights };

/** Reads the vectors of segments. Throws `not_found` with the first id that is in no index. */
export async function readFeedback(
  env: Env,
  target: SearchTarget,
  { moreLike, lessLike, skipped }: Pick<SearchRequest, "moreLike" | "lessLike" | "skipped">,
): Promise<Feedback> {
  const ids = [...moreLike, ...lessLike];
  if (ids.length === 0) return NO_FEEDBACK;
  const known = await listKnownSegments(targetDatabases(env, target), ids);
  const unknown = ids.find((id) => known.every((segmentId) => segmentId !== id));
  if (unknown !== undefined) throw notFoundIn(target, "segment", unknown);
  const pairs = listIndices(target).flatMap((index) => vectorPairs(env, index));
  const readDirections = async (space: "text" | "image"): Promise<Directions> => {
    const kinds = space === "text" ? TEXT_KINDS : (["image"] as const);
    const [relevant = null, irrelevant = null] = await Promise.all(
      [moreLike, lessLike].map(async (wanted) => {
        const segmentIds = known.filter((id) => wanted.includes(id));
        const reads = pairs.flatMap((pair) =>
          kinds.map((kind) => getVectors(pair[space], segmentIds, kind)),
        );
        const vectors = (await Promise.all(reads)).flat();
        return vectors.length > 0 ? toUnit(meanDirection(vectors)) : null;
      }),
    );
    return { relevant, irrelevant };
  };
  const [text, image] = await Promise.all([readDirections("text"), readDirections("image")]);
  return { text, image, weights: skipped.length > 0 ? FEEDBACK.residualWeights : FEEDBACK.weights };
}

/**
 * Moves the vector of a query towards segments that are right, and away from those that are wrong
 * (Rocchio, "Relevance feedback in information retrieval", 1971).
 */
export function refineVector(
  vector: number[],
  directions: Directions | null,
  weights: Feedback["weights"] = FEEDBACK.weights,
): number[] {
  const { relevant = null, irrelevant = null } = directions ?? {};
  if (!relevant && !irrelevant) return vector;
  return toUnit(vector).map(
    (value, i) =>
      value + weights.relevant * (relevant?.[i] ?? 0) - weights.irrelevant * (irrelevant?.[i] ?? 0),
  );
}
