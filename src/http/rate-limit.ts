import { AppError } from "../errors.ts";
import type { KeyClaims } from "../keys.ts";
import type { Context } from "./context.ts";

/** Period of the RATE_LIMIT bindings (wrangler.toml). */
const WINDOW_SECONDS = 60;
const MAX_WINDOWS = 10_000;

interface Window {
  endsAt: number;
  count: number;
}

/** Requests that remain in a window, and seconds until the window is reset. */
export interface Remaining {
  requests: number;
  seconds: number;
}

/**
 * Fixed-window counters of one isolate, for the response headers only. The bindings, which decide,
 * count the requests of all isolates of a location.
 */
export class RateWindows {
  readonly #windows = new Map<string, Window>();

  /** Counts a request of `id` at `now` (epoch ms) against `maxRequests` per window. */
  count(id: string, maxRequests: number, now: number): Remaining {
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
  const policies = [
    { name: "key", id: keyId, maxRequests: Number(env.KEY_RATE), binding: env.RATE_LIMIT },
    {
      name: "account",
      id: accountId,
      maxRequests: Number(env.ACCOUNT_RATE),
      binding: env.ACCOUNT_RATE_LIMIT,
    },
  ];
  const outcomes = await Promise.all(policies.map(({ binding, id }) => binding.limit({ key: id })));
  const now = Date.now();
  const limits = policies.map(({ name, id, maxRequests }, i) => {
    const counted = windows.count(id, maxRequests, now);
    const isExceeded = !outcomes[i]!.success;
    const remaining = isExceeded ? { requests: 0, seconds: WINDOW_SECONDS } : counted;
    return { name, maxRequests, isExceeded, remaining };
  });
  const policyItems = limits.map(
    ({ name, maxRequests }) => `"${name}";q=${maxRequests};w=${WINDOW_SECONDS}`,
  );
  const limitItems = limits.map(
    ({ name, remaining }) => `"${name}";r=${remaining.requests};t=${remaining.seconds}`,
  );
  c.header("RateLimit-Policy", policyItems.join(", "));
  c.header("RateLimit", limitItems.join(", "));
  const exceeded = limits.find(({ isExceeded }) => isExceeded);
  if (!exceeded) return;
  const { name, maxRequests } = exceeded;
  const message = `This ${name} has reached its limit of ${maxRequests} requests a minute.`;
  throw new AppError("rate_limited", message, { retryAfter: WINDOW_SECONDS });
}
