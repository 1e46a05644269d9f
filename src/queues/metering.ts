import type { AccountId } from "../ids.ts";
import { limitAndMeter } from "../models/limit-and-meter.ts";
import type { CallPriority } from "../models/call-window.ts";
import { addUsage } from "../store/usage.ts";

/**
 * Runs work with an environment that limits and counts its model calls, and adds them to the
 * account's usage even if the work fails.
 */
export async function withMetering<T>(
  env: Env,
  accountId: AccountId,
  priority: CallPriority,
  work: (env: Env) => Promise<T>,
): Promise<T> {
  const { env: metered, used } = limitAndMeter(env, priority);
  try {
    return await work(metered);
  } finally {
    if (used.modelCalls > 0) await addUsage(env.DB, accountId, used);
  }
}
