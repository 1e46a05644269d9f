import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { requirePublicTarget, type Resolve, unreachableReason } from "./public-url.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
export const USER_AGENT = "Sightline/0.1";

export interface FetchOptions {
  headers?: Record<string, string>;
  secrets?: Record<string, string> | undefined;
  /** JSON for a POST request, whose redirects are not followed. */
  body?: string | undefined;
}

/**
 * Fetches a URL with at most `LIMITS.redirectCount` redirects and returns the response, whatever
 * its status. Checks every address before it is fetched. Throws `blocked_address`,
 * `download_refused` (too many redirects), and the errors of `fetch`.
 */
export async function fetchWithRedirects(
  text: string,
  allowed: string,
  signal: AbortSignal,
  { headers, secrets, body }: FetchOptions = {},
  resolve?: Resolve,
): Promise<Response> {
  let url = await requirePublicTarget(text, allowed, signal, resolve);
  const { origin } = url;
  for (let hops = 0; hops <= LIMITS.redirectCount; hops++) {
    const response = await fetch(url, {
      redirect: "manual",
      signal,
      headers: {
        "user-agent": USER_AGENT,
        ...headers,
        ...(url.origin === origin && secrets),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { method: "POST", body }),
    });
    const location = response.headers.get("location");
    const isRedirect = REDIRECTS.has(response.status) && location !== null;
    if (!isRedirect || body !== undefined) return response;
    await response.body?.cancel();
    const next = URL.parse(location, url)?.href ?? location;
    url = await requirePublicTarget(next, allowed, signal, resolve);
  }
  throw new AppError(
    "download_refused",
    `The URL redirects more than ${LIMITS.redirectCount} times.`,
  );
}

interface LimitedResponse {
  response: Response;
  bytes: Uint8Array<ArrayBuffer>;
  isComplete: boolean;
}

/**
 * Fetches a response of any status within `LIMITS.responseMs`, and as many bytes of its body as
 * `limit` returns for its headers. `serverName` names the server in error messages. Throws like
 * `fetchWithRedirects`, and `upstream_timeout` or `upstream_unavailable` if `fetch` throws.
 */
export async function fetchLimited(
  allowed: string,
  { serverName, url, options }: { serverName: string; url: string; options?: FetchOptions },
  limit: (response: Response) => number,
): Promise<LimitedResponse> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), LIMITS.responseMs);
  try {
    const response = await fetchWithRedirects(url, allowed, abort.signal, options);
    return { response, ...(await readUpTo(response, limit(response))) };
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    if (abort.signal.aborted) {
      throw new AppError("upstream_timeout", `${serverName} took too long to answer.`, { cause });
    }
    const message = `${serverName} can't be reached: ${unreachableReason(cause)}.`;
    throw new AppError("upstream_unavailable", message, { cause });
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

/** Reads chunks up to and including the one that exceeds `limit`. */
async function readUpTo(response: Response, limit: number) {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > limit) break;
  }
  const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
  return { bytes: bytes.subarray(0, limit), isComplete: size <= limit };
}

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

/** Parses `Retry-After` (RFC 9110, section 10.2.3) to seconds; NaN if it is unreadable. */
export function secondsToWait(retryAfter: string, now: number): number {
  return /^\d+$/.test(retryAfter) ? Number(retryAfter) : secondsUntil(retryAfter, now);
}

/** Returns the whole seconds until a date; NaN if it is unreadable. */
function secondsUntil(date: string, now: number): number {
  return Math.ceil((Date.parse(date) - now) / 1000);
}
