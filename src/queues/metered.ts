import type { AccountId } from "../ids.ts";
import { meter } from "../models/meter.ts";
import { addUsage } from "../store/usage.ts";

/** Does `work` with an environment that counts its model calls for the account, whatever comes of it. */
export async function metered<T>(
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
