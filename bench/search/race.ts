import type { Answer, Contestant } from "./contestants.ts";

/**
 * Asks every contestant every query, one at a time and in turn, each first as often as the others, so that
 * what else the machine does hits all alike. Answers by name, in the order of the queries.
 */
export async function race(
  contestants: readonly Contestant[],
  queries: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Answer[]>> {
  const answers = new Map<string, Answer[]>(contestants.map(({ name }) => [name, []]));
  for (const [round, query] of queries.entries()) {
    signal.throwIfAborted();
    for (const place of contestants.keys()) {
      const { name, search } = contestants[(round + place) % contestants.length]!;
      answers.get(name)?.push(await search(query));
    }
  }
  return answers;
}

/** Requests a second while `atOnce` are always under way, for `ms`. */
export async function countPerSecond(
  { search }: Contestant,
  queries: readonly string[],
  { atOnce, ms, signal }: { atOnce: number; ms: number; signal: AbortSignal },
): Promise<number> {
  const start = performance.now();
  let asked = 0;
  const ask = async () => {
    while (performance.now() - start < ms) {
      signal.throwIfAborted();
      await search(queries[asked++ % queries.length] ?? "");
    }
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  const seconds = (performance.now() - start) / 1000;
  return asked / seconds;
}
