import { stemmer as stemDanish } from "@orama/stemmers/danish";
import { stemmer as stemDutch } from "@orama/stemmers/dutch";
import { stemmer as stemFinnish } from "@orama/stemmers/finnish";
import { stemmer as stemFrench } from "@orama/stemmers/french";
import { stemmer as stemGerman } from "@orama/stemmers/german";
import { stemmer as stemGreek } from "@orama/stemmers/greek";
import { stemmer as stemHungarian } from "@orama/stemmers/hungarian";
import { stemmer as stemHindi } from "@orama/stemmers/indian";
import { stemmer as stemIndonesian } from "@orama/stemmers/indonesian";
import { stemmer as stemItalian } from "@orama/stemmers/italian";
import { stemmer as stemNorwegian } from "@orama/stemmers/norwegian";
import { stemmer as stemPortuguese } from "@orama/stemmers/portuguese";
import { stemmer as stemRomanian } from "@orama/stemmers/romanian";
import { stemmer as stemRussian } from "@orama/stemmers/russian";
import { stemmer as stemSpanish } from "@orama/stemmers/spanish";
import { stemmer as stemSwedish } from "@orama/stemmers/swedish";
import { stemmer as stemTamil } from "@orama/stemmers/tamil";
import { stemmer as stemTurkish } from "@orama/stemmers/turkish";
import { stemmer as stemUkrainian } from "@orama/stemmers/ukrainian";
import { stemmer as stemEnglish } from "stemmer";
import abbreviations from "./abbreviations.json" with { type: "json" };
import { fold } from "./fold.ts";
import irregularForms from "./irregular-forms.json" with { type: "json" };
import { isFunctionWord, type Language, LANGUAGES } from "./languages.ts";
import { NUMBERS } from "./numbers.ts";
import { isKnownStem } from "./spelling.ts";
import stemRules from "./stem-rules.json" with { type: "json" };
import data from "./word-forms.json" with { type: "json" };

/** A word in its forms: as written but folded, as stored, and as the full-text index stems it. */
export interface WordForm {
  /** The word as written, folded: a match of this is exact. */
  folded: string;
  /** What the full-text index stores, and is asked for. */
  base: string;
  /** Stem of `base`: what is compared to find a query's word in a text. */
  stem: string;
}

const asIs = (word: string) => word;
type Inflected = Exclude<Language, "en">;

/**
 * Letters that keep stems of languages apart ("wand" is a German stem of "wanderer"), and stemmers
 * of Snowball. Polish and Czech have none: only rules.
 */
const STEMMERS: Record<Inflected, [prefix: string, stem: (word: string) => string]> = {
  de: ["ɖ", stemGerman],
  // Twice: "boulangère" gives "boulanger", which gives "boulang".
  fr: ["ɸ", (word) => stemFrench(stemFrench(word))],
  es: ["ɛ", stemSpanish],
  it: ["ɩ", stemItalian],
  pt: ["ɔ", stemPortuguese],
  nl: ["ɳ", stemDutch],
  sv: ["ɕ", stemSwedish],
  da: ["ɗ", stemDanish],
  no: ["ɲ", stemNorwegian],
  fi: ["ɟ", stemFinnish],
  hu: ["ɦ", (word) => stemHungarian(word.length > LONG ? stemHungarian(word) : word)],
  ro: ["ɾ", stemRomanian],
  tr: ["ʈ", stemTurkish],
  id: ["ɨ", stemIndonesian],
  pl: ["ɫ", asIs],
  cs: ["ʂ", asIs],
};
export const PREFIXES: readonly string[] = Object.values(STEMMERS).map(([prefix]) => prefix);
const LONG = 6;
/** Languages whose stemmers need accents. Those of others are left out in many texts. */
const ACCENTED: ReadonlySet<Language> = new Set(["de", "fr", "hu", "ro", "tr"]);

/** What is replaced before and after a stemmer, and endings of which the first that fits is. */
interface StemRules {
  before: Rule[];
  endings: Rule[];
  after: Rule[];
}
type Rule = [pattern: RegExp, replacement: string];

const toRules = (lines: string[][] = []) =>
  lines.map(([pattern, replacement]): Rule => [new RegExp(pattern!, "gu"), replacement!]);
const RULES = new Map(
  Object.entries(stemRules as Record<string, Partial<Record<keyof StemRules, string[][]>>>).map(
    ([key, { before, endings, after }]): [string, StemRules] => {
      return [key, { before: toRules(before), endings: toRules(endings), after: toRules(after) }];
    },
  ),
);

