/** `interactive`: a search or an answer that someone waits for. `background`: everything else. */
export type CallPriority = "interactive" | "background";

/** Calls of the last minute, added up by the second in which they leave the window. */
export type CallWindow = readonly { expiresAt: number; count: number }[];

export interface PermitRequest {
  callsPerMinute: number;
  priority: CallPriority;
  /** Calls to be made. */
  count: number;
}

/** Permits for `granted` calls. If there are none, `waitMs` is the time until there can be. */
export interface Permits {
  granted: number;
  waitMs: number;
}

const WINDOW_MS = 60_000;
const BUCKET_MS = 1000;
/** Share of a limit that background work leaves to searches and answers. */
const INTERACTIVE_SHARE = 0.2;

/**
 * Counts calls in a sliding window of a minute. Interactive calls are counted and always granted:
 * Workers AI decides about them. Background calls are granted all or none, as long as
 * `INTERACTIVE_SHARE` of the limit stays free; a request beyond the whole budget gets the budget.
 */
export function takePermits(
  window: CallWindow,
  { callsPerMinute, priority, count }: PermitRequest,
  now: number,
): Permits & { window: CallWindow } {
  const current = window.filter(({ expiresAt }) => expiresAt > now);
  if (priority === "interactive") {
    return { window: withCalls(current, count, now), granted: count, waitMs: 0 };
  }
  const budget = Math.max(1, Math.floor(callsPerMinute * (1 - INTERACTIVE_SHARE)));
  const granted = Math.min(count, budget);
  const waitMs = untilFree(current, budget - granted) - now;
  if (waitMs > 0) return { window: current, granted: 0, waitMs };
  return { window: withCalls(current, granted, now), granted, waitMs: 0 };
}

/** Returns when at most `maxCalls` of the window's calls are left in it: epoch ms, 0 for now. */
function untilFree(window: CallWindow, maxCalls: number): number {
  let remaining = window.reduce((sum, { count }) => sum + count, 0);
  let freeAt = 0;
  for (const { expiresAt, count } of window) {
    if (remaining <= maxCalls) break;
    remaining -= count;
    freeAt = expiresAt;
  }
  return freeAt;
}

function withCalls(window: CallWindow, count: number, now: number): CallWindow {
  const expiresAt = Math.ceil((now + 1) / BUCKET_MS) * BUCKET_MS + WINDOW_MS;
  const last = window.at(-1);
  if (last?.expiresAt !== expiresAt) return [...window, { expiresAt, count }];
  return [...window.slice(0, -1), { expiresAt, count: last.count + count }];
}
