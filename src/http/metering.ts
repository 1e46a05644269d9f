import type { AccountId } from "../ids.ts";
import { meterEnv } from "../metering/meter-env.ts";
import { type UsageMeter, usageMeter } from "../metering/usage-meter.ts";
import type { Context } from "./context.ts";

/** Has the request's bindings count what they do for an account from now on. */
export function meterRequest(c: Context, accountId: AccountId): void {
  const meter = usageMeter(accountId);
  meter.count("requests", 1);
  c.env = meterEnv(c.env, accountId, "interactive");
  flushLater(c, meter);
}

/** Records what this isolate has counted of the caller's usage, before it is read. */
export async function recordUsage(c: Context): Promise<void> {
  await usageMeter(c.get("caller").accountId).flush(c.env.DB);
}

/** Counts a search or an answer of the caller. */
export function countWork(c: Context, name: "searches" | "answers"): void {
  const meter = usageMeter(c.get("caller").accountId);
  meter.count(name, 1);
  flushLater(c, meter);
}

/** Lets the requests of some seconds share a write: it costs as much as many requests. */
function flushLater(c: Context, meter: UsageMeter): void {
  const delayMs = Number(c.env.USAGE_WRITE_SECONDS) * 1000;
  c.executionCtx.waitUntil(meter.flushLater(c.env.DB, delayMs));
}
