import type { AccountId } from "../ids.ts";
import { type InvocationCalls, newInvocationCalls } from "../metering/invocation-calls.ts";
import { meterEnv } from "../metering/meter-env.ts";
import { usageMeter } from "../metering/usage-meter.ts";
import type { CallPriority } from "../models/call-window.ts";

/** Operations of a queue by which a message is billed: it is written, read and deleted. */
const OPERATIONS_PER_MESSAGE = 3;

/**
 * Does the work of a message with an environment that counts what it does for an account, and in
 * `calls`. Adds it to the account's usage even if the work fails.
 */
export async function withMetering<T>(
  env: Env,
  accountId: AccountId,
  priority: CallPriority,
  work: (env: Env, calls: InvocationCalls) => Promise<T>,
): Promise<T> {
  const meter = usageMeter(accountId);
  meter.count("requests", 1);
  meter.count("queueOperations", OPERATIONS_PER_MESSAGE);
  const calls = newInvocationCalls();
  const metered = meterEnv(env, accountId, priority, calls);
  try {
    return await work(metered, calls);
  } finally {
    await meter.flush(metered.DB);
  }
}
