/** Parses `Retry-After` (RFC 9110, section 10.2.3) to seconds; NaN if it is unreadable. */
export function secondsToWait(retryAfter: string, now: number): number {
  return /^\d+$/.test(retryAfter) ? Number(retryAfter) : secondsUntil(retryAfter, now);
}

/** Returns the whole seconds until a date; NaN if it is unreadable. */
export function secondsUntil(date: string, now: number): number {
  return Math.ceil((Date.parse(date) - now) / 1000);
}
