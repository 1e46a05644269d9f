import { stemmer } from "stemmer";

/** Relation of two words from which on one stands for the other. */
export const MIN_RELATION = 0.5;

/** How a sentence has a term, and the words of it that do. */
interface TermMatch {
  term: string;
  kind: "stem" | "meaning" | null;
  words: string[];
}

export function matchStem(term: string, words: readonly string[]): TermMatch {
  return { term, kind: "stem", words: words.filter((word) => stemmer(word) === stemmer(term)) };
}

/**
 * Finds the words that are most closely related to each term. A word counts for one term only: for
 * that to which it is related most.
 */
export function matchMeanings(
  terms: readonly string[],
  words: readonly string[],
  relate: (term: string, word: string) => number,
): TermMatch[] {
  const [pending, free] = [new Set(terms), new Set(words)];
  const pairs = terms
    .flatMap((term) => words.map((word) => ({ term, word, relation: relate(term, word) })))
    .filter(({ relation }) => relation >= MIN_RELATION)
    .toSorted((a, b) => b.relation - a.relation);
  const matches: TermMatch[] = [];
  for (const { term, word, relation } of pairs) {
    if (!pending.has(term) || !free.has(word)) continue;
    const related = [...free].filter((other) => relate(term, other) >= relation);
    for (const other of related) free.delete(other);
    pending.delete(term);
    matches.push({ term, kind: "meaning", words: related });
  }
  return [...matches, ...[...pending].map((term) => ({ term, kind: null, words: [] }))];
}
