import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { requirePublicUrl } from "./address.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * The bytes behind a URL, as they arrive. Every address, each redirect's too, is checked before it is
 * asked. Throws `blocked_address`, `download_refused` (a 4xx, too many redirects, too large),
 * `download_failed` (anything that may pass: network, 5xx, silence).
 */
export async function* download(
  text: string,
  allowed: string,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const abort = new AbortController();
  const total = setTimeout(() => abort.abort(), LIMITS.fetchMs);
  try {
    const response = await withIdleLimit(follow(text, allowed, abort.signal), abort);
    if (Number(response.headers.get("content-length") ?? 0) > maxBytes) {
      throw new AppError("download_refused", "The file behind the URL is larger than the limit.");
    }
    const reader = response.body!.getReader();
    for (;;) {
      const { done, value } = await withIdleLimit(reader.read(), abort);
      if (done) return;
      yield value;
    }
  } finally {
    clearTimeout(total);
    abort.abort();
  }
}

async function follow(text: string, allowed: string, signal: AbortSignal): Promise<Response> {
  let url = requirePublicUrl(text, allowed);
  for (let hops = 0; hops <= LIMITS.redirects; hops++) {
    const response = await fetch(url, { redirect: "manual", signal });
    const location = response.headers.get("location");
    if (!REDIRECTS.has(response.status) || !location) return requireBody(response);
    await response.body?.cancel();
    url = requirePublicUrl(new URL(location, url).href, allowed);
  }
  throw new AppError("download_refused", `The URL redirects more than ${LIMITS.redirects} times.`);
}

function requireBody(response: Response): Response {
  if (response.ok && response.body) return response;
  const passing = response.status >= 500 || response.status === 429 || response.status === 408;
  throw new AppError(
    passing ? "download_failed" : "download_refused",
    `The server behind the URL answered ${response.status}.`,
  );
}

/** Fails a wait that brings nothing for `LIMITS.fetchIdleMs`. */
async function withIdleLimit<T>(work: Promise<T>, abort: AbortController): Promise<T> {
  const timer = setTimeout(() => abort.abort(), LIMITS.fetchIdleMs);
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("download_failed", "The server behind the URL broke off or fell silent.", {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}
