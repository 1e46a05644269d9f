import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { unreachableReason } from "./dns.ts";
import { fetchWithRedirects } from "./redirects.ts";

/** Time limits of a download: in total, and between two chunks. */
interface DownloadTimeouts {
  fetchMs: number;
  fetchIdleMs: number;
}

/**
 * Downloads a URL as a stream of decompressed bytes, `maxBytes` at most. Checks every address
 * before it is fetched, also after redirects. Throws `blocked_address`, `download_refused` (a 4xx,
 * too many redirects, too large) and `download_failed` (network, 5xx or timeout: may pass).
 */
export async function* download(
  text: string,
  allowed: string,
  maxBytes: number,
  { fetchMs, fetchIdleMs }: DownloadTimeouts = LIMITS,
): AsyncGenerator<Uint8Array> {
  const abort = new AbortController();
  const total = setTimeout(() => abort.abort(), fetchMs);
  const host = URL.parse(text)?.host ?? "the URL";
  const withIdle = <T>(work: Promise<T>) => withIdleLimit(work, fetchIdleMs, abort, host);
  try {
    const response = await withIdle(fetchWithRedirects(text, allowed, abort.signal));
    const body = bodyOf(response, host);
    if (Number(response.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
    let bytes = 0;
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await withIdle(reader.read());
      if (done) return;
      bytes += value.length;
      if (bytes > maxBytes) throw tooLarge();
      yield value;
    }
  } finally {
    clearTimeout(total);
    abort.abort();
  }
}

function bodyOf(response: Response, host: string): ReadableStream<Uint8Array> {
  if (response.ok && response.body) return response.body;
  const isTransient = response.status >= 500 || response.status === 429 || response.status === 408;
  throw new AppError(
    isTransient ? "download_failed" : "download_refused",
    `${host} answered ${response.status}.`,
  );
}

function tooLarge(): AppError {
  return new AppError("download_refused", "The file behind the URL is larger than the limit.");
}

/** Aborts work that takes longer than `ms`. Throws `download_failed`. */
async function withIdleLimit<T>(
  work: Promise<T>,
  ms: number,
  abort: AbortController,
  host: string,
): Promise<T> {
  const timer = setTimeout(() => abort.abort(), ms);
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError) throw error;
    const reason = abort.signal.aborted ? "it took too long" : unreachableReason(error);
    throw new AppError("download_failed", `${host} can't be read: ${reason}.`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
