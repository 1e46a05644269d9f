import type { Context } from "./context.ts";

/**
 * Lets `work` finish after the client disconnects, for up to 30 s (Workers' `waitUntil`), so that
 * received bytes are stored or a started write is undone.
 */
export function withWaitUntil<T>(c: Context, work: Promise<T>): Promise<T> {
  c.executionCtx.waitUntil(work.catch(() => undefined));
  return work;
}
