import { stemmer } from "stemmer";
import { type Language, LANGUAGES, languagesWith } from "./function-words.ts";
import { isKnownStem } from "./known-words.ts";
import { addNgramScores } from "./language-ngrams.ts";
import { isVietnamese } from "./marks.ts";

/** Scores of languages by their place in `LANGUAGES`. */
type Scores = Float32Array;

const placeOf = (language: Language) => LANGUAGES.indexOf(language);
const ENGLISH_PLACE = placeOf("en");

/** What a function word of a language adds to the scores of n-grams, which are at most 300. */
const FUNCTION_WORD = 150;
/** What a word in a dictionary of English adds. */
const ENGLISH_WORD = 120;
/** What every text has for English: captions of models and labels are. */
const ENGLISH = 60;
/** What a letter of Vietnamese adds, which has no forms of words and is read as English. */
const VIETNAMESE = 1000;

/** What a letter adds that hardly another language has. */
const LETTER = 80;
const LETTERS: Partial<Record<Language, RegExp>> = {
  de: /ß/,
  es: /ñ/,
  pt: /[ãõ]/,
  scandinavian: /[æøå]/i,
  fi: /ää|öö|yö|äi/i,
  hu: /[őű]/i,
  ro: /[ățțș]/i,
  tr: /[ğışİ]/,
  pl: /[łąęśźżćń]/i,
  cs: /[čřůěďťň]/i,
};
const OWN_LETTERS = Object.entries(LETTERS).map(([language, letters]) => {
  return { place: placeOf(language as Language), letters };
});

/** Returns what a word as written says for each language. */
export function languageScores(written: string): Scores {
  const scores = new Float32Array(LANGUAGES.length);
  if (!/\p{Script=Latin}/u.test(written)) return scores;
  if (isVietnamese(written)) {
    scores[ENGLISH_PLACE]! += VIETNAMESE;
    return scores;
  }
  addNgramScores(written, scores);
  for (const language of languagesWith(written)) scores[placeOf(language)]! += FUNCTION_WORD;
  for (const { place, letters } of OWN_LETTERS) if (letters.test(written)) scores[place]! += LETTER;
  const isEnglish = /^[a-z]{3,}$/i.test(written) && isKnownStem(stemmer(written.toLowerCase()));
  if (isEnglish) scores[ENGLISH_PLACE]! += ENGLISH_WORD;
  return scores;
}

/** Sums of a text, which are used for one text after the other. */
const sums = new Float32Array(LANGUAGES.length);

function sumScores(words: readonly { scores: Scores }[]): void {
  sums.fill(0);
  sums[ENGLISH_PLACE] = ENGLISH;
  for (const { scores } of words) {
    for (let place = 0; place < sums.length; place++) sums[place]! += scores[place]!;
  }
}

/** Guesses the language of words: the one that they say most for. English if none says anything. */
export function guessLanguage(words: readonly { scores: Scores }[]): Language {
  sumScores(words);
  let best = ENGLISH_PLACE;
  for (let place = 0; place < sums.length; place++) if (sums[place]! > sums[best]!) best = place;
  return LANGUAGES[best]!;
}

/** Words of which fewer may be in any language. */
const MIN_TELLING_WORDS = 4;
/** Share of the highest sum below which words are hardly in a language. */
const MIN_SHARE = 0.7;

/** Returns the languages that words may be in: all if they are few, and English in any case. */
export function possibleLanguages(words: readonly { scores: Scores }[]): readonly Language[] {
  if (words.length < MIN_TELLING_WORDS) return LANGUAGES;
  sumScores(words);
  const least = MIN_SHARE * Math.max(...sums);
  return LANGUAGES.filter((language, place) => language === "en" || sums[place]! >= least);
}
