import { stemmer as stemEnglish } from "stemmer";
import { isClockWord } from "./clock-words.ts";
import { isMonthName } from "./day-words.ts";
import { fold } from "./fold.ts";
import { isFunctionWord, type Language, LANGUAGES } from "./function-words.ts";
import { languageScores } from "./guess-language.ts";
import { type NumberWord, readNumberWord } from "./number-words.ts";
import { isNumberWord } from "./numbers.ts";
import { stemByScript, STEMMERS } from "./stemmers.ts";
import { toBaseForm } from "./word-forms.ts";

/** A word in its forms: as written but folded, as stored, and as the full-text index stems it. */
export interface WordForm {
  /** The word as written, folded: a match of this is exact. */
  folded: string;
  /** What the full-text index stores, and is asked for. */
  base: string;
  /** Stem of `base`: what is compared to find a query's word in a text. */
  stem: string;
  /** What the word is in a number, a time or a date in words. */
  number?: NumberWord | undefined;
}

const OTHER: NumberWord = { kind: "other", value: 0 };

/** Letters that keep stems of languages apart: "wand" is a German stem of "wanderer". */
export const PREFIXES: Record<Exclude<Language, "en">, string> = {
  de: "ɖ",
  fr: "ɸ",
  es: "ɛ",
  it: "ɩ",
  pt: "ɔ",
  nl: "ɳ",
  scandinavian: "ɕ",
  fi: "ɟ",
  hu: "ɦ",
  ro: "ɾ",
  tr: "ʈ",
  id: "ɨ",
  pl: "ɫ",
  cs: "ʂ",
};

/** A word as written, with its forms by language as far as they were needed. */
export interface Word extends Record<Language, WordForm | null> {
  written: string;
  /** What the word says for each language, by its place in `LANGUAGES`. */
  scores: Float32Array;
  /** Whether it has only Latin letters, and is no word of dates or numbers. */
  isPlain: boolean;
}

const LATIN = /^(?:[a-z]+|[\p{Script=Latin}\p{M}]+)$/iu;
const MAX_CACHED = 30_000;
const cache = new Map<string, Word>();
const NO_FORMS = Object.fromEntries(LANGUAGES.map((one) => [one, null])) as Record<Language, null>;

/** Returns the cached record of a word: a search reads thousands of words, most of them often. */
export function toWord(written: string): Word {
  const cached = cache.get(written);
  if (cached) return cached;
  const isPlain = LATIN.test(written) && !isNumberWord(written.toLowerCase());
  const word = { isPlain, written, scores: languageScores(written), ...NO_FORMS };
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(written, word);
  return word;
}

/** Returns the forms of a word in a language. */
export function wordForm(word: string | Word, language: Language): WordForm {
  const cached = typeof word === "string" ? toWord(word) : word;
  return (cached[language] ??= makeForm(cached.written, language));
}

/** Makes the forms of a word, without the cache. */
export function makeForm(written: string, language: Language): WordForm {
  const folded = fold(written);
  const base = baseForm(written, folded, language);
  const form = { folded, base, stem: stemEnglish(base) };
  const isOther = isClockWord(folded, language) || isMonthName(folded);
  const number = readNumberWord(folded, language) ?? (isOther ? OTHER : null);
  return number ? { ...form, number } : form;
}

/** A Roman number; one of two letters in capitals, since others are words. */
const ROMAN = /^(?=...|[IVX]{2})(x{0,3})(ix|iv|v?i{0,3})$/i;
const ROMAN_UNITS = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"];

function readRoman(word: string): string | null {
  const [, tens = "", units = ""] = ROMAN.exec(word) ?? [];
  const isOther = tens + units === "" || (/^..$/.test(word) && word !== word.toUpperCase());
  if (isOther || /^x+$/i.test(word)) return null;
  return String(10 * tens.length + ROMAN_UNITS.indexOf(units.toLowerCase()));
}

function baseForm(word: string, folded: string, language: Language): string {
  const roman = readRoman(word);
  if (roman !== null) return roman;
  if (!/^[a-z]+$/.test(folded)) return stemByScript(folded);
  if (folded === "percent") return folded;
  if (language === "en") return toBaseForm(folded);
  const prefix = PREFIXES[language];
  // A letter behind a function word keeps it from being stemmed: "dans" is no form of "danser".
  if (isFunctionWord(folded, language)) return prefix + folded + prefix;
  const stem = prefix + (fold(STEMMERS[language](word.toLowerCase().normalize("NFC"))) || folded);
  // Nor is a stem stemmed once more, as if it were English.
  return stemEnglish(stem) === stem ? stem : stem + prefix + prefix;
}
