/**
 * Returns how many leading items pass, by binary search. All items that pass must come before those
 * that don't.
 */
export function partitionPoint<Item>(
  items: readonly Item[],
  passes: (item: Item) => boolean,
): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (passes(items[middle]!)) from = middle + 1;
    else to = middle;
  }
  return from;
}
