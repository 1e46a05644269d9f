export interface Interval {
  start: number;
  end: number;
}

/** How well what was heard is what was said. */
export interface WordErrors {
  /** Words left out, put in or wrong. */
  errors: number;
  /** Words that were said. */
  words: number;
}

/** The fewest changes that make one text of the other (Levenshtein, 1966), without case and punctuation. */
export function countWordErrors(said: string, heard: string): WordErrors {
  const [truth, guess] = [listWords(said), listWords(heard)];
  let row = guess.map((_, at) => at + 1);
  for (const [line, word] of truth.entries()) {
    const above = [line, ...row];
    let left = line + 1;
    row = guess.map((other, at) => {
      const replaced = above[at]! + (word === other ? 0 : 1);
      left = Math.min(replaced, above[at + 1]! + 1, left + 1);
      return left;
    });
  }
  return { errors: row.at(-1) ?? truth.length, words: truth.length };
}

/** Small letters and digits; an apostrophe inside a word belongs to it. */
function listWords(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replaceAll("’", "'")
      .match(/[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*/gu) ?? []
  );
}

/** How many seconds lie in both lists, neither of which overlaps itself. */
export function countShared(a: readonly Interval[], b: readonly Interval[]): number {
  const shared = a.flatMap((one) =>
    b.map((other) => Math.min(one.end, other.end) - Math.max(one.start, other.start)),
  );
  return shared.filter((seconds) => seconds > 0).reduce((sum, seconds) => sum + seconds, 0);
}

/** Seconds from each true start to the nearest one found. */
export function listOffsets(truth: readonly Interval[], found: readonly Interval[]): number[] {
  return truth.map(({ start }) => Math.min(...found.map((one) => Math.abs(one.start - start))));
}
