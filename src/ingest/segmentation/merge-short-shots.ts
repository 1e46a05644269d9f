import { type TimeRangeMs, lengthMs } from "../../time-range.ts";

/** A shot in a doubly linked list. */
interface Shot extends TimeRangeMs {
  previous: Shot | null;
  next: Shot | null;
  /** Replaced by the shot that it was merged into. */
  isMerged: boolean;
}

/**
 * Merges the shortest shot (the first of several) with its shorter neighbour, for as long as
 * `shouldMerge` returns true for the shortest shot and for the number of segments of all shots.
 * `countSegments` counts those of one shot. At least one shot remains. Takes n log n steps.
 */
export function mergeShortShots(
  shots: readonly TimeRangeMs[],
  countSegments: (shot: TimeRangeMs) => number,
  shouldMerge: (shortest: TimeRangeMs, segmentCount: number) => boolean,
): TimeRangeMs[] {
  const list = toLinkedList(shots);
  const heap: Shot[] = [];
  for (const shot of list) push(heap, shot);
  let segmentCount = list.reduce((sum, shot) => sum + countSegments(shot), 0);
  for (let shortest = pop(heap); shortest; shortest = pop(heap)) {
    const { previous, next } = shortest;
    if (!previous && !next) break;
    if (!shouldMerge(shortest, segmentCount)) break;
    const isPrevious = previous && (!next || lengthMs(previous) <= lengthMs(next));
    const neighbour = (isPrevious ? previous : next)!;
    const [first, second] = isPrevious ? [neighbour, shortest] : [shortest, neighbour];
    const merged = merge(first, second);
    segmentCount += countSegments(merged) - countSegments(first) - countSegments(second);
    if (list[0] === first) list[0] = merged;
    push(heap, merged);
  }
  const result: TimeRangeMs[] = [];
  for (let shot = list[0] ?? null; shot; shot = shot.next) {
    result.push({ startMs: shot.startMs, endMs: shot.endMs });
  }
  return result;
}

function toLinkedList(shots: readonly TimeRangeMs[]): Shot[] {
  const list = shots.map(({ startMs, endMs }): Shot => {
    return { startMs, endMs, previous: null, next: null, isMerged: false };
  });
  for (const [i, shot] of list.entries()) {
    shot.previous = list[i - 1] ?? null;
    shot.next = list[i + 1] ?? null;
  }
  return list;
}

function merge(first: Shot, second: Shot): Shot {
  const { previous } = first;
  const { next } = second;
  const merged = { startMs: first.startMs, endMs: second.endMs, previous, next, isMerged: false };
  if (previous) previous.next = merged;
  if (next) next.previous = merged;
  first.isMerged = second.isMerged = true;
  return merged;
}

/* A binary heap, the shortest shot first (Williams, "Algorithm 232: Heapsort", 1964). */

function push(heap: Shot[], shot: Shot): void {
  let at = heap.length;
  for (; at > 0; at = (at - 1) >> 1) {
    const parent = heap[(at - 1) >> 1]!;
    if (!isShorter(shot, parent)) break;
    heap[at] = parent;
  }
  heap[at] = shot;
}

/** Removes and returns the shortest shot that isn't merged into another, undefined without one. */
function pop(heap: Shot[]): Shot | undefined {
  for (;;) {
    const [shortest] = heap;
    const last = heap.pop();
    if (!shortest || !last) return undefined;
    if (heap.length > 0) siftDown(heap, last);
    if (!shortest.isMerged) return shortest;
  }
}

function siftDown(heap: Shot[], shot: Shot): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child + 1 < heap.length && isShorter(heap[child + 1]!, heap[child]!)) child++;
    if (child >= heap.length || !isShorter(heap[child]!, shot)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = shot;
}

function isShorter(a: TimeRangeMs, b: TimeRangeMs): boolean {
  const difference = lengthMs(a) - lengthMs(b);
  return difference < 0 || (difference === 0 && a.startMs < b.startMs);
}
