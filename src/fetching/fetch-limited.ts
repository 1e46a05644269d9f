import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { unreachableReason } from "./dns.ts";
import { fetchWithRedirects, type FetchOptions } from "./redirects.ts";

interface LimitedResponse {
  response: Response;
  /** The body, cut at the limit. */
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

async function readUpTo(
  response: Response,
  limit: number,
): Promise<Omit<LimitedResponse, "response">> {
  const bytes = new Uint8Array(await new Blob(await chunksOf(response, limit)).arrayBuffer());
  return { bytes: bytes.subarray(0, limit), isComplete: bytes.length <= limit };
}

/** Reads chunks up to and including the one that exceeds `limit`. */
async function chunksOf(response: Response, limit: number): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > limit) break;
  }
  return chunks;
}
