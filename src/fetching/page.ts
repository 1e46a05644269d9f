import { LIMITS } from "../config.ts";
import { fetchUpTo } from "./bounded.ts";
import { refusal } from "./refusal.ts";

export interface Page {
  /** After redirects. */
  url: string;
  /** Its content type; empty where the server says nothing. */
  type: string;
  /** Of text, its first `LIMITS.pageBytes`; of anything else, nothing. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** What is at a URL, guarded as downloads are. Throws as `askJson` does of what isn't about JSON. */
export async function fetchPage(allowed: string, url: string): Promise<Page> {
  const who = `The server ${URL.parse(url)?.host}`;
  const { response, bytes } = await fetchUpTo(allowed, { who, url }, (head) =>
    /^text\/|xhtml/i.test(typeOf(head)) ? LIMITS.pageBytes : 0,
  );
  if (!response.ok) throw refusal(who, response);
  return { url: response.url, type: typeOf(response), bytes };
}

function typeOf(response: Response): string {
  return response.headers.get("content-type") ?? "";
}
