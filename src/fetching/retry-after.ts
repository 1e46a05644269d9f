/** Seconds that `Retry-After` (RFC 9110, section 10.2.3) asks to wait; NaN where it says nothing. */
export function secondsToWait(retryAfter: string, now: number): number {
  return /^\d+$/.test(retryAfter) ? Number(retryAfter) : secondsUntil(retryAfter, now);
}

/** Until a date, in whole seconds; NaN where it is none. */
export function secondsUntil(date: string, now: number): number {
  return Math.ceil((Date.parse(date) - now) / 1000);
}
