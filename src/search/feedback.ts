import { AppError } from "../errors.ts";
import { FEEDBACK } from "../parameters.ts";
import { listKnownSegments } from "../store/index-database/segments.ts";
import { vectorPairs } from "../store/vectorize/vector-pairs.ts";
import { getVectors } from "../store/vectorize/vectors.ts";
import { TEXT_KINDS } from "../types.ts";
import { meanDirection } from "./example.ts";
import { IndexGroup, listIndices, type SearchTarget, targetDatabases } from "./index-group.ts";
import { type Directions, type FeedbackWeights, toUnit } from "./refine-vector.ts";
import type { SearchRequest } from "./request.ts";

/** What a user said of results, in each space of vectors; null for nothing. */
export interface Feedback {
  text: Directions | null;
  image: Directions | null;
  weights: FeedbackWeights;
}

export const NO_FEEDBACK: Feedback = { text: null, image: null, weights: FEEDBACK.weights };

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
  if (unknown !== undefined) {
    if (target instanceof IndexGroup) {
      return target.throwNotFound(`There is no segment "${unknown}" in these indices.`);
    }
    throw new AppError("not_found", `There is no segment "${unknown}" in this index.`);
  }
  const pairs = listIndices(target).flatMap((index) => vectorPairs(env, index));
  const readDirection = async (space: "text" | "image", ids: readonly string[]) => {
    const segmentIds = known.filter((id) => ids.includes(id));
    const kinds = space === "text" ? TEXT_KINDS : (["image"] as const);
    const reads = pairs.flatMap((pair) =>
      kinds.map((kind) => getVectors(pair[space], segmentIds, kind)),
    );
    return toDirection(await Promise.all(reads));
  };
  const readDirections = async (space: "text" | "image"): Promise<Directions> => {
    const [relevant, irrelevant] = await Promise.all([
      readDirection(space, moreLike),
      readDirection(space, lessLike),
    ]);
    return { relevant, irrelevant };
  };
  const [text, image] = await Promise.all([readDirections("text"), readDirections("image")]);
  return { text, image, weights: skipped.length > 0 ? FEEDBACK.residualWeights : FEEDBACK.weights };
}

function toDirection(read: number[][][]): number[] | null {
  const vectors = read.flat();
  return vectors.length > 0 ? toUnit(meanDirection(vectors)) : null;
}