/** Stems a word by the rules of a language or a script and by its stemmer. */
function stemBy(key: string, word: string, stemmer: (word: string) => string): string {
  const { before, endings, after } = RULES.get(key)!;
  const replaceAll = (text: string, rules: readonly Rule[]) =>
    rules.reduce((replaced, [pattern, to]) => replaced.replaceAll(pattern, to), text);
  const spelled = replaceAll(word, before);
  const [ending, to = ""] = endings.find(([pattern]) => spelled.search(pattern) >= 0) ?? [];
  const stem = ending ? spelled.replace(ending, to) : stemmer(spelled);
  return replaceAll(fold(stem), after) || fold(word);
}

/** Scripts, each with the stemmer of the language that most of its words here are in. */
const SCRIPTS: readonly (readonly [string, RegExp, (folded: string) => string])[] = [
  // The stemmer isn't the same for each call with one of these endings.
  ["Ukrainian", /^(?=.*(?:ост[ьі]?$))(?=.*[іїєґ])\p{Script=Cyrillic}+$/u, asIs],
  ["Ukrainian", /^(?=.*(?:[іїєґ]|[аи]ти$|[ая]ють$))\p{Script=Cyrillic}+$/u, stemUkrainian],
  ["Cyrillic", /^\p{Script=Cyrillic}+$/u, stemRussian],
  ["Greek", /^\p{Script=Greek}+$/u, stemGreek],
  ["Arabic", /^\p{Script=Arabic}+$/u, asIs],
  ["Hebrew", /^\p{Script=Hebrew}+$/u, asIs],
  ["Armenian", /^\p{Script=Armenian}+$/u, asIs],
  ["Georgian", /^\p{Script=Georgian}+$/u, asIs],
  ["Devanagari", /^[\p{Script=Devanagari}\p{M}]+$/u, stemHindi],
  ["Bengali", /^[\p{Script=Bengali}\p{M}]+$/u, asIs],
  ["Tamil", /^[\p{Script=Tamil}\p{M}]+$/u, stemTamil],
];
/** Scripts whose letters are consonants with marks, so that two are a stem. */
const MIN_STEM = 3;
const MIN_SYLLABLES = 2;

/** Stems a folded word by its script. Words of other scripts stay. */
function stemByScript(folded: string): string {
  const [key, pattern, stemmer] = SCRIPTS.find(([, script]) => script.test(folded)) ?? [];
  if (key === undefined) return folded;
  const stem = stemBy(key, folded, stemmer!);
  const minLetters = /M/.test(pattern!.source) || key === "Armenian" ? MIN_SYLLABLES : MIN_STEM;
  return toRegularStem("scripts", stem.length < minLetters ? folded : stem);
}

/** Stems of irregular forms by language, and of the first form of their word. */
const irregularStems = new Map<string, Map<string, string>>();

/** Returns the stem of an irregular word's first form for another: "sang" is of "singen". */
function toRegularStem(key: string, stem: string): string {
  const list = key === "sv" || key === "da" || key === "no" ? "scandinavian" : key;
  const lines = (irregularForms as Record<string, string[]>)[list] ?? [];
  let stems = irregularStems.get(key);
  if (stems === undefined) {
    stems = new Map();
    irregularStems.set(key, stems); // empty while its own forms are stemmed
    const own = new Map<string, string>();
    for (const line of lines) {
      const [first, ...others] = line.split(" ").map((form) => stemOf(key, form));
      for (const other of others) if (!own.has(other)) own.set(other, first!);
    }
    for (const [other, first] of own) if (other !== first) stems.set(other, first);
  }
  return stems.get(stem) ?? stem;
}

function stemOf(key: string, form: string): string {
  if (key === "scripts") return stemByScript(fold(form));
  const language = key as Inflected;
  return stemBy(key, ACCENTED.has(language) ? form : fold(form), STEMMERS[language][1]);
}

const MAX_CACHED = 30_000;
const caches = new Map(LANGUAGES.map((language) => [language, new Map<string, WordForm>()]));

/** Returns the cached forms of a word: a search reads thousands of words, most of them often. */
export function wordForm(written: string, language: Language): WordForm {
  const cache = caches.get(language)!;
  const cached = cache.get(written);
  if (cached) return cached;
  const form = makeForm(written, language);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(written, form);
  return form;
}

/** Longer words stay as they are: stemmers take the square of a word's length. */
const MAX_LETTERS = 64;

/** Makes the forms of a word, without the cache. */
export function makeForm(written: string, language: Language): WordForm {
  const folded = fold(written);
  if (folded.length > MAX_LETTERS) return { folded, base: folded, stem: folded };
  const base = readRoman(written) ?? baseForm(written, folded, language);
  return { folded, base, stem: stemEnglish(base) };
}

/** Returns the forms of a term of the index that isn't a word of a language, such as a number. */
export function termForm(term: string): WordForm {
  return { folded: term, base: term, stem: stemEnglish(term) };
}

