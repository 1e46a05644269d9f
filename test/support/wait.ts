import { vi } from "vitest";
import { WATCHDOG_MS } from "./watchdog.ts";

const INTERVAL_MS = 50;

/** Waits until `condition` returns something true, and returns it. Fails after the watchdog. */
export function waitUntil<T>(condition: () => T | Promise<T>) {
  return vi.waitUntil(condition, { timeout: WATCHDOG_MS, interval: INTERVAL_MS });
}

/** Waits until `check` doesn't throw, and returns its value. Fails after the watchdog. */
export function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: WATCHDOG_MS, interval: INTERVAL_MS });
}
