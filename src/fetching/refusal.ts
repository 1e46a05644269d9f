import { AppError } from "../errors.ts";
import { secondsToWait, secondsUntil } from "./retry-after.ts";

/**
 * What a status other than 2xx means: `rate_limited` (429, with the seconds to wait), `original_removed` (404,
 * 410), `upstream_unavailable` (408, 5xx), `download_refused`.
 */
export function refusal(who: string, response: Response): AppError {
  const { status } = response;
  if (status === 429) return tooMany(who, response);
  if (status === 404 || status === 410) {
    return new AppError("original_removed", `${who} has no such thing, or has it no longer.`);
  }
  if (status >= 500 || status === 408) {
    return new AppError("upstream_unavailable", `${who} is out of order (${status}).`);
  }
  const login = status === 401 || status === 403 ? ": it wants a login, or doesn't allow it" : "";
  return new AppError("download_refused", `${who} refused (${status})${login}.`);
}

/** `Retry-After`, else `X-RateLimit-Reset` as Mastodon sends it. */
function tooMany(who: string, response: Response): AppError {
  const message = `${who} was asked too often.`;
  const after = response.headers.get("retry-after");
  const reset = response.headers.get("x-ratelimit-reset") ?? "";
  const now = Date.now();
  const seconds = after ? secondsToWait(after, now) : secondsUntil(reset, now);
  if (Number.isNaN(seconds)) return new AppError("rate_limited", message);
  return new AppError("rate_limited", message, { retryAfter: Math.max(1, seconds) });
}
