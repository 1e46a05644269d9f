import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { requirePublicTarget, type Resolve } from "./dns.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
export const USER_AGENT = "Sightline/0.1";

export interface FetchOptions {
  headers?: Record<string, string>;
  /** Headers that go to the URL's own origin only. */
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
