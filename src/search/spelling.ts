import { countStems } from "../store/index-database/find-segments.ts";
import type { IndexDb } from "../store/index-database/index-database.ts";
import { fold } from "../text/fold.ts";
import { type Language, LANGUAGES } from "../text/languages.ts";
import type { DocumentFrequencies } from "../text/query-terms.ts";
import { edits, isKnownStem } from "../text/spelling.ts";
import { makeForm } from "../text/stems.ts";
import type { CompiledQuery } from "./query.ts";

/** Shorter words have too many neighbours; inflected languages have more of them. */
const MIN_LETTERS = 5;
const MIN_LETTERS_INFLECTED = 8;
/** Longer ones would have too many edits. */
const MAX_LETTERS = 24;
/** Words of a query that are corrected. */
const MAX_WORDS = 3;

/** A word that may be meant, and its stem in a language. */
interface NearWord {
  word: string;
  stem: string;
}

/**
 * Replaces words of a query that neither the index nor a dictionary has by the commonest word of
 * the index that is one edit away. Quoted and excluded words stay. Returns the corrected text; null
 * if there is nothing to correct.
 */
export async function correctQuery(
  databases: readonly IndexDb[],
  text: string,
  { terms, phrases, excluded }: CompiledQuery,
  frequencies: DocumentFrequencies,
): Promise<string | null> {
  if (frequencies.total === 0) return null;
  const literal = new Set([...phrases, ...excluded].flat());
  const unknown = terms
    .absentWords(frequencies)
    .filter(({ folded: { length } }) => length >= MIN_LETTERS && length <= MAX_LETTERS)
    .filter(({ folded, stem }) => !literal.has(folded) && !isKnownStem(stem))
    .slice(0, MAX_WORDS);
  const lists = unknown.map(({ folded }) => ({ folded, near: neighbours(folded) }));
  const stems = new Set(lists.flatMap(({ near }) => near.map(({ stem }) => stem)));
  if (stems.size === 0) return null;
  const counts = await countStems(databases, [...stems]);
  let corrected = text;
  for (const { folded, near } of lists) {
    const replacement = commonest(folded, near, counts);
    if (replacement !== null) corrected = replaceWord(corrected, folded, replacement);
  }
  return corrected === text ? null : corrected;
}

const replaceWord = (text: string, folded: string, replacement: string) =>
  text.replaceAll(/[\p{L}\p{M}]+/gu, (word) => (fold(word) === folded ? replacement : word));

/** Returns the neighbour that most segments have; of its forms the one with the same end. */
function commonest(
  folded: string,
  near: readonly NearWord[],
  counts: ReadonlyMap<string, number>,
): string | null {
  const otherEnd = ({ word }: NearWord) => Number(word.at(-1) !== folded.at(-1));
  const [first] = near
    .filter(({ stem }) => counts.has(stem))
    .toSorted((a, b) => {
      const difference = counts.get(b.stem)! - counts.get(a.stem)!;
      return difference || otherEnd(a) - otherEnd(b) || a.word.length - b.word.length;
    });
  return first?.word ?? null;
}

/** Lists the words that one edit makes of one, with their stems: of long words in all languages. */
function neighbours(folded: string): NearWord[] {
  const languages: readonly Language[] =
    folded.length >= MIN_LETTERS_INFLECTED ? LANGUAGES : ["en"];
  const words = edits(folded).filter((word) => !/(.)\1\1/.test(word));
  return words.flatMap((word) =>
    languages.map((language) => ({ word, stem: makeForm(word, language).stem })),
  );
}
