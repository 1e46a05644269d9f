import { WATCHDOG_MS } from "./watchdog.ts";

const MIN_INTERVAL_MS = 20;
const MAX_INTERVAL_MS = 250;
/** Share of the time waited so far after which a condition is checked once more. */
const INTERVAL_SHARE = 0.1;

type Truthy<T> = T extends false | 0 | "" | null | undefined ? never : T;

const { setTimeout } = globalThis; // a test may replace it

/**
 * Waits until `condition` returns something true, and returns it. Fails after the watchdog. Checks
 * less often the longer it waits, so that waiting doesn't keep a busy machine busy.
 */
export async function waitUntil<T>(condition: () => T | Promise<T>): Promise<Truthy<T>> {
  const start = performance.now();
  for (;;) {
    const value = await condition();
    if (value) return value as Truthy<T>;
    const waitedMs = performance.now() - start;
    if (waitedMs > WATCHDOG_MS) throw new Error(`Not in ${WATCHDOG_MS / 60_000} minutes`);
    const intervalMs = Math.min(MAX_INTERVAL_MS, INTERVAL_SHARE * waitedMs);
    await new Promise((resolve) => setTimeout(resolve, Math.max(MIN_INTERVAL_MS, intervalMs)));
  }
}

/** Waits until `check` doesn't throw, and returns its value. Fails after the watchdog. */
export async function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  let failure: unknown;
  const attempt = async () => {
    try {
      return { value: await check() };
    } catch (error) {
      failure = error;
      return null;
    }
  };
  const passed = await waitUntil(attempt).catch(() => null);
  if (passed === null) throw failure;
  return passed.value;
}
