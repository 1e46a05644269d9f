/** Retry policy of the client: what is sent again, and when. */

const BASE_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;
/** A longer `Retry-After` isn't waited for. */
const LONGEST_RETRY_AFTER_S = 60;

/** Statuses after which a request is sent another time. */
const RETRIED = new Set([429, 502, 503, 504]);

export function isRetriedStatus(status: number | undefined): boolean {
  return status !== undefined && RETRIED.has(status);
}

/**
 * Returns the wait before retry number `retry` (from 0) in ms: `Retry-After` if given, else
 * exponential backoff with full jitter, of which `random` (0 to 1) is the share. Null if
 * `Retry-After` is too long to wait for.
 */
export function retryDelay(
  retry: number,
  retryAfter: number | undefined,
  random: number,
): number | null {
  if (retryAfter === undefined) return random * Math.min(LONGEST_BACKOFF_MS, BASE_MS * 2 ** retry);
  return retryAfter > LONGEST_RETRY_AFTER_S ? null : retryAfter * 1000;
}

/** Parses `Retry-After`, seconds or a date (RFC 9110, 10.2.3), as seconds. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header);
  const seconds = Math.ceil((Date.parse(header) - now) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Waits, and rejects with the signal's reason if that aborts. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return orAbort(new Promise((resolve) => setTimeout(resolve, ms)), signal);
}

/** Settles as `promise` does, or rejects with the signal's reason if that aborts first. */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", stop));
}
