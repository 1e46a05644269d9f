import type { TimeRange } from "../src/time-range.ts";

/** Errors of a recognised transcript against its reference. */
export interface WordErrors {
  /** Deletions, insertions and substitutions. */
  errorCount: number;
  /** Words of the reference. */
  wordCount: number;
}

/** Counts word errors by edit distance (Levenshtein, 1966), ignoring case and punctuation. */
export function countWordErrors(reference: string, recognized: string): WordErrors {
  const [expected, actual] = [listWords(reference), listWords(recognized)];
  let row = actual.map((_, at) => at + 1);
  for (const [line, word] of expected.entries()) {
    const above = [line, ...row];
    let previous = line + 1;
    row = actual.map((other, at) => {
      const replaced = above[at]! + (word === other ? 0 : 1);
      previous = Math.min(replaced, above[at + 1]! + 1, previous + 1);
      return previous;
    });
  }
  return { errorCount: row.at(-1) ?? expected.length, wordCount: expected.length };
}

/** Splits text into lower-case words; an apostrophe inside a word belongs to it. */
function listWords(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replaceAll("’", "'")
      .match(/[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*/gu) ?? []
  );
}

/** Sums the seconds that lie in both lists. Neither list may overlap itself. */
export function countOverlapSeconds(a: readonly TimeRange[], b: readonly TimeRange[]): number {
  const shared = a.flatMap((one) =>
    b.map((other) => Math.min(one.end, other.end) - Math.max(one.start, other.start)),
  );
  return shared.filter((seconds) => seconds > 0).reduce((sum, seconds) => sum + seconds, 0);
}

/** Lists the seconds from each reference start to the nearest recognised one. */
export function listStartOffsets(
  expected: readonly TimeRange[],
  found: readonly TimeRange[],
): number[] {
  return expected.map(({ start }) => Math.min(...found.map((one) => Math.abs(one.start - start))));
}
