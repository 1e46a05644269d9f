/** Result and timing of one search. */
export interface TimedSearch {
  /** Segment ids, the best first. */
  segmentIds: string[];
  /** Milliseconds from the first byte sent to the last byte read. */
  ms: number;
  /** Durations of the `Server-Timing` header in milliseconds, by name. */
  timing: Record<string, number>;
}

/** A system that answers queries over HTTP. */
export interface SearchSystem {
  name: string;
  /** Word in the command line of its process, to measure memory. */
  processName: string;
  search: (query: string) => Promise<TimedSearch>;
}

/** Sends a search as a POST of JSON and measures it. `read` extracts the segment ids. */
export async function timeSearch(
  url: string,
  headers: Record<string, string>,
  body: object,
  read: (json: string) => string[],
): Promise<TimedSearch> {
  const start = performance.now();
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const ms = performance.now() - start;
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  const timing = parseServerTiming(response.headers.get("server-timing") ?? "");
  return { segmentIds: read(text), ms, timing };
}

/** Parses the durations of a `Server-Timing` header (W3C Server Timing), by name, in ms. */
export function parseServerTiming(header: string): Record<string, number> {
  const parts = header.matchAll(/([\w-]+)\s*;(?:[^,]*;)?\s*dur=([\d.]+)/g);
  return Object.fromEntries([...parts].map(([, name, ms]) => [name, Number(ms)]));
}
