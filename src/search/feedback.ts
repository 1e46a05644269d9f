import { AppError } from "../errors.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { listKnownSegments } from "../store/index-database/segments.ts";
import { vectorPairs } from "../store/vectorize/vector-pairs.ts";
import { getVectors } from "../store/vectorize/vectors.ts";
import { type IndexRef, TEXT_KINDS } from "../types.ts";
import { meanDirection } from "./example.ts";
import { type Directions, toUnit } from "./refine-vector.ts";
import type { SearchRequest } from "./request.ts";

/** What a user said of results, in each space of vectors; null for nothing. */
export interface Feedback {
  text: Directions | null;
  image: Directions | null;
}

export const NO_FEEDBACK: Feedback = { text: null, image: null };

/** Reads the vectors of segments. Throws `not_found` with the first id that the index lacks. */
export async function readFeedback(
  env: Env,
  index: IndexRef,
  { moreLike, lessLike }: Pick<SearchRequest, "moreLike" | "lessLike">,
): Promise<Feedback> {
  const ids = [...moreLike, ...lessLike];
  if (ids.length === 0) return NO_FEEDBACK;
  const known = await listKnownSegments(indexDatabases(env, index), ids);
  const unknown = ids.find((id) => known.every((segmentId) => segmentId !== id));
  if (unknown !== undefined) {
    throw new AppError("not_found", `There is no segment "${unknown}" in this index.`);
  }
  const relevant = known.filter((id) => moreLike.includes(id));
  const irrelevant = known.filter((id) => lessLike.includes(id));
  const pairs = vectorPairs(env, index);
  const readText = async (segmentIds: typeof known) => {
    const reads = pairs.flatMap(({ text }) =>
      TEXT_KINDS.map((kind) => getVectors(text, segmentIds, kind)),
    );
    return toDirection(await Promise.all(reads));
  };
  const readImages = async (segmentIds: typeof known) =>
    toDirection(
      await Promise.all(pairs.map(({ image }) => getVectors(image, segmentIds, "image"))),
    );
  const [relevantText, irrelevantText, relevantImages, irrelevantImages] = await Promise.all([
    readText(relevant),
    readText(irrelevant),
    readImages(relevant),
    readImages(irrelevant),
  ]);
  return {
    text: { relevant: relevantText, irrelevant: irrelevantText },
    image: { relevant: relevantImages, irrelevant: irrelevantImages },
  };
}

function toDirection(read: number[][][]): number[] | null {
  const vectors = read.flat();
  return vectors.length > 0 ? toUnit(meanDirection(vectors)) : null;
}
