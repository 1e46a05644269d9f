import type { LocalEnv } from "../../local/env.ts";
import worker from "../../local/worker.ts";
import { countVectors } from "../../src/store/deployment.ts";
import { SMALL_LIMITS } from "./small-limits.ts";

export * from "../../local/worker.ts";

/**
 * The local Worker with the small limits and one more path, `POST /count`, which counts vectors as
 * the sweep does, and returns the shards of the only index with their numbers of assets.
 */
export default {
  async fetch(request, env, ctx) {
    const limited = withLimits(env);
    if (new URL(request.url).pathname !== "/count") return worker.fetch(request, limited, ctx);
    await countVectors(limited);
    const { results } = await env.DB.prepare(
      `SELECT shard, vector_pair AS vectorPair, (SELECT COUNT(*) FROM assets
         WHERE assets.index_id = shards.index_id AND assets.shard = shards.shard) AS assets
       FROM shards ORDER BY shard`,
    ).all();
    return Response.json(results);
  },
  queue: (batch, env) => worker.queue(batch, withLimits(env)),
  scheduled: (event, env) => worker.scheduled(event, withLimits(env)),
} satisfies ExportedHandler<Env & LocalEnv>;

function withLimits(env: Env & LocalEnv): Env & LocalEnv {
  const { shardBytes, vectorsPerPair } = SMALL_LIMITS;
  return { ...env, SHARD_BYTES: String(shardBytes), VECTORS_PER_PAIR: String(vectorsPerPair) };
}
