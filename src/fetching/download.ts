import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { follow } from "./follow.ts";

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
    const body = bodyOf(response);
    if (Number(response.headers.get("content-length") ?? 0) > maxBytes) {
      throw new AppError("download_refused", "The file behind the URL is larger than the limit.");
    }
    const reader = body.getReader();
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

function bodyOf(response: Response): ReadableStream<Uint8Array> {
  if (response.ok && response.body) return response.body;
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
