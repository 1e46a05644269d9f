import type { TimedSearch, SearchSystem } from "./systems.ts";

/**
 * Runs every query on every system, one at a time. The systems take turns to be first, so that
 * other load on the machine affects all equally. Returns results by system, in the order of the
 * queries.
 */
export async function interleaveQueries(
  systems: readonly SearchSystem[],
  queries: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, TimedSearch[]>> {
  const results = new Map<string, TimedSearch[]>(systems.map(({ name }) => [name, []]));
  for (const [round, query] of queries.entries()) {
    signal.throwIfAborted();
    for (const offset of systems.keys()) {
      const { name, search } = systems[(round + offset) % systems.length]!;
      results.get(name)?.push(await search(query));
    }
  }
  return results;
}

/** Measures requests per second with `concurrency` requests in flight for `ms`. */
export async function measureThroughput(
  { search }: SearchSystem,
  queries: readonly string[],
  { concurrency, ms, signal }: { concurrency: number; ms: number; signal: AbortSignal },
): Promise<number> {
  const start = performance.now();
  let queryCount = 0;
  const worker = async () => {
    while (performance.now() - start < ms) {
      signal.throwIfAborted();
      await search(queries[queryCount++ % queries.length] ?? "");
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - start) / 1000;
  return queryCount / seconds;
}
