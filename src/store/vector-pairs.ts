import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { LIMITS } from "../config.ts";
import type { MediaIndexRow, Shard } from "../types.ts";
import { inList, prepare, sql, type SqlFragment } from "./sql.ts";

/** Two Vectorize indexes, `TEXT_VECTORS_n` and `IMAGE_VECTORS_n`. */
export interface VectorPair {
  text: VectorizeIndex;
  image: VectorizeIndex;
}

/** `Env` as a type alias, which may have numbered names; an interface may not. */
type Bindings = Pick<Env, keyof Env>;
type VectorBindings = { [name in `${"TEXT" | "IMAGE"}_VECTORS_${number}`]?: VectorizeIndex };

/** Returns the pair with the vectors of a shard. Throws if the deployment doesn't have it. */
export function vectorPair(
  env: Bindings,
  { vectorPair: n }: Pick<Shard, "vectorPair">,
): VectorPair {
  const bindings: VectorBindings = env;
  const [text, image] = [bindings[`TEXT_VECTORS_${n}`], bindings[`IMAGE_VECTORS_${n}`]];
  if (!text || !image) throw new Error(`TEXT_VECTORS_${n} or IMAGE_VECTORS_${n} is not bound`);
  return { text, image };
}

/** Returns the pairs with the vectors of an index. Shards may share one. */
export function vectorPairs(env: Env, { shards }: Pick<MediaIndexRow, "shards">): VectorPair[] {
  const numbers = new Set(shards.map((shard) => shard.vectorPair));
  return [...numbers].map((number) => vectorPair(env, { vectorPair: number }));
}

/** Lists the numbers of the pairs that the deployment has. */
export function listPairNumbers(env: Env): number[] {
  return Object.keys(env).flatMap((name) => {
    const number = /^TEXT_VECTORS_(\d+)$/.exec(name)?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

/** Returns from how many vectors and shards on a pair takes no new ones. */
export function pairLimits(env: Env): { vectors: number; shards: number } {
  return {
    vectors: Number(env.VECTORS_PER_PAIR) || LIMITS.vectorsPerPair,
    shards: Number(env.SHARDS_PER_PAIR) || LIMITS.shardsPerPair,
  };
}

/** Tests a row of `vector_pairs`: whether its shards take no new assets. */
export function isFull(env: Env): SqlFragment {
  return sql`(vector_count >= ${pairLimits(env).vectors})`;
}

/** Tests a row of `vector_pairs`: whether the deployment has the pair, and it takes new shards. */
export function takesShards(env: Env): SqlFragment {
  return sql`(vector_pair ${inList(listPairNumbers(env))} AND NOT ${isFull(env)}
    AND shard_count < ${pairLimits(env).shards})`;
}

/** Selects the pair for a new shard: the fullest that takes one, or the emptiest if none does. */
export function pairForNewShard(env: Env): SqlFragment {
  return sql`(SELECT vector_pair FROM vector_pairs WHERE vector_pair ${inList(listPairNumbers(env))}
    ORDER BY ${takesShards(env)} DESC, IIF(${takesShards(env)}, -vector_count, vector_count),
      vector_pair LIMIT 1)`;
}

/** Makes a record of each pair that the deployment has, unless there is one. */
export function insertPairs(env: Env): SqlFragment {
  return sql`INSERT OR IGNORE INTO vector_pairs (vector_pair)
    SELECT value FROM json_each(${JSON.stringify(listPairNumbers(env))})`;
}

/**
 * Records how many vectors each pair has, in its fuller index. Returns whether one takes new
 * shards. Throws if a Vectorize index does not answer.
 */
export async function countVectors(env: Env): Promise<boolean> {
  const counts = await mapConcurrent(listPairNumbers(env), CONNECTIONS, async (number) => {
    const { text, image } = vectorPair(env, { vectorPair: number });
    return { number, count: Math.max(await countOf(text), await countOf(image)) };
  });
  const [, rows] = await env.DB.batch([
    prepare(
      env.DB,
      sql`INSERT INTO vector_pairs (vector_pair, vector_count)
        SELECT value ->> 'number', value ->> 'count' FROM json_each(${JSON.stringify(counts)})
        WHERE true ON CONFLICT DO UPDATE SET vector_count = excluded.vector_count
        WHERE vector_count <> excluded.vector_count`,
    ),
    prepare(env.DB, sql`SELECT 1 FROM vector_pairs WHERE ${takesShards(env)} LIMIT 1`),
  ]);
  return rows!.results.length > 0;
}

async function countOf(space: VectorizeIndex): Promise<number> {
  const info: unknown = await space.describe(); // the generated type is the one of the beta
  return (info as VectorizeIndexInfo).vectorCount;
}
