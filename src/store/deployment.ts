import { CONNECTIONS, mapConcurrent } from "../concurrency.ts";
import { CAPACITY } from "../config.ts";
import { CHECKED_INDEX } from "../ids.ts";
import { probeDatabase } from "./d1/accounts.ts";
import { listPairNumbers, pairLimits, recordVectorCounts, shardLimit } from "./d1/shards.ts";
import { indexDatabase } from "./index-database/index-database.ts";
import { indexObject } from "./index-object.ts";
import { batch, sql, d1 } from "./sql.ts";
import { pairBindings } from "./vectorize/vector-pairs.ts";

function databaseLimit(env: Pick<Env, "D1_BYTES">): number {
  return Number(env.D1_BYTES) || CAPACITY.databaseBytes;
}

/**
 * Returns how full D1 is, and as of the last sweep whether ingests are accepted. `sweptAt` is when
 * that ran, in epoch ms; null before the first one.
 */
export async function getDatabaseFill(env: Env) {
  const { results, meta } = await d1(env.DB).run<{
    acceptsIngests: number;
    sweptAt: number | null;
  }>`
    SELECT accepts_ingests AS acceptsIngests, swept_at AS sweptAt FROM deployment`;
  return {
    usedBytes: meta.size_after,
    limitBytes: databaseLimit(env),
    acceptsIngests: results[0]!.acceptsIngests === 1,
    sweptAt: results[0]!.sweptAt,
  };
}

export async function setSweptAt(db: D1Database, now: number): Promise<void> {
  await d1(db).run`UPDATE deployment SET swept_at = ${now}`;
}

export async function setAcceptsIngests(db: D1Database, accepts: boolean): Promise<void> {
  await d1(db).run`UPDATE deployment SET accepts_ingests = ${Number(accepts)}`;
}

type OldestWork = Record<"queued_asset_seconds" | "queued_job_seconds", number | null>;

/** Returns for how long the work that waits longest hasn't changed; null if none waits. */
export async function getOldestWork(db: D1Database, now: number): Promise<OldestWork> {
  const row = await d1(db).first<OldestWork>`SELECT
      MAX(0, ${now} - (SELECT MIN(updated_at) FROM assets WHERE state = 'queued'
        AND state NOT IN ('ready', 'failed') AND deleted_at IS NULL)) / 1000.0
        AS queued_asset_seconds,
      MAX(0, ${now} - (SELECT MIN(updated_at) FROM jobs
        WHERE state = 'queued' AND due_at IS NOT NULL)) / 1000.0 AS queued_job_seconds`;
  return row!;
}

/** A call of a binding that does no work and costs next to nothing. */
export interface BindingCall {
  binding: string;
  call: () => Promise<unknown>;
}

/** Lists a call for each binding of the deployment that stores something. */
export function listBindingCalls(env: Env): BindingCall[] {
  const pairs = listPairNumbers(env).flatMap((number): BindingCall[] => {
    const { text, image } = pairBindings(env, number);
    return [
      { binding: `TEXT_VECTORS_${number}`, call: () => text.describe() },
      { binding: `IMAGE_VECTORS_${number}`, call: () => image.describe() },
    ];
  });
  const queues = (["INGEST", "JOBS", "WEBHOOKS"] as const).map((binding) => {
    return { binding, call: async () => env[binding].metrics() };
  });
  const database = { indexId: CHECKED_INDEX, shard: 0 };
  return [
    { binding: "DB", call: () => probeDatabase(env.DB) },
    { binding: "MEDIA", call: () => env.MEDIA.head(CHECKED_INDEX) },
    ...pairs,
    { binding: "MEDIA_INDEX", call: async () => indexObject(env, CHECKED_INDEX).getWebhook() },
    { binding: "INDEX_DATABASE", call: () => indexDatabase(env, database).size() },
    ...queues,
  ];
}

/** What a deployment fills: D1, its fullest index database, vectors and shards of each pair. */
export const RESOURCES = ["database", "index_database", "vectors", "shards"] as const;
type Resource = (typeof RESOURCES)[number];

export interface Fill {
  resource: Resource;
  /** Number of the Vectorize pair; null for a database. */
  vector_pair: number | null;
  used: number;
  /** Amount at which nothing new is added to it. */
  soft_limit: number;
  limit: number;
}

export async function listFills(env: Env): Promise<Fill[]> {
  const toFill = (
    resource: Resource,
    vector_pair: number | null,
    [used, soft_limit, limit]: [used: number, softLimit: number, limit: number],
  ): Fill => ({ resource, vector_pair, used, soft_limit, limit });
  const fullest = sql`SELECT COALESCE(MAX(database_bytes), 0) AS used FROM shards`;
  const pairs = sql`SELECT vector_pair AS vectorPair, vector_count AS vectors,
    shard_count AS shards FROM vector_pairs ORDER BY vector_pair`;
  const [shards, pairRows] = await batch<
    Record<"used" | "vectorPair" | "vectors" | "shards", number>
  >(env.DB, [fullest, pairs]);
  const { objectBytes, vectorsPerIndex, namespacesPerIndex, databaseFullShare } = CAPACITY;
  const limit = databaseLimit(env);
  const soft = pairLimits(env);
  const { results, meta } = shards!;
  const [{ used }, size] = [results[0]!, meta.size_after];
  return [
    toFill("database", null, [size, Math.floor(limit * databaseFullShare), limit]),
    toFill("index_database", null, [used, shardLimit(env), objectBytes]),
    ...pairRows!.results.flatMap(({ vectorPair, vectors, shards: count }) => [
      toFill("vectors", vectorPair, [vectors, soft.vectors, vectorsPerIndex]),
      toFill("shards", vectorPair, [count, soft.shards, namespacesPerIndex]),
    ]),
  ];
}

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
