import type { Segment } from "../types.ts";
import { wordsOf } from "./query.ts";

/** A candidate as far as near-duplicates go by it. */
export interface Showing {
  segment: Pick<Segment, "segmentId" | "transcript" | "onScreenText">;
  /** Bits that say what its keyframe looks like, in pieces; null where that is flat or unknown. */
  look: readonly number[] | null;
}

/** Bits in which two pictures of one thing may differ, of 40. */
const MOST_BITS = 2;
/** Words that two texts must share to be the same, of those in either. */
const LEAST_SHARED = 0.8;

/**
 * Near-duplicates as one: a candidate that shows, says and has written on it what one before it does
 * is left out, and named on that one. Those that `isKept` stay in any case.
 */
export function collapse<T extends Showing>(
  candidates: readonly T[],
  isKept: (candidate: T) => boolean,
): { candidate: T; duplicates: string[] }[] {
  const shown: { candidate: T; duplicates: string[] }[] = [];
  const read = new Map<T, Set<string>>();
  const wordsIn = (one: T) => {
    const words = read.get(one) ?? wordSetOf(one);
    read.set(one, words);
    return words;
  };
  for (const candidate of candidates) {
    const isSame = ({ candidate: one }: { candidate: T }) =>
      isLike(one.look, candidate.look) && isSameSet(wordsIn(one), wordsIn(candidate));
    const first = isKept(candidate) ? undefined : shown.find(isSame);
    if (first) first.duplicates.push(candidate.segment.segmentId);
    else shown.push({ candidate, duplicates: [] });
  }
  return shown;
}

function isLike(one: Showing["look"], other: Showing["look"]): boolean {
  if (one === null || one.length !== other?.length) return false;
  return one.reduce((bits, piece, i) => bits + countBits(piece ^ other[i]!), 0) <= MOST_BITS;
}

function countBits(value: number): number {
  let bits = 0;
  for (let left = value; left !== 0; left &= left - 1) bits++;
  return bits;
}

/** By their Jaccard index. */
function isSameSet(one: Set<string>, other: Set<string>): boolean {
  const shared = [...one].filter((word) => other.has(word)).length;
  const either = one.size + other.size - shared;
  return either === 0 || shared / either >= LEAST_SHARED;
}

function wordSetOf({ segment }: Showing): Set<string> {
  return new Set(wordsOf(`${segment.transcript} ${segment.onScreenText}`));
}
