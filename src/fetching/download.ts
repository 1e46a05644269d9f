import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { fetchWithRedirects } from "./guarded-fetch.ts";
import { unreachableReason } from "./public-url.ts";

interface DownloadOptions {
  fetchMs?: number;
  fetchIdleMs?: number;
  /** Gets the headers of the file before its first bytes. */
  onHeaders?: (headers: Headers) => void;
}

/**
 * Downloads a URL as a stream of decompressed bytes, `maxBytes` at most. Checks every address
 * before it is fetched, also after redirects. Throws `blocked_address`, `download_refused` (a 4xx,
 * too many redirects, too large) and `download_failed` (network, 5xx, timeout or only a part of the
 * file: may pass).
 */
export async function* download(
  text: string,
  allowed: string,
  maxBytes: number,
  { fetchMs = LIMITS.fetchMs, fetchIdleMs = LIMITS.fetchIdleMs, onHeaders }: DownloadOptions = {},
): AsyncGenerator<Uint8Array> {
  const abort = new AbortController();
  const total = setTimeout(() => abort.abort(), fetchMs);
  const host = URL.parse(text)?.host ?? "the URL";
  const withIdle = <T>(work: Promise<T>) => withIdleLimit(work, fetchIdleMs, abort, host);
  try {
    const response = await withIdle(fetchWithRedirects(text, allowed, abort.signal));
    const body = bodyOf(response, host);
    const promisedBytes = statedBytes(response);
    if (promisedBytes > maxBytes) throw tooLarge();
    onHeaders?.(response.headers);
    let bytes = 0;
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await withIdle(reader.read());
      if (done) {
        if (bytes < promisedBytes) throw incomplete(host, bytes, promisedBytes);
        return;
      }
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
  if (response.status === 206) requireWholeRange(response, host);
  if (response.ok && response.body) return response.body;
  const isTransient = response.status >= 500 || response.status === 429 || response.status === 408;
  throw new AppError(
    isTransient ? "download_failed" : "download_refused",
    `${host} answered ${response.status}.`,
  );
}

/** Throws `download_failed` for a part of a file, which nobody has asked for. */
function requireWholeRange({ headers }: Response, host: string): void {
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers.get("content-range") ?? "");
  const [first, last, size] = range ? range.slice(1).map(Number) : [];
  if (first === 0 && last === size! - 1) return;
  const part = range ? `the bytes ${first} to ${last} of ${size}` : "a part of it";
  throw new AppError("download_failed", `${host} answered a request for the file with ${part}.`);
}

/** Returns how many bytes a response says it has, 0 if it doesn't or they are compressed. */
function statedBytes({ headers }: Response): number {
  return headers.has("content-encoding") ? 0 : Number(headers.get("content-length") ?? 0);
}

function incomplete(host: string, bytes: number, promisedBytes: number): AppError {
  const message = `${host} sent ${bytes} of ${promisedBytes} bytes.`;
  return new AppError("download_failed", message);
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

/** The parameter of a `Content-Disposition` (RFC 6266), also of one without a type. */
const FILENAME = /(?:^|;)\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^";][^;]*))/is;
/** Its extended form (RFC 8187): charset, language, percent-encoded bytes. */
const EXTENDED = /(?:^|;)\s*filename\*\s*=\s*"?utf-8'[^']*'([!#-:<-~]*)"?\s*(?:;|$)/is;

/**
 * Returns the file name of a `Content-Disposition`, without folders; null if it names none. The
 * extended form in UTF-8 wins if it can be decoded.
 */
export function dispositionFilename(header: string | null): string | null {
  const [, quoted, token] = FILENAME.exec(header ?? "") ?? [];
  const plain = quoted?.replaceAll(/\\(.)/gs, "$1") ?? token?.trim();
  const name = decodeExtended(EXTENDED.exec(header ?? "")?.[1]) ?? plain;
  return name?.split(/[/\\]/).at(-1) || null;
}

function decodeExtended(text: string | undefined): string | undefined {
  try {
    return text && decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
