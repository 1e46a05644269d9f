import { type Cut, lengthOf } from "./cut.ts";

interface Shot extends Cut {
  before: Shot | null;
  after: Shot | null;
  /** Part of another one by now. */
  isJoined: boolean;
}

/**
 * Joins the shortest of neighbouring shots (the first of those that are equally short) to its shorter
 * neighbour, and so on for as long as `isToGo` says so of the shortest that is left and of all there are,
 * in pieces as `piecesOf` counts them. One shot is always left. Takes n log n steps.
 */
export function joinShortest(
  shots: readonly Cut[],
  piecesOf: (shot: Cut) => number,
  isToGo: (shortest: Cut, pieces: number) => boolean,
): Cut[] {
  const chain = toChain(shots);
  const heap: Shot[] = [];
  for (const shot of chain) push(heap, shot);
  let pieces = chain.reduce((sum, shot) => sum + piecesOf(shot), 0);
  for (let shortest = pop(heap); shortest; shortest = pop(heap)) {
    const { before, after } = shortest;
    if (!before && !after) break;
    if (!isToGo(shortest, pieces)) break;
    const isBefore = before && (!after || lengthOf(before) <= lengthOf(after));
    const neighbour = (isBefore ? before : after)!;
    const [first, second] = isBefore ? [neighbour, shortest] : [shortest, neighbour];
    const joined = join(first, second);
    pieces += piecesOf(joined) - piecesOf(first) - piecesOf(second);
    if (chain[0] === first) chain[0] = joined;
    push(heap, joined);
  }
  const left: Cut[] = [];
  for (let shot = chain[0] ?? null; shot; shot = shot.after) {
    left.push({ startMs: shot.startMs, endMs: shot.endMs });
  }
  return left;
}

function toChain(shots: readonly Cut[]): Shot[] {
  const chain = shots.map(({ startMs, endMs }): Shot => {
    return { startMs, endMs, before: null, after: null, isJoined: false };
  });
  for (const [i, shot] of chain.entries()) {
    shot.before = chain[i - 1] ?? null;
    shot.after = chain[i + 1] ?? null;
  }
  return chain;
}

function join(first: Shot, second: Shot): Shot {
  const { before } = first;
  const { after } = second;
  const joined = { startMs: first.startMs, endMs: second.endMs, before, after, isJoined: false };
  if (before) before.after = joined;
  if (after) after.before = joined;
  first.isJoined = second.isJoined = true;
  return joined;
}

/* A binary heap, the shortest first (Williams, "Algorithm 232: Heapsort", 1964). */

function push(heap: Shot[], shot: Shot): void {
  let at = heap.length;
  for (; at > 0; at = (at - 1) >> 1) {
    const parent = heap[(at - 1) >> 1]!;
    if (!isShorter(shot, parent)) break;
    heap[at] = parent;
  }
  heap[at] = shot;
}

/** The shortest that is on its own still; undefined of none. */
function pop(heap: Shot[]): Shot | undefined {
  for (;;) {
    const [shortest] = heap;
    const last = heap.pop();
    if (!shortest || !last) return undefined;
    if (heap.length > 0) sink(heap, last);
    if (!shortest.isJoined) return shortest;
  }
}

function sink(heap: Shot[], shot: Shot): void {
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

function isShorter(a: Cut, b: Cut): boolean {
  const more = lengthOf(a) - lengthOf(b);
  return more < 0 || (more === 0 && a.startMs < b.startMs);
}
