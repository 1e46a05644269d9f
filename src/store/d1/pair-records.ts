import { LIMITS } from "../../config.ts";
import { batch, inList, sql, type SqlFragment } from "../sql.ts";

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

/** How many vectors a pair has, in its fuller index. */
export interface PairCount {
  number: number;
  count: number;
}

/** Records how many vectors each pair has. Returns whether one takes new shards. */
export async function recordVectorCounts(env: Env, counts: PairCount[]): Promise<boolean> {
  const [, rows] = await batch(env.DB, [
    sql`INSERT INTO vector_pairs (vector_pair, vector_count)
      SELECT value ->> 'number', value ->> 'count' FROM json_each(${JSON.stringify(counts)})
      WHERE true ON CONFLICT DO UPDATE SET vector_count = excluded.vector_count
      WHERE vector_count <> excluded.vector_count`,
    sql`SELECT 1 FROM vector_pairs WHERE ${takesShards(env)} LIMIT 1`,
  ]);
  return rows!.results.length > 0;
}
