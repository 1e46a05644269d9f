import { CAPACITY } from "../config.ts";
import { databaseLimit } from "./d1/deployment.ts";
import { pairLimits } from "./d1/pair-records.ts";
import { shardLimit } from "./d1/shards.ts";
import { all, batch, sql } from "./sql.ts";

/** What a deployment fills: D1, its fullest index database, vectors and shards of each pair. */
export const RESOURCES = ["database", "index_database", "vectors", "shards"] as const;
type Resource = (typeof RESOURCES)[number];

/** How much is used of a resource: bytes, vectors or shards. */
export interface Fill {
  resource: Resource;
  /** Number of the Vectorize pair; 0 for a database. */
  vectorPair: number;
  used: number;
  /** Amount at which nothing new is added to it. */
  softLimit: number;
  /** The platform's limit. */
  limit: number;
}

/** What was used on one day (UTC). */
export interface FillDay {
  /** YYYY-MM-DD. */
  date: string;
  used: number;
}

export async function listFills(env: Env): Promise<Fill[]> {
  const fullest = sql`SELECT COALESCE(MAX(database_bytes), 0) AS used FROM shards`;
  const pairs = sql`SELECT vector_pair AS vectorPair, vector_count AS vectors,
    shard_count AS shards FROM vector_pairs ORDER BY vector_pair`;
  const [shards, pairRows] = await batch(env.DB, [fullest, pairs]);
  const limit = databaseLimit(env);
  const { vectors: softVectors, shards: softShards } = pairLimits(env);
  return [
    {
      resource: "database",
      vectorPair: 0,
      used: shards!.meta.size_after,
      softLimit: Math.floor(limit * CAPACITY.databaseFullShare),
      limit,
    },
    {
      resource: "index_database",
      vectorPair: 0,
      used: (shards!.results as { used: number }[])[0]!.used,
      softLimit: shardLimit(env),
      limit: CAPACITY.objectBytes,
    },
    ...(pairRows!.results as { vectorPair: number; vectors: number; shards: number }[]).flatMap(
      ({ vectorPair, vectors, shards: used }): Fill[] => [
        {
          resource: "vectors",
          vectorPair,
          used: vectors,
          softLimit: softVectors,
          limit: CAPACITY.vectorsPerIndex,
        },
        {
          resource: "shards",
          vectorPair,
          used,
          softLimit: softShards,
          limit: CAPACITY.namespacesPerIndex,
        },
      ],
    ),
  ];
}

/** Records what is used on a day, unless it is recorded, and deletes days that are too old. */
export async function recordFills(db: D1Database, fills: Fill[], date: string): Promise<void> {
  const insert = sql`INSERT OR IGNORE INTO fill_history (resource, vector_pair, date, used)
    SELECT value ->> 'resource', value ->> 'vectorPair', ${date}, value ->> 'used'
    FROM json_each(${JSON.stringify(fills)})`;
  const expire = sql`DELETE FROM fill_history
    WHERE date <= date(${date}, ${`-${CAPACITY.historyDays} days`})`;
  await batch(db, [insert, expire]);
}

/** Lists the recorded days of all resources, oldest first. */
export async function listFillHistory(
  db: D1Database,
): Promise<(FillDay & Pick<Fill, "resource" | "vectorPair">)[]> {
  return all<FillDay & Pick<Fill, "resource" | "vectorPair">>(
    db,
    sql`SELECT resource, vector_pair AS vectorPair, date, used FROM fill_history
      ORDER BY resource, vector_pair, date`,
  );
}
