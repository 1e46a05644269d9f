import { LIMITS } from "../../config.ts";
import type { IndexId } from "../../ids.ts";
import type { Asset, Shard } from "../../types.ts";
import { batch, raw, sql, type SqlFragment, inList, d1 } from "../sql.ts";

/** A column with the shards of a row of `indices`, as JSON. The newest is the last. */
export const SHARDS_COLUMN = `(SELECT
    json_group_array(json_object('shard', shard, 'vectorPair', vector_pair))
  FROM (SELECT * FROM shards WHERE index_id = indices.index_id ORDER BY shard)) AS shards`;

export async function listShards(db: D1Database, indexId: IndexId): Promise<Shard[]> {
  return d1(db).all<Shard>`SELECT shard, vector_pair AS vectorPair FROM shards
    WHERE index_id = ${indexId} ORDER BY shard`;
}

/** Inserts the first shard of an index, if that has a record. */
export function insertFirstShard(env: Env, indexId: IndexId): SqlFragment[] {
  const shard = sql`INSERT INTO shards (index_id, shard, vector_pair)
    SELECT index_id, 0, ${pairForNewShard(env)} FROM indices WHERE index_id = ${indexId}`;
  const pairs = sql`INSERT OR IGNORE INTO vector_pairs (vector_pair)
    SELECT value FROM json_each(${JSON.stringify(listPairNumbers(env))})`;
  return [pairs, shard];
}

export function shardLimit(env: Pick<Env, "SHARD_BYTES">): number {
  return Number(env.SHARD_BYTES) || LIMITS.shardBytes;
}

/**
 * Records the size of a shard's database. Opens another shard of an index for new assets if the
 * given one, its newest, is full: its database is, or its pair of Vectorize indexes while another
 * pair isn't.
 */
export async function openShardIfFull(
  env: Env,
  { indexId, shard }: Pick<Asset, "indexId" | "shard">,
  databaseBytes: number,
): Promise<void> {
  const databaseIsFull = databaseBytes >= shardLimit(env);
  const pairIsFull = sql`(${isFull(env)}
    AND EXISTS (SELECT 1 FROM vector_pairs WHERE ${takesShards(env)}))`;
  const opened = sql`INSERT OR IGNORE INTO shards (index_id, shard, vector_pair)
    SELECT index_id, shard + 1, ${pairForNewShard(env)}
    FROM shards JOIN vector_pairs USING (vector_pair)
    WHERE index_id = ${indexId} AND shard = ${shard}
      AND ${databaseIsFull ? raw("true") : pairIsFull}`;
  const recorded = sql`UPDATE shards SET database_bytes = ${databaseBytes}
    WHERE index_id = ${indexId} AND shard = ${shard}`;
  await batch(env.DB, [recorded, opened]);
}

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
function isFull(env: Env): SqlFragment {
  return sql`(vector_count >= ${pairLimits(env).vectors})`;
}

/** Tests a row of `vector_pairs`: whether the deployment has the pair, and it takes new shards. */
function takesShards(env: Env): SqlFragment {
  return sql`(vector_pair ${inList(listPairNumbers(env))} AND NOT ${isFull(env)}
    AND shard_count < ${pairLimits(env).shards})`;
}

/** Selects the pair for a new shard: the fullest that takes one, or the emptiest if none does. */
function pairForNewShard(env: Env): SqlFragment {
  return sql`(SELECT vector_pair FROM vector_pairs WHERE vector_pair ${inList(listPairNumbers(env))}
    ORDER BY ${takesShards(env)} DESC, IIF(${takesShards(env)}, -vector_count, vector_count),
      vector_pair LIMIT 1)`;
}

/**
 * Records how many vectors each pair has, in its fuller index. Returns whether one takes new
 * shards.
 */
export async function recordVectorCounts(env: Env, counts: { number: number; count: number }[]) {
  const [, rows] = await batch(env.DB, [
    sql`INSERT INTO vector_pairs (vector_pair, vector_count)
      SELECT value ->> 'number', value ->> 'count' FROM json_each(${JSON.stringify(counts)})
      WHERE true ON CONFLICT DO UPDATE SET vector_count = excluded.vector_count
      WHERE vector_count <> excluded.vector_count`,
    sql`SELECT 1 FROM vector_pairs WHERE ${takesShards(env)} LIMIT 1`,
  ]);
  return rows!.results.length > 0;
}
