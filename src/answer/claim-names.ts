import { fold, foldPlural } from "../search/query.ts";
import { isFunctionWord } from "./claim-language.ts";

const TOKEN = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu;
/** Text before the start of a sentence, list item or table cell. "K." and "Mr." end no sentence. */
const STARTS_BEHIND = /(?:^|(?<=\p{L}{4})\.|[!?…:|。！？\n])[\s"“”„«»‘’'()*_>-]*$/u;
/** Words that are capitalised by convention, and titles. */
const CAPITALISED = new Set(
  `am atv bmx cd dj dr dvd gps id led mr mrs ms mx no ok pc pm prof rv sir suv tv usb wc`.split(
    /\s+/,
  ),
);
/** `T-shirt`, `X-ray`. */
const LETTER_COMPOUND = /^\p{L}-\p{Ll}+$/u;
/** Verbs of persons: a single word before one, at the start of a sentence, is a name. */
const PERSONAL_VERBS = new Set(
  `is was has had does did will would can could should may might said says told tells gave
   gives took takes went goes came comes stole steals lives lived works worked wants wanted
   knows knew loves loved killed paid pays owns owned called calls won wins wrote writes`.split(
    /\s+/,
  ),
);
/** Words that start the object of a verb, and rarely follow a plural noun. */
const OBJECT_START = /^(?:a|an|her|him|his|it|me|my|our|that|the|their|them|this|us|your)$/u;
/** Words that are the subject of a sentence without an article and are no names. */
const COMMON_SUBJECTS = new Set(
  `another anybody anyone both each everybody everyone everything fire fog food furniture glass
   grass half light more most music nobody nothing one people rain sand smoke snow somebody
   someone something speech sunlight text traffic water wood`.split(/\s+/),
);
/** Endings of plurals, gerunds, adverbs and participles. */
const COMMON_ENDING = /(?:s|ing|ly|ed)$/u;
/** Numbers and adjectives that start a German sentence before their noun. */
const GERMAN_ATTRIBUTE = /(?:e|em|en|es)$|^(?:zwei|drei|vier|fünf|sechs|acht|neun|zehn|mehr)$/iu;
/** German measures and titles, which stand before another noun. */
const GERMAN_MEASURE =
  /^(?:cent|euro|flasche|frau|glas|gramm|grad|herr|jahre?n?|kilo(?:gramm|meter)?|liter|meter|minuten?|monate?n?|pfund|prozent|sekunden?|stück|stunden?|tag(?:e|en)?|tasse|teller|uhr|wochen?)$/iu;

/**
 * Returns the proper names of a normalised sentence, a word each: words with capitals inside a
 * sentence, and at its start if another capitalised word or a typical verb of persons follows. In
 * German, where every noun has a capital, only two capitalised words in a row are names. Scripts
 * without capitals have no names here.
 */
export function findNames(sentence: string, language: string | null): string[] {
  const tokens = [...sentence.matchAll(TOKEN)].map(({ 0: word, index }) => {
    const isStart = STARTS_BEHIND.test(sentence.slice(0, index));
    const base = word.replace(/['’](?:d|ll|m|re|s|t|ve)$/u, "");
    return {
      word: base,
      isPossessive: /['’]s$/u.test(word),
      start: index,
      end: index + word.length,
      isStart,
      isCapital: isCapitalised(base),
    };
  });
  const isGerman = language === "de";
  const isPair = tokens.map((token, i) => {
    const next = tokens[i + 1];
    if (!token.isCapital || !next?.isCapital) return false;
    if (isGerman && token.isStart && GERMAN_ATTRIBUTE.test(token.word)) return false;
    if (isGerman && GERMAN_MEASURE.test(token.word)) return false;
    return sentence.slice(token.end, next.start).trim() === "";
  });
  const isName = tokens.map(({ word, isPossessive, isStart, isCapital }, i) => {
    const next = tokens[i + 1];
    if (!isCapital) return false;
    if (isPair[i] || isPair[i - 1]) return true;
    if (isGerman) return /^\p{Lu}{2,}$/u.test(word);
    if (!isStart || /\p{L}\p{M}*\p{Lu}/u.test(word)) return true;
    if (COMMON_ENDING.test(word) || COMMON_SUBJECTS.has(word.toLowerCase())) return false;
    return isPossessive || (next !== undefined && isPersonalVerb(next.word, tokens[i + 2]?.word));
  });
  return tokens.filter((_, i) => isName[i]).map(({ word }) => word);
}

/** Tests whether a word is a verb in the third person: by a list, or by the object after it. */
function isPersonalVerb(word: string, next = ""): boolean {
  return PERSONAL_VERBS.has(word) || (/^\p{Ll}+[^s]s$/u.test(word) && OBJECT_START.test(next));
}

function isCapitalised(word: string): boolean {
  if (!/\p{Lu}|\p{Lt}/u.test(word) || /^\p{L}$/u.test(word)) return false;
  const isConventional = CAPITALISED.has(foldPlural(word.toLowerCase()));
  return !isConventional && !LETTER_COMPOUND.test(word) && !isFunctionWord(word);
}

/** Tests whether a name, or another form of it ("Anna", "Annas"), is one of folded words. */
export function hasName(words: ReadonlySet<string>, name: string): boolean {
  return name
    .split(/['’-]/u)
    .map(fold)
    .every(
      (part) =>
        words.has(part) ||
        words.has(foldPlural(part)) ||
        [...words].some((word) => areForms(part, word)),
    );
}

/** Minimum length of the part that the forms of a name share. */
const MIN_STEM = 4;

function areForms(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 2) return false;
  const stem = Math.max(MIN_STEM, Math.min(a.length, b.length) - 1);
  return a.length >= stem && a.slice(0, stem) === b.slice(0, stem);
}
