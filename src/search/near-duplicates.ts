import type { Segment } from "../types.ts";
import { uniqueWords } from "./query.ts";

/** The fields that near-duplicate detection compares. */
export interface NearDuplicateKey {
  segment: Pick<Segment, "segmentId" | "transcript" | "onScreenText">;
  /** Perceptual hash of the keyframe, 40 bits in two numbers; null if it is flat or unknown. */
  keyframeHash: readonly number[] | null;
}

/** Maximum Hamming distance of the hashes of near-duplicates, of 40 bits. */
const MAX_DIFFERENT_BITS = 2;
/** Minimum Jaccard index of the words of near-duplicates. */
const MIN_JACCARD = 0.8;

/**
 * Collapses near-duplicates into the first of them: candidates whose keyframes, speech and
 * on-screen text are nearly equal. `isExempt` candidates are never collapsed.
 */
export function collapseNearDuplicates<T extends NearDuplicateKey>(
  candidates: readonly T[],
  isExempt: (candidate: T) => boolean,
): { candidate: T; duplicates: string[] }[] {
  const unique: { candidate: T; duplicates: string[] }[] = [];
  const wordSets = new Map<T, Set<string>>();
  const wordSetOf = (candidate: T) => {
    const words = wordSets.get(candidate) ?? toWordSet(candidate);
    wordSets.set(candidate, words);
    return words;
  };
  for (const candidate of candidates) {
    const isNearDuplicate = ({ candidate: earlier }: { candidate: T }) =>
      isSimilarHash(earlier.keyframeHash, candidate.keyframeHash) &&
      isSimilarText(wordSetOf(earlier), wordSetOf(candidate));
    const first = isExempt(candidate) ? undefined : unique.find(isNearDuplicate);
    if (first) first.duplicates.push(candidate.segment.segmentId);
    else unique.push({ candidate, duplicates: [] });
  }
  return unique;
}

type KeyframeHash = NearDuplicateKey["keyframeHash"];

function isSimilarHash(a: KeyframeHash, b: KeyframeHash): boolean {
  if (a === null || a.length !== b?.length) return false;
  const distance = a.reduce((bits, part, i) => bits + countBits(part ^ b[i]!), 0);
  return distance <= MAX_DIFFERENT_BITS;
}

function countBits(value: number): number {
  let bits = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}

function isSimilarText(a: Set<string>, b: Set<string>): boolean {
  const shared = [...a].filter((word) => b.has(word)).length;
  const union = a.size + b.size - shared;
  return union === 0 || shared / union >= MIN_JACCARD;
}

function toWordSet({ segment }: NearDuplicateKey): Set<string> {
  return new Set(uniqueWords(`${segment.transcript} ${segment.onScreenText}`));
}
