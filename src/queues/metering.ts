import type { AccountId } from "../ids.ts";
import { meter } from "../models/meter.ts";
import { addUsage } from "../store/usage.ts";

/**
 * Runs work with an environment that counts its model calls, and adds them to the account's usage
 * even if the work fails.
 */
export async function withMetering<T>(
  env: Env,
  accountId: AccountId,
  work: (env: Env) => Promise<T>,
): Promise<T> {
  const { ai, used } = meter(env.AI);
  try {
    return await work({ ...env, AI: ai });
  } finally {
    if (used.modelCalls > 0) await addUsage(env.DB, accountId, used);
  }
}
