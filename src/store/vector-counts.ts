import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { listPairNumbers, recordVectorCounts } from "./d1/pair-records.ts";
import { pairBindings } from "./vectorize/vector-pairs.ts";

/**
 * Records how many vectors each pair has, in its fuller index. Returns whether one takes new
 * shards. Throws if a Vectorize index does not answer.
 */
export async function countVectors(env: Env): Promise<boolean> {
  const counts = await mapConcurrent(listPairNumbers(env), CONNECTIONS, async (number) => {
    const { text, image } = pairBindings(env, number);
    return { number, count: Math.max(await countOf(text), await countOf(image)) };
  });
  return recordVectorCounts(env, counts);
}

async function countOf(space: VectorizeIndex): Promise<number> {
  const info: unknown = await space.describe(); // the generated type is the one of the beta
  return (info as VectorizeIndexInfo).vectorCount;
}
