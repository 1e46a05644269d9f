import { SightlineError } from "./errors.ts";
import { ignoreAfterUse } from "./ignored-errors.ts";
import type { UploadProgress } from "./types.ts";

/** What a `Fetch` gets: the options of the global `fetch`, and what reports sent bytes. */
export interface FetchOptions extends RequestInit {
  /** Gets the bytes of the body that were sent, of all. The global `fetch` can't tell. */
  onUploadProgress?: UploadProgress | undefined;
}

export type Fetch = (url: string, init: FetchOptions) => Promise<Response>;

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches a URL, with redirects only within its origin: the API key and the body are for no other
 * one. A request that isn't a GET or HEAD follows only redirects that keep its method and body.
 * Throws a `SightlineError` with the code `redirected` for any other redirect.
 */
export async function fetchWithinOrigin(
  fetch: Fetch,
  url: string,
  init: FetchOptions,
): Promise<Response> {
  const { origin } = new URL(url);
  for (let target = url, count = 0; ; count++) {
    const response = await fetch(target, { ...init, redirect: "manual" });
    // A browser gives status 0, and doesn't tell where the redirect leads.
    const isRedirect = REDIRECTS.has(response.status) || response.status === 0;
    if (!isRedirect) return response;
    void response.body?.cancel().catch(ignoreAfterUse);
    const location = response.headers.get("location");
    const next = location === null ? null : URL.parse(location, target);
    const isFollowed =
      next?.origin === origin && count < MAX_REDIRECTS && keepsRequest(response.status, init);
    if (!isFollowed) throw redirected(response.status, next);
    target = next.href;
  }
}

/** Whether a redirect repeats the same request, and whether that can be repeated. */
function keepsRequest(status: number, { method = "GET", body }: RequestInit): boolean {
  if (body instanceof ReadableStream) return false;
  return status === 307 || status === 308 || method === "GET" || method === "HEAD";
}

function redirected(status: number, target: URL | null): SightlineError {
  const place = target === null ? "elsewhere" : `to ${target.origin}${target.pathname}`;
  const message =
    `The service redirects ${place}. The API key isn't sent there: ` +
    "if that is your service, use its URL.";
  return new SightlineError(message, { status, code: "redirected" });
}
