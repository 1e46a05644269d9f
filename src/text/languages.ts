import { detectAll } from "tinyld/light";
import { fold } from "./fold.ts";
import words from "./function-words.json" with { type: "json" };

const { stop, more, ...functionWords } = words;
export type Language = keyof typeof functionWords;
/** Languages in Latin letters that are stemmed. Words of others are stemmed as English. */
export const LANGUAGES = Object.keys(functionWords) as Language[];

/** Returns the language of a tag (BCP 47); English for null and for languages without a stemmer. */
export function toLanguage(tag: string | null | undefined): Language {
  const [primary = ""] = (tag ?? "").toLowerCase().split("-");
  const code = primary === "nb" || primary === "nn" ? "no" : primary;
  return LANGUAGES.find((language) => language === code) ?? "en";
}

const FOLDED = new Map(
  LANGUAGES.map((language) => [language, new Set(fold(words[language]).split(" "))]),
);

/** Tests whether a folded word is a function word of a language. */
export function isFunctionWord(folded: string, language: Language): boolean {
  return FOLDED.get(language)!.has(folded);
}

/** Tests whether a text has function words of a language without their marks: "nao". */
export function lacksMarks(text: string, language: Language): boolean {
  const own = new Set(words[language].split(" "));
  const found =
    text
      .toLowerCase()
      .normalize("NFC")
      .match(/[\p{L}\p{M}]+/gu) ?? [];
  return found.some((word) => isFunctionWord(word, language) && !own.has(word));
}

function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{M}]+/gu) ?? [];
}

/** Characters of a text by which its language is guessed. */
const SAMPLE_CHARACTERS = 600;
/** What a function word of a language adds to the confidence of the detector, 0-1. */
const FUNCTION_WORD = 0.3;
/** What a text in English has in advance: captions and labels are in English. */
const ENGLISH_LEAD = 0.1;

/**
 * Guesses the language of a text by its n-grams and its function words. English if nothing says
 * anything, and for languages without a stemmer.
 */
export function guessLanguage(text: string): Language {
  const sample = text.slice(0, SAMPLE_CHARACTERS);
  if (!/\p{Script=Latin}/u.test(sample)) return "en";
  const found = wordsOf(sample);
  const detected = new Map(detectAll(sample).map(({ lang, accuracy }) => [lang, accuracy]));
  let best: Language = "en";
  let highest = 0;
  for (const language of LANGUAGES) {
    const count = found.filter((word) => isFunctionWord(word, language)).length;
    const known = (detected.get(language) ?? 0) + (language === "en" ? ENGLISH_LEAD : 0);
    const score = known + FUNCTION_WORD * count;
    if (score > highest) [best, highest] = [language, score];
  }
  return best;
}

const STOP_WORDS = new Set(stop.split(" "));

/** Tests whether a folded word is a stop word: it matches only if a query has no others. */
export function isStopWord(folded: string): boolean {
  return STOP_WORDS.has(folded);
}

const ENGLISH = new Set([words.en, stop, more].join(" ").toLowerCase().split(" "));

/**
 * Tests whether a folded word is an English function word in a wide sense: an article, a pronoun, a
 * preposition, a conjunction or an adverb, which a sentence in other words need not have.
 */
export function isEnglishFunctionWord(folded: string): boolean {
  return ENGLISH.has(folded);
}

/** Scripts other than Latin. The first that has a third of a text's letters is the text's own. */
const SCRIPTS = [
  ["Jpan", /[\p{sc=Hiragana}\p{sc=Katakana}]/gu],
  ["Kore", /\p{sc=Hangul}/gu],
  ["Hani", /\p{sc=Han}/gu],
  ["Cyrl", /\p{sc=Cyrillic}/gu],
  ["Grek", /\p{sc=Greek}/gu],
  ["Arab", /\p{sc=Arabic}/gu],
  ["Hebr", /\p{sc=Hebrew}/gu],
  ["Deva", /\p{sc=Devanagari}/gu],
  ["Thai", /\p{sc=Thai}/gu],
] as const;
const SCRIPT_ALIASES: Readonly<Record<string, string>> = { Hans: "Hani", Hant: "Hani" };

/**
 * Returns the script of a text, such as `Cyrl`, or its language if that is Latin, such as `de`.
 * English for a text without a function word of the language that it is guessed to be in.
 */
export function detectLanguage(text: string): string {
  const letterCount = text.match(/\p{L}/gu)?.length ?? 0;
  const script = SCRIPTS.find(([, letter]) => {
    return letterCount > 0 && (text.match(letter)?.length ?? 0) >= letterCount / 3;
  });
  if (script) return script[0];
  const language = guessLanguage(text);
  return wordsOf(text).some((word) => isFunctionWord(word, language)) ? language : "en";
}

/**
 * Converts the name ("German", "Deutsch") or tag (`de-AT`) of a language as `detectLanguage` does.
 * Null for other text.
 */
export function parseLanguage(text: string): string | null {
  const name = text.trim().toLowerCase();
  const named = LANGUAGES.find((language) => namesOf(language).includes(name));
  if (named) return named;
  try {
    const { language, script = "Latn" } = new Intl.Locale(text.trim()).maximize();
    return script === "Latn" ? language : (SCRIPT_ALIASES[script] ?? script);
  } catch {
    return null;
  }
}

function namesOf(language: string): string[] {
  return ["en", language].map((inLanguage) => {
    const names = new Intl.DisplayNames(inLanguage, { type: "language" });
    return (names.of(language) ?? language).toLowerCase();
  });
}
