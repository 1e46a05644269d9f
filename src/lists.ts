/*
 * Lists may have more items than a call may have arguments, some 120,000: they aren't spread into
 * `Math.max` or `push` (`scripts/check-spreads.ts`).
 */

/** Returns the greatest of `start` and some numbers. */
export function maxOf(numbers: Iterable<number>, start = -Infinity): number {
  let max = start;
  for (const number of numbers) max = Math.max(max, number);
  return max;
}

/** Returns the least of `start` and some numbers. */
export function minOf(numbers: Iterable<number>, start = Infinity): number {
  let min = start;
  for (const number of numbers) min = Math.min(min, number);
  return min;
}

/** Adds items to the end of a list. */
export function append<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}

/** Divides a list into groups of `size`, of which the last may be smaller. */
export function inGroups<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}

/**
 * Returns how many leading items pass, by binary search. All items that pass must come before those
 * that don't.
 */
export function partitionPoint<Item>(items: readonly Item[], passes: (item: Item) => boolean) {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (passes(items[middle]!)) from = middle + 1;
    else to = middle;
  }
  return from;
}