function baseForm(written: string, folded: string, language: Language): string {
  if (!/^[a-z]+$/.test(folded)) return stemByScript(folded);
  if (folded === "percent") return folded;
  if (language === "en") return toEnglishBase(folded);
  const [prefix] = STEMMERS[language];
  // A letter behind a function word keeps it from being stemmed: "dans" is no form of "danser".
  if (isFunctionWord(folded, language)) return prefix + folded + prefix;
  const own = toRegularStem(language, stemOf(language, written.toLowerCase().normalize("NFC")));
  const stem = prefix + own;
  // Nor is a stem stemmed once more, as if it were English.
  return stemEnglish(stem) === stem ? stem : stem + prefix + prefix;
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

/** Facts of English words by WordNet, made by `npm run word-forms`: two words a line. */
export interface WordFormData {
  /** An irregular form and its base form: "women woman". */
  irregular: string[];
  /** The stem of a British spelling and an American word: "harbour harbor". */
  spellings: string[];
  /** A short compound that is also written as two words, and the first: "onboard on". */
  compounds: string[];
  /** A word, and the number of its family among the words of its stem. */
  families: string[];
}

const toMap = (lines: readonly string[]) =>
  new Map(lines.map((line) => line.trim().split(" ") as [string, string]));
const { irregular, spellings, compounds, families }: WordFormData = data;
const IRREGULAR = toMap(irregular);
const SPELLINGS = toMap(spellings);
const COMPOUNDS = toMap(compounds);
const FAMILIES = toMap(families);
/** Abbreviations with one meaning, and what they stand for. */
const ABBREVIATIONS = new Map(Object.entries(abbreviations.words));

/**
 * Returns the normal form of a folded English word: the base form of an irregular one, the American
 * spelling, a number in digits, an abbreviation in full. The stemmer does the rest.
 */
function toEnglishBase(word: string): string {
  if (ELONGATED.test(word)) return toEnglishBase(shorten(word));
  const base =
    NUMBERS.get(word) ??
    ABBREVIATIONS.get(word) ??
    IRREGULAR.get(word) ??
    IRREGULAR.get(word.replace(/s$/, ""));
  return base ?? SPELLINGS.get(stemEnglish(word)) ?? word;
}

/** A letter three times, as no English word has it: "gooooal", "sooo". */
// bounded: MAX_LETTERS
const ELONGATED = /(?!w|i+$|x+$)([a-z])\1\1/;

/** Writes letters of an elongated word once, or twice if a dictionary has only that word. */
function shorten(word: string): string {
  // bounded: MAX_LETTERS
  const once = word.replaceAll(/([a-z])\1\1+/g, "$1");
  // bounded: MAX_LETTERS
  const twice = word.replaceAll(/([a-z])\1\1+/g, "$1$1");
  return !isKnownStem(stemEnglish(once)) && isKnownStem(stemEnglish(twice)) ? twice : once;
}

/** Returns the two words that a short compound is also written as; null if it isn't one. */
export function partsOfCompound(word: string): [string, string] | null {
  const first = COMPOUNDS.get(word);
  return first === undefined ? null : [first, word.slice(first.length)];
}

/**
 * Tests whether two words of the same stem mean unrelated things: "universe" and "university".
 * Words that WordNet doesn't know are related to all, and so are inflected forms.
 */
export function areUnrelated(a: Omit<WordForm, "stem">, b: Omit<WordForm, "stem">): boolean {
  const [first, second] = [familyOf(a), familyOf(b)];
  if (first === null || second === null || first === second) return false;
  return !isInflected(a.folded, b.folded) && !isInflected(b.folded, a.folded);
}

/** Endings of inflected forms, and what base forms may have instead. */
const INFLECTIONS: readonly (readonly [RegExp, string])[] = [
  [/$/, ""],
  [/s$/, ""],
  [/es$/, ""],
  [/ies$/, "y"],
  [/(?:ed|ing)$/, ""],
  [/(?:ed|ing)$/, "e"],
  [/ied$/, "y"],
  [/(.)\1(?:ed|ing)$/, "$1"],
];

/** Tests whether a word is "changed" or "changing" of another, whatever else it means. */
function isInflected(word: string, base: string): boolean {
  if (!/(?:ed|ing)$/.test(word)) return false;
  return INFLECTIONS.some(([ending, replacement]) => word.replace(ending, replacement) === base);
}

function familyOf({ folded, base }: Omit<WordForm, "stem">): string | null {
  for (const word of [folded, base]) {
    for (const [ending, replacement] of INFLECTIONS) {
      const family = ending.test(word) && FAMILIES.get(word.replace(ending, replacement));
      if (family) return family;
    }
  }
  return null;
}
