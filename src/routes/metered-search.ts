import { meter } from "../models/meter.ts";
import { addUsage } from "../store/usage.ts";
import type { Context } from "./endpoint.ts";

/**
 * Does a search for the caller's account with models whose calls are counted. It counts once it is found; its
 * calls do in any case.
 */
export async function meteredSearch<T>(c: Context, find: (env: Env) => Promise<T>): Promise<T> {
  const { ai, used } = meter(c.env.AI);
  let searches = 0;
  try {
    const found = await find({ ...c.env, AI: ai });
    searches = 1;
    return found;
  } finally {
    if (searches + used.modelCalls > 0) {
      const { accountId } = c.get("caller");
      c.executionCtx.waitUntil(addUsage(c.env.DB, accountId, { searches, ...used }));
    }
  }
}
