import { AppError } from "../errors.ts";
import type { KeyClaims } from "../keys.ts";
import type { Context } from "./endpoint.ts";

/** Of the RATE_LIMIT bindings (wrangler.toml). */
const WINDOW_SECONDS = 60;
const MAX_WINDOWS = 10_000;

interface Window {
  endsAt: number;
  count: number;
}

/** What is left of a quota, and in how many seconds there is all of it again. */
export interface Left {
  requests: number;
  seconds: number;
}

/** Counts what one isolate lets through. The bindings count more: all isolates of a location. */
export class RateWindows {
  readonly #windows = new Map<string, Window>();

  /** Counts a request at `now` (epoch ms) of `id`, which may send `most` a window. */
  count(id: string, most: number, now: number): Left {
    let window = this.#windows.get(id);
    if (!window || window.endsAt <= now) {
      if (this.#windows.size >= MAX_WINDOWS) this.#windows.clear();
      window = { endsAt: now + WINDOW_SECONDS * 1000, count: 0 };
      this.#windows.set(id, window);
    }
    window.count += 1;
    return {
      requests: Math.max(0, most - window.count),
      seconds: Math.ceil((window.endsAt - now) / 1000),
    };
  }
}

const windows = new RateWindows();

/**
 * Counts the request, of its key and of its account, and says so in the answer's headers
 * (draft-ietf-httpapi-ratelimit-headers-10). Throws `rate_limited`.
 */
export async function requireRate(c: Context, { keyId, accountId }: KeyClaims): Promise<void> {
  const { env } = c;
  const policies = [
    { name: "key", of: keyId, most: Number(env.KEY_RATE), binding: env.RATE_LIMIT },
    {
      name: "account",
      of: accountId,
      most: Number(env.ACCOUNT_RATE),
      binding: env.ACCOUNT_RATE_LIMIT,
    },
  ];
  const outcomes = await Promise.all(policies.map(({ binding, of }) => binding.limit({ key: of })));
  const now = Date.now();
  const states = policies.map(({ name, of, most }, i) => {
    const left = windows.count(of, most, now);
    const isOver = !outcomes[i]!.success;
    return { name, most, isOver, left: isOver ? { requests: 0, seconds: WINDOW_SECONDS } : left };
  });
  const policy = states.map(({ name, most }) => `"${name}";q=${most};w=${WINDOW_SECONDS}`);
  const state = states.map(({ name, left }) => `"${name}";r=${left.requests};t=${left.seconds}`);
  c.header("RateLimit-Policy", policy.join(", "));
  c.header("RateLimit", state.join(", "));
  const over = states.find(({ isOver }) => isOver);
  if (!over) return;
  const message = `This ${over.name} may send ${over.most} requests a minute, and has; wait.`;
  throw new AppError("rate_limited", message, { retryAfter: WINDOW_SECONDS });
}
