import { limitCalls } from "./call-limiter.ts";
import type { CallPriority } from "./call-window.ts";
import { meter, type ModelUsage } from "./meter.ts";

/**
 * Returns an environment whose model calls are limited and metered: every entry point makes its
 * calls through one. Calls that the limiter refuses aren't counted as usage.
 */
export function limitAndMeter(env: Env, priority: CallPriority): { env: Env; used: ModelUsage } {
  const { ai, used } = meter(env.AI);
  return { env: { ...env, AI: limitCalls(ai, env, priority) }, used };
}
