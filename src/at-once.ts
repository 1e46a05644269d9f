/** That a Worker may have waiting at a time. */
export const CONNECTIONS = 6;

/** What `work` makes of each item, in their order; at most `limit` of them are under way at a time. */
export async function mapAtOnce<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const workOn = async () => {
    for (const [at, item] of queue) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: limit }, workOn));
  return results;
}
