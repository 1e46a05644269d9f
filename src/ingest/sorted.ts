/** How many of the first items of a list pass, in which none does after one that doesn't. By binary search. */
export function countFirst<Item>(items: readonly Item[], passes: (item: Item) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (passes(items[middle]!)) from = middle + 1;
    else to = middle;
  }
  return from;
}
