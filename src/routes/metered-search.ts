import { limitAndMeter } from "../models/limit-and-meter.ts";
import { addUsage } from "../store/usage.ts";
import type { Context } from "../http/context.ts";

/**
 * Runs a search and records its usage for the caller's account: the search itself if it succeeds,
 * and the model calls in any case.
 */
export async function meteredSearch<T>(c: Context, find: (env: Env) => Promise<T>): Promise<T> {
  const { env, used } = limitAndMeter(c.env, "interactive");
  let searches = 0;
  try {
    const result = await find(env);
    searches = 1;
    return result;
  } finally {
    if (searches + used.modelCalls > 0) {
      const { accountId } = c.get("caller");
      c.executionCtx.waitUntil(addUsage(c.env.DB, accountId, { searches, ...used }));
    }
  }
}
