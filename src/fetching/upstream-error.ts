import { AppError } from "../errors.ts";
import { secondsToWait, secondsUntil } from "./retry-after.ts";

/**
 * Converts a response that isn't 2xx to an error: `rate_limited` (429, with the seconds to wait),
 * `original_removed` (404, 410), `upstream_unavailable` (408, 5xx), else `download_refused`.
 */
export function toUpstreamError(serverName: string, response: Response): AppError {
  const { status } = response;
  if (status === 429) return rateLimited(serverName, response);
  if (status === 404 || status === 410) {
    return new AppError("original_removed", `${serverName} has no such item, or has it no longer.`);
  }
  if (status >= 500 || status === 408) {
    return new AppError("upstream_unavailable", `${serverName} is out of order (${status}).`);
  }
  const login =
    status === 401 || status === 403 ? ": it requires a login, or does not allow access" : "";
  return new AppError("download_refused", `${serverName} refused the request (${status})${login}.`);
}

/** Reads the wait from `Retry-After`, else from Mastodon's `X-RateLimit-Reset`. */
function rateLimited(serverName: string, response: Response): AppError {
  const message = `${serverName} got too many requests.`;
  const after = response.headers.get("retry-after");
  const reset = response.headers.get("x-ratelimit-reset") ?? "";
  const now = Date.now();
  const seconds = after ? secondsToWait(after, now) : secondsUntil(reset, now);
  if (Number.isNaN(seconds)) return new AppError("rate_limited", message);
  return new AppError("rate_limited", message, { retryAfter: Math.max(1, seconds) });
}
