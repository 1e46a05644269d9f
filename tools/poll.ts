import { setTimeout as wait } from "node:timers/promises";

const POLL_MS = 500;

/** Calls `read` until it returns something. Throws after `timeoutMs`, with `what` was awaited. */
export async function poll<T>(
  timeoutMs: number,
  what: string,
  read: () => Promise<T | null | undefined>,
): Promise<T> {
  for (const start = Date.now(); Date.now() - start < timeoutMs; await wait(POLL_MS)) {
    const value = await read();
    if (value !== null && value !== undefined) return value;
  }
  throw new Error(`${what} took more than ${timeoutMs / 60_000} minutes.`);
}
