import type { AccountId } from "../ids.ts";
import { costGate, meterEnv, type UsageMeter, usageMeter } from "../metering/meter-env.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import type { Context } from "./context.ts";

/**
 * Has the request's bindings count what they do for an account from now on. Its model calls are
 * cancelled when the client goes away.
 */
export function meterRequest(c: Context, accountId: AccountId): void {
  const meter = usageMeter(accountId);
  meter.count("requests", 1);
  c.env = meterEnv(c.env, accountId, { priority: "interactive", signal: c.req.raw.signal });
  flushLater(c, meter);
}

/** Records what this isolate has counted of the caller's usage, before it is read. */
export async function recordUsage(c: Context): Promise<void> {
  await usageMeter(c.get("caller").accountId).flush(c.env.DB);
}

/** Counts searches or answers of the caller. */
export function countWork(c: Context, name: "searches" | "answers", count = 1): void {
  const meter = usageMeter(c.get("caller").accountId);
  meter.count(name, count);
  flushLater(c, meter);
}

/** Admits billed calls of the request. Throws `cost_limit_reached`. */
export async function requireCostQuota(c: Context): Promise<void> {
  const { accountId } = c.get("caller");
  await costGate(c.env).admit(requireQuota(c.env.DB, accountId, { cost_usd_per_day: 0 }));
}

/** Lets the requests of some seconds share a write: it costs as much as many requests. */
function flushLater(c: Context, meter: UsageMeter): void {
  const delayMs = Number(c.env.USAGE_WRITE_SECONDS) * 1000;
  c.executionCtx.waitUntil(meter.flushLater(c.env.DB, delayMs));
}
