import { AppError } from "../errors.ts";
import type { KeyClaims } from "../keys.ts";
import type { Context } from "./context.ts";

/** Period of the RATE_LIMIT bindings (wrangler.toml). */
const WINDOW_SECONDS = 60;
const MAX_WINDOWS = 10_000;

/**
 * Fixed-window counters of one isolate, for the response headers only. The bindings, which decide,
 * count the requests of all isolates of a location.
 */
export class RateWindows {
  readonly #windows = new Map<string, { endsAt: number; count: number }>();

  /**
   * Counts a request of `id` at `now` (epoch ms) against `maxRequests` per window. Returns the
   * requests that remain in it, and the seconds until it is reset.
   */
  count(id: string, maxRequests: number, now: number) {
    let window = this.#windows.get(id);
    if (!window || window.endsAt <= now) {
      if (this.#windows.size >= MAX_WINDOWS) this.#windows.clear();
      window = { endsAt: now + WINDOW_SECONDS * 1000, count: 0 };
      this.#windows.set(id, window);
    }
    window.count += 1;
    return {
      requests: Math.max(0, maxRequests - window.count),
      seconds: Math.ceil((window.endsAt - now) / 1000),
    };
  }
}

const windows = new RateWindows();

/**
 * Counts a request against the limits of its key and its account, and sets the `RateLimit` headers
 * (draft-ietf-httpapi-ratelimit-headers-10). Throws `rate_limited`.
 */
export async function requireRate(c: Context, { keyId, accountId }: KeyClaims): Promise<void> {
  const { env } = c;
  const limits = await Promise.all([
    countRequest("key", env.RATE_LIMIT, keyId, Number(env.KEY_RATE)),
    countRequest("account", env.ACCOUNT_RATE_LIMIT, accountId, Number(env.ACCOUNT_RATE)),
  ]);
  const policies = limits.map(({ name, max }) => `"${name}";q=${max};w=${WINDOW_SECONDS}`);
  const items = limits.map(({ name, requests, seconds }) => `"${name}";r=${requests};t=${seconds}`);
  c.header("RateLimit-Policy", policies.join(", "));
  c.header("RateLimit", items.join(", "));
  const exceeded = limits.find(({ isExceeded }) => isExceeded);
  if (!exceeded) return;
  const message = `This ${exceeded.name} has reached its limit of ${exceeded.max} requests a minute.`;
  throw new AppError("rate_limited", message, { retryAfter: WINDOW_SECONDS });
}

async function countRequest(name: string, binding: RateLimit, id: string, max: number) {
  const { success } = await binding.limit({ key: id });
  const counted = windows.count(id, max, Date.now());
  const remaining = success ? counted : { requests: 0, seconds: WINDOW_SECONDS };
  return { name, max, isExceeded: !success, ...remaining };
}
