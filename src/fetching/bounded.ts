import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { follow, type Sent } from "./follow.ts";

interface Bounded {
  response: Response;
  /** The body, or its beginning. */
  bytes: Uint8Array<ArrayBuffer>;
  whole: boolean;
}

/**
 * An answer of whatever status, within `LIMITS.askMs`, and of its body as many bytes as `limit` says, asked
 * when its head is there. Throws as `follow`, but `upstream_timeout` and `upstream_unavailable` for what
 * `fetch` throws. `who` is asked, as messages name them.
 */
export async function fetchUpTo(
  allowed: string,
  { who, url, sent }: { who: string; url: string; sent?: Sent },
  limit: (response: Response) => number,
): Promise<Bounded> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), LIMITS.askMs);
  try {
    const response = await follow(url, allowed, abort.signal, sent);
    return { response, ...(await readUpTo(response, limit(response))) };
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    if (abort.signal.aborted) {
      throw new AppError("upstream_timeout", `${who} took too long to answer.`, { cause });
    }
    throw new AppError("upstream_unavailable", `${who} can't be reached.`, { cause });
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

async function readUpTo(response: Response, limit: number): Promise<Omit<Bounded, "response">> {
  const bytes = new Uint8Array(await new Blob(await chunksOf(response, limit)).arrayBuffer());
  return { bytes: bytes.subarray(0, limit), whole: bytes.length <= limit };
}

/** Ends with the chunk that is too much. */
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
