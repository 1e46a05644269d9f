/** What one search gave and took. */
export interface Answer {
  /** Ids of segments, the best first. */
  found: string[];
  /** From the first byte sent to the last one read. */
  ms: number;
  /** Milliseconds that the server says its parts took, by name. */
  timing: Record<string, number>;
}

/** Something that answers queries over HTTP. */
export interface Contestant {
  name: string;
  /** A word of its process' command, by which its memory is told. */
  process: string;
  search: (query: string) => Promise<Answer>;
}

/** A search as POST of JSON, timed. `read` takes the ids from the answer. */
export async function timeSearch(
  url: string,
  headers: Record<string, string>,
  body: object,
  read: (json: string) => string[],
): Promise<Answer> {
  const start = performance.now();
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const ms = performance.now() - start;
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  const timing = readServerTiming(response.headers.get("server-timing") ?? "");
  return { found: read(text), ms, timing };
}

/** The durations of a `Server-Timing` header (W3C Server Timing), by name, in milliseconds. */
export function readServerTiming(header: string): Record<string, number> {
  const parts = header.matchAll(/([\w-]+)\s*;(?:[^,]*;)?\s*dur=([\d.]+)/g);
  return Object.fromEntries([...parts].map(([, name, ms]) => [name, Number(ms)]));
}
