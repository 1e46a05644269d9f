import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { follow } from "./follow.ts";

/** How long a download may take in all, and between two signs of life. */
interface Patience {
  fetchMs: number;
  fetchIdleMs: number;
}

/**
 * The bytes behind a URL, as they arrive, decoded where they were compressed, and at most `maxBytes` of those.
 * Every address, each redirect's too, is checked before it is asked. Throws `blocked_address`,
 * `download_refused` (a 4xx, too many redirects, too large), `download_failed` (anything that may pass:
 * network, 5xx, silence).
 */
export async function* download(
  text: string,
  allowed: string,
  maxBytes: number,
  { fetchMs, fetchIdleMs }: Patience = LIMITS,
): AsyncGenerator<Uint8Array> {
  const abort = new AbortController();
  const total = setTimeout(() => abort.abort(), fetchMs);
  const soon = <T>(work: Promise<T>) => withIdleLimit(work, fetchIdleMs, abort);
  try {
    const response = await soon(follow(text, allowed, abort.signal));
    const body = bodyOf(response);
    if (Number(response.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge();
    let bytes = 0;
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await soon(reader.read());
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

function bodyOf(response: Response): ReadableStream<Uint8Array> {
  if (response.ok && response.body) return response.body;
  const passing = response.status >= 500 || response.status === 429 || response.status === 408;
  throw new AppError(
    passing ? "download_failed" : "download_refused",
    `The server behind the URL answered ${response.status}.`,
  );
}

function tooLarge(): AppError {
  return new AppError("download_refused", "The file behind the URL is larger than the limit.");
}

/** Fails a wait that brings nothing for so long. */
async function withIdleLimit<T>(work: Promise<T>, ms: number, abort: AbortController): Promise<T> {
  const timer = setTimeout(() => abort.abort(), ms);
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
