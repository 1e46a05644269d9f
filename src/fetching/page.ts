import { LIMITS } from "../config.ts";
import { fetchLimited } from "./fetch-limited.ts";
import { toUpstreamError } from "./upstream-error.ts";

export interface FetchedPage {
  /** The URL after redirects. */
  url: string;
  /** The content type; empty if the server sends none. */
  contentType: string;
  /** The first `LIMITS.webPageBytes` of a text; empty for any other content type. */
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Fetches a web page from a public address. Throws `blocked_address`, `upstream_timeout`,
 * `upstream_unavailable`, and the errors of `toUpstreamError`.
 */
export async function fetchPage(allowed: string, url: string): Promise<FetchedPage> {
  const serverName = `The server ${URL.parse(url)?.host}`;
  const { response, bytes } = await fetchLimited(allowed, { serverName, url }, (head) =>
    /^text\/|xhtml/i.test(contentTypeOf(head)) ? LIMITS.webPageBytes : 0,
  );
  if (!response.ok) throw toUpstreamError(serverName, response);
  return { url: response.url, contentType: contentTypeOf(response), bytes };
}

function contentTypeOf(response: Response): string {
  return response.headers.get("content-type") ?? "";
}
