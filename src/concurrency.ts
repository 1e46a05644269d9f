/** Connections a Worker may wait for at once (Workers limit: six). */
export const CONNECTIONS = 6;

/**
 * Maps items by an asynchronous function, at most `concurrency` at a time. Results are in the order
 * of the items. Rejects with the first error.
 */
export async function mapConcurrent<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  mapItem: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const drainQueue = async () => {
    for (const [i, item] of queue) results[i] = await mapItem(item);
  };
  await Promise.all(Array.from({ length: concurrency }, drainQueue));
  return results;
}
