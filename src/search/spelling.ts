import { confusions, edits } from "../normal-form/edits.ts";
import { fold } from "../normal-form/fold.ts";
import { type Language, LANGUAGES } from "../normal-form/function-words.ts";
import { isCommonStem, isKnownStem } from "../normal-form/known-words.ts";
import { makeForm } from "../normal-form/languages.ts";
import { transliterate } from "../normal-form/transliteration.ts";
import { countStems, hasSegmentWith } from "../store/index-database/find-segments.ts";
import type { DocumentFrequencies } from "../store/index-database/fulltext.ts";
import type { IndexDb } from "../store/index-database/index-database.ts";
import { type CompiledQuery, compileQuery } from "./query.ts";

/** Shorter words have too many neighbours; inflected languages have more of them. */
const MIN_LETTERS = 5;
const MIN_LETTERS_INFLECTED = 8;
/** Two edits make more neighbours. */
const MIN_LETTERS_TWO_EDITS = 8;
/** Longer ones would have too many edits. */
const MAX_LETTERS = 24;
/** Words of a query that are corrected. */
const MAX_WORDS = 3;
/** Words that may be meant instead of a common one, and are tried in the query. */
const MAX_TRIED = 3;

/** A word that may be meant, and its stem in a language. */
interface NearWord {
  word: string;
  stem: string;
}

/** A word of a query that the index doesn't have. */
interface AbsentWord {
  folded: string;
  /** A rare or common word of the dictionary is only corrected to one that it is confused with. */
  kind: "unknown" | "rare" | "common";
}

/**
 * Replaces words of a query that the index doesn't have by words of the index: one that no
 * dictionary has by its neighbour by one edit, or else by two; a rare one by a word that it is
 * confused with; a common one only if a segment has that and all other words. Of several takes the
 * commonest. Quoted and excluded words stay. Returns the corrected text; null if there is nothing
 * to correct.
 */
export async function correctQuery(
  databases: readonly IndexDb[],
  text: string,
  { terms, phrases, excluded }: CompiledQuery,
  frequencies: DocumentFrequencies,
): Promise<string | null> {
  if (frequencies.total === 0) return null;
  const literal = new Set([...phrases, ...excluded].flat());
  const absent = terms
    .absentWords(frequencies)
    .filter(({ folded: { length } }) => length >= MIN_LETTERS && length <= MAX_LETTERS)
    .filter(({ folded }) => !literal.has(folded))
    .map(({ folded, stem }): AbsentWord => {
      if (!isKnownStem(stem)) return { folded, kind: "unknown" };
      return { folded, kind: isCommonStem(stem) ? "common" : "rare" };
    })
    .filter(({ kind }) => kind !== "common" || terms.count > 1)
    .slice(0, MAX_WORDS);
  const near = await findPresent(databases, absent, ({ folded, kind }) => {
    return kind === "unknown" ? neighbours(folded) : confusedWith(folded);
  });
  const isLeft = ({ folded, kind }: AbsentWord) => kind !== "common" && !near.has(folded);
  const far = await findPresent(databases, absent.filter(isLeft), ({ folded, kind }) => {
    return kind === "unknown" ? distantNeighbours(folded) : otherNames(folded);
  });
  let corrected = text;
  for (const { folded, kind } of absent) {
    for (const word of (near.get(folded) ?? far.get(folded) ?? []).slice(0, MAX_TRIED)) {
      const replaced = replaceWord(corrected, folded, word);
      if (kind === "common" && !(await hasSegmentWithAll(databases, replaced))) continue;
      corrected = replaced;
      break;
    }
  }
  return corrected === text ? null : corrected;
}

const replaceWord = (text: string, folded: string, replacement: string) =>
  text.replaceAll(/[\p{L}\p{M}]+/gu, (word) => (fold(word) === folded ? replacement : word));

async function hasSegmentWithAll(databases: readonly IndexDb[], text: string): Promise<boolean> {
  return hasSegmentWith(databases, compileQuery(text).terms.formsByTerm);
}

/** Finds candidates that the index has: the commonest first, and of forms the shortest. */
async function findPresent(
  databases: readonly IndexDb[],
  words: readonly AbsentWord[],
  listCandidates: (word: AbsentWord) => NearWord[],
): Promise<Map<string, string[]>> {
  const lists = words.map((word) => [word.folded, listCandidates(word)] as const);
  const stems = new Set(lists.flatMap(([, candidates]) => candidates.map(({ stem }) => stem)));
  if (stems.size === 0) return new Map();
  const counts = await countStems(databases, [...stems]);
  const present = lists.map(([folded, candidates]) => {
    const otherEnd = ({ word }: NearWord) => Number(word.at(-1) !== folded.at(-1));
    const found = candidates
      .filter(({ stem }) => counts.has(stem))
      .toSorted((a, b) => {
        const difference = counts.get(b.stem)! - counts.get(a.stem)!;
        return difference || otherEnd(a) - otherEnd(b) || a.word.length - b.word.length;
      });
    const byStem = new Map(found.toReversed().map(({ stem, word }) => [stem, word]));
    return [folded, [...byStem.values()].toReversed()] as const;
  });
  return new Map(present.filter(([, found]) => found.length > 0));
}

/** Lists the words that one edit makes of one, or another spelling of a sound. */
function neighbours(folded: string): NearWord[] {
  const words = new Set([...edits(folded), ...confusions(folded)]);
  const spelled = [...words].filter((word) => !/(.)\1\1/.test(word));
  return spelled.flatMap((word) => toCandidates(word, folded.length));
}

function confusedWith(folded: string): NearWord[] {
  return confusions(folded)
    .filter((word) => !isOtherVerb(folded, word))
    .map((word) => toNearWord(word, "en"))
    .filter(({ stem }) => isCommonStem(stem));
}

/** Tests for a consonant doubled before an ending, by which verbs differ: "planing", "planning". */
function isOtherVerb(a: string, b: string): boolean {
  const undouble = (word: string) => word.replace(/([^aeiou])\1(?=(?:ing|ed|er)s?$)/, "$1");
  return undouble(a) === undouble(b);
}

/**
 * Lists names that one of the dictionary, such as "hanukkah", is written as in another way: words
 * that no dictionary has.
 */
function otherNames(folded: string): NearWord[] {
  const once = confusions(folded);
  const words = new Set(
    folded.length < MIN_LETTERS_TWO_EDITS ? once : [...once, ...once.flatMap(confusions)],
  );
  const names = [...words].map((word) => toNearWord(word, "en"));
  return names.filter(({ stem }) => !isCommonStem(stem)).concat(inOtherLetters(folded));
}

const inOtherLetters = (folded: string) =>
  transliterate(folded).map((word) => toNearWord(word, "en"));

/**
 * Lists words that are confused with one that a long word is confused with, and what a name is in
 * other letters.
 */
function distantNeighbours(folded: string): NearWord[] {
  const others = inOtherLetters(folded);
  if (folded.length < MIN_LETTERS_TWO_EDITS) return others;
  const words = new Set(confusions(folded).flatMap(confusions));
  return [...words].map((word) => toNearWord(word, "en")).concat(others);
}

/** Returns a word with its stem in English, and if it is long in all languages. */
function toCandidates(word: string, length: number): NearWord[] {
  const languages: readonly Language[] = length >= MIN_LETTERS_INFLECTED ? LANGUAGES : ["en"];
  return languages.map((language) => toNearWord(word, language));
}

function toNearWord(word: string, language: Language): NearWord {
  return { word, stem: makeForm(word, language).stem };
}
