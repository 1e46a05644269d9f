import { edits } from "../normal-form/edits.ts";
import { fold } from "../normal-form/fold.ts";
import { isKnownStem } from "../normal-form/known-words.ts";
import { type Language, LANGUAGES, makeForm } from "../normal-form/languages.ts";
import { countStems } from "../store/index-database/find-segments.ts";
import type { DocumentFrequencies } from "../store/index-database/fulltext.ts";
import type { IndexDb } from "../store/index-database/index-database.ts";
import type { CompiledQuery } from "./query.ts";

/** Shorter words have too many neighbours; inflected languages have more of them. */
const MIN_LETTERS: Record<Language, number> = { en: 5, de: 8, fr: 8 };
/** Longer ones would have too many edits. */
const MAX_LETTERS = 24;
/** Words of a query that are corrected. */
const MAX_WORDS = 3;

/**
 * Replaces words of a query that neither the index nor a dictionary has by words of the index that
 * differ by one edit: by the commonest, and the shortest of its forms. Quoted and excluded words
 * stay. Returns the corrected text; null if there is nothing to correct.
 */
export async function correctQuery(
  databases: readonly IndexDb[],
  text: string,
  { terms, phrases, excluded }: CompiledQuery,
  frequencies: DocumentFrequencies,
): Promise<string | null> {
  if (frequencies.total === 0) return null;
  const literal = new Set([...phrases, ...excluded].flat());
  const misspelled = terms
    .absentWords(frequencies)
    .filter(({ folded, stem }) => {
      const { length } = folded;
      const isLong = length >= MIN_LETTERS.en && length <= MAX_LETTERS;
      return isLong && !literal.has(folded) && !isKnownStem(stem);
    })
    .slice(0, MAX_WORDS)
    .map(({ folded }) => ({ folded, candidates: listCandidates(folded) }));
  const stems = misspelled.flatMap(({ candidates }) => candidates.map(({ stem }) => stem));
  if (stems.length === 0) return null;
  const counts = await countStems(databases, stems);
  const corrections = new Map<string, string>();
  for (const { folded, candidates } of misspelled) {
    const [best] = candidates
      .filter(({ stem }) => counts.has(stem))
      .toSorted((a, b) => {
        const difference = counts.get(b.stem)! - counts.get(a.stem)!;
        return difference || a.word.length - b.word.length;
      });
    if (best) corrections.set(folded, best.word);
  }
  if (corrections.size === 0) return null;
  return text.replaceAll(/[\p{L}\p{M}]+/gu, (word) => corrections.get(fold(word)) ?? word);
}

/** Lists the words that one edit makes of one, with their stems by language. */
function listCandidates(folded: string): { word: string; stem: string }[] {
  const languages = LANGUAGES.filter((language) => folded.length >= MIN_LETTERS[language]);
  return edits(folded).flatMap((word) =>
    languages.map((language) => ({ word, stem: makeForm(word, language).stem })),
  );
}
