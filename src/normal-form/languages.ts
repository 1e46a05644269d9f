import { stemmer as stemFrench } from "@orama/stemmers/french";
import { stemmer as stemGerman } from "@orama/stemmers/german";
import { stemmer as stemEnglish } from "stemmer";
import { fold } from "./fold.ts";
import { isNumberWord } from "./numbers.ts";
import { toBaseForm } from "./word-forms.ts";

/** Languages with a stemmer of their own. All others are stemmed as English, mostly not at all. */
export const LANGUAGES = ["en", "de", "fr"] as const;
export type Language = (typeof LANGUAGES)[number];

/** Function words that tell languages apart. "other" are languages that share words with French. */
const FUNCTION_WORDS: Record<Language | "other", string> = {
  en: "the and of is in to a was on for with that it at by an are from this i you he she they we",
  de: `der die das und ist ein eine einen einer eines dem den des nicht mit auf für von vom im am zum
    zur sind wird wurde wir sie er es ich auch bei nach aus über unter oder aber jede jeder jedes`,
  fr: `le la les des une est et dans du au aux pour pas sur avec que qui ce cette sont il elle elles
    nous vous ont de un en devant sous chez`,
  other: `el los las una y en de la un por con del se es que il lo gli che di per non o os as um uma
    da do na no het een van op met og er på til av att och som i w z nie`,
};
type GuessedLanguage = Language | "other";
/** The languages of each function word, in lower case and capitalized. */
const LANGUAGES_OF_WORD = new Map<string, GuessedLanguage[]>();
for (const language of [...LANGUAGES, "other"] as const) {
  for (const lower of FUNCTION_WORDS[language].split(/\s+/)) {
    for (const word of [lower, lower[0]!.toUpperCase() + lower.slice(1)]) {
      LANGUAGES_OF_WORD.set(word, [...(LANGUAGES_OF_WORD.get(word) ?? []), language]);
    }
  }
}

/** A word in its forms: as written but folded, as stored, and as the full-text index stems it. */
export interface WordForm {
  /** The word as written, folded: a match of this is exact. */
  folded: string;
  /** What the full-text index stores, and is asked for. */
  base: string;
  /** Stem of `base`: what is compared to find a query's word in a text. */
  stem: string;
}

/** Letters that keep stems of languages apart: "wand" is a German stem of "wanderer". */
const PREFIXES = { de: "ɖ", fr: "ɸ" };

/** A word as written, with its forms by language as far as they were needed. */
export interface Word extends Record<Language, WordForm | null> {
  written: string;
  /** Whether it has only Latin letters without accents, and is no word of dates or numbers. */
  isPlain: boolean;
  /** Languages that have it as a function word. */
  languages: readonly GuessedLanguage[];
}

const MAX_CACHED = 30_000;
const NO_LANGUAGES: readonly GuessedLanguage[] = [];
const cache = new Map<string, Word>();

/** Returns the cached record of a word: a search reads thousands of words, most of them often. */
export function toWord(written: string): Word {
  const cached = cache.get(written);
  if (cached) return cached;
  const languages = LANGUAGES_OF_WORD.get(written) ?? NO_LANGUAGES;
  const isPlain = /^[a-z]+$/i.test(written) && !isNumberWord(written.toLowerCase());
  const word = { written, isPlain, languages, en: null, de: null, fr: null };
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(written, word);
  return word;
}

/** Guesses the language of words by the function words among them: English if it isn't clear. */
export function guessLanguage(words: readonly Word[]): Language {
  const counts = { en: 0, de: 0, fr: 0, other: 0 };
  for (const { languages } of words) for (const language of languages) counts[language]++;
  const { en, de, fr, other } = counts;
  if (de > Math.max(en, fr, other)) return "de";
  return fr > Math.max(en, de, other) ? "fr" : "en";
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
  return { folded, base, stem: stemEnglish(base) };
}

function baseForm(word: string, folded: string, language: Language): string {
  if (!/^[a-z]+$/.test(folded)) return folded;
  if (language === "en") return toBaseForm(folded);
  const lower = word.toLowerCase().normalize("NFC");
  const stem = fold(language === "de" ? toGermanStem(lower) : toFrenchStem(lower)) || folded;
  return PREFIXES[language] + stem;
}

/** The stemmer leaves "innen"; "ue" for "ü" is read as in its variant "german2". */
function toGermanStem(word: string): string {
  const spelled = word
    .replaceAll("ae", "ä")
    .replaceAll("oe", "ö")
    .replaceAll(/(?<!q)ue/g, "ü");
  return stemGerman(spelled.replaceAll("ß", "ss").replace(/innen$/, "in"));
}

/** Twice: "boulangère" gives "boulanger", which gives "boulang". */
function toFrenchStem(word: string): string {
  return stemFrench(stemFrench(word.replaceAll("œ", "oe")));
}
