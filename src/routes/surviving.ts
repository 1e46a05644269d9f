import type { Context } from "./endpoint.ts";

/**
 * Does `work` also when the client goes away in the middle, for as long as the platform lets it (30 s): so that
 * what came is kept, or what was begun is taken back.
 */
export function surviving<T>(c: Context, work: Promise<T>): Promise<T> {
  c.executionCtx.waitUntil(work.catch(() => undefined));
  return work;
}
