import type { AccountId } from "../ids.ts";
import { limitCalls } from "../models/call-limiter.ts";
import type { CallPriority } from "../models/call-window.ts";
import { countCalls } from "./count-calls.ts";
import { meterAi } from "./meter-ai.ts";
import { meterBucket } from "./meter-bucket.ts";
import { meterDatabase } from "./meter-database.ts";
import { meterObjects } from "./meter-objects.ts";
import { type Count, usageMeter } from "./usage-meter.ts";

/**
 * Returns an environment whose bindings count what they do for an account, and whose model calls
 * are limited. Requests, messages and jobs of an account do all their work with one. Calls that the
 * limiter refuses aren't counted.
 */
export function meterEnv(env: Env, accountId: AccountId, priority: CallPriority): Env {
  const { count } = usageMeter(accountId);
  const vectors = Object.entries(env)
    .filter(([name]) => /^(TEXT|IMAGE)_VECTORS_\d+$/.test(name))
    .map(([name, index]) => [name, meterVectors(index as VectorizeIndex, count)]);
  const metered = {
    ...env,
    ...(Object.fromEntries(vectors) as Pick<Env, "TEXT_VECTORS_1" | "IMAGE_VECTORS_1">),
    DB: meterDatabase(env.DB, count),
    MEDIA: meterBucket(env.MEDIA, count),
    FRAMES: countCalls(env.FRAMES, () => count("frames", 1)),
    IMAGES: countCalls(env.IMAGES, () => count("images", 1)),
    MEDIA_INDEX: meterObjects(env.MEDIA_INDEX, count),
    INDEX_DATABASE: meterObjects(env.INDEX_DATABASE, count),
    MODEL_LIMITER: meterObjects(env.MODEL_LIMITER, count),
  };
  return { ...metered, AI: limitCalls(meterAi(env.AI, count), metered, priority) };
}

/** Wraps a Vectorize index to count the vectors written and the dimensions queried. */
function meterVectors(index: VectorizeIndex, count: Count): VectorizeIndex {
  return countCalls(index, (name, [argument]) => {
    const { length } = argument as ArrayLike<unknown>;
    if (name === "query") count("dimensionsQueried", length);
    if (name === "upsert") count("vectorsWritten", length);
  });
}
