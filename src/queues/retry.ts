/** Seconds to wait before attempt `attempt` + 1: 5 s doubling up to 5 min, as the upstream asks if it does. */
export function retryDelay(attempt: number, retryAfter?: number): number {
  return Math.max(retryAfter ?? 0, Math.min(5 * 2 ** (attempt - 1), 300));
}
