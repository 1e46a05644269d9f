import { LIMITS } from "../../config.ts";
import type { IndexId } from "../../ids.ts";
import type { Asset, Shard } from "../../types.ts";
import { all, batch, raw, sql, type SqlFragment } from "../sql.ts";
import { insertPairs, isFull, pairForNewShard, takesShards } from "./pair-records.ts";

/** A column with the shards of a row of `indices`, as JSON. The newest is the last. */
export const SHARDS_COLUMN = `(SELECT
    json_group_array(json_object('shard', shard, 'vectorPair', vector_pair))
  FROM (SELECT * FROM shards WHERE index_id = indices.index_id ORDER BY shard)) AS shards`;

/** Lists the shards of an index; none for an index without a record. */
export async function listShards(db: D1Database, indexId: IndexId): Promise<Shard[]> {
  const shards = sql`SELECT shard, vector_pair AS vectorPair FROM shards
    WHERE index_id = ${indexId} ORDER BY shard`;
  return all<Shard>(db, shards);
}

/** Inserts the first shard of an index, if that has a record. */
export function insertFirstShard(env: Env, indexId: IndexId): SqlFragment[] {
  const shard = sql`INSERT INTO shards (index_id, shard, vector_pair)
    SELECT index_id, 0, ${pairForNewShard(env)} FROM indices WHERE index_id = ${indexId}`;
  return [insertPairs(env), shard];
}

/** Returns the bytes of a database from which an index opens another one. */
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
