import type { AccountId } from "../ids.ts";
import { meterEnv } from "../metering/meter-env.ts";
import { usageMeter } from "../metering/usage-meter.ts";
import type { Context } from "./context.ts";

/** Has the request's bindings count what they do for an account from now on. */
export function meterRequest(c: Context, accountId: AccountId): void {
  const meter = usageMeter(accountId);
  meter.count("requests", 1);
  c.env = meterEnv(c.env, accountId, "interactive");
  c.executionCtx.waitUntil(meter.flushLater(c.env.DB));
}

/** Records what this isolate has counted of the caller's usage, before it is read. */
export async function recordUsage(c: Context): Promise<void> {
  await usageMeter(c.get("caller").accountId).flush(c.env.DB);
}

/** Counts a search or an answer of the caller. */
export function countWork(c: Context, name: "searches" | "answers"): void {
  const meter = usageMeter(c.get("caller").accountId);
  meter.count(name, 1);
  c.executionCtx.waitUntil(meter.flushLater(c.env.DB));
}
