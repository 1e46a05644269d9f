import { fold } from "../normal-form/fold.ts";
import { foldPlural } from "../search/query.ts";
import { isFunctionWord } from "./claim-language.ts";

const TOKEN = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu;
/** Text before the start of a sentence, list item or table cell. "K." and "Mr." end no sentence. */
const STARTS_BEHIND = /(?:^|(?<=\p{L}{4})\.|[!?…:|。！？\n])[\s"“”„«»‘’'()*_>-]*$/u;
/** Characters before a word that say whether it starts a sentence; more are no text. */
const MAX_LEAD = 40;
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
    const lead = sentence.slice(Math.max(0, index - MAX_LEAD), index);
    const isStart = index > MAX_LEAD ? STARTS_BEHIND.test(`x${lead}`) : STARTS_BEHIND.test(lead);
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

const UNITS = "zero one two three four five six seven eight nine".split(" ");
const TEENS =
  "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(" ");
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SCALES: Readonly<Record<string, number>> = {
  hundred: 100,
  thousand: 1000,
  million: 1_000_000,
  billion: 1_000_000_000,
};
const VALUES = new Map<string, number>([
  ...[...UNITS, ...TEENS].map((word, value) => [word, value] as const),
  ...TENS.map((word, i) => [word, 20 + 10 * i] as const),
]);

/** Digits in other languages: three in a row are dictated, one alone may be another word. */
const SPOKEN_DIGITS = new Map<string, number>(
  `zéro cero null nul | un uno um eins een | deux dos due dois zwei twee | trois tres três tre drei
   drie | quatre cuatro quattro quatro vier | cinq cinco cinque fünf vijf | six seis sei sechs zes |
   sept siete sette sete sieben zeven | huit ocho otto oito acht | neuf nueve nove neun negen`
    .split("|")
    .flatMap((words, value) =>
      words
        .trim()
        .split(/\s+/)
        .map((word) => [word, value] as const),
    )
    .concat(UNITS.map((word, value) => [word, value] as const)),
);

const wordPattern = (words: Iterable<string>) =>
  String.raw`(?<![\p{L}\p{N}])(?:${[...words].join("|")})(?![\p{L}\p{N}])`;
const DICTATED = new RegExp(
  String.raw`(?:${wordPattern([...SPOKEN_DIGITS.keys(), "oh"])}[\s,.-]*){3,}`,
  "giu",
);
const NUMBER_WORD = wordPattern([...VALUES.keys(), ...Object.keys(SCALES)]);
const NUMBER_WORDS = new RegExp(
  String.raw`${NUMBER_WORD}(?:[\s-]+(?:and\s+)?${NUMBER_WORD})*`,
  "giu",
);

/** A number of a claim. */
export interface ClaimNumber {
  /** Canonical digits with a decimal point; two forms if a separator is ambiguous ("3.500"). */
  forms: string[];
  /** Whether it may be a count of things that are seen: 0–20, no amount and no part of a code. */
  isSmallCount: boolean;
}

/** Minimum of groups of digits that are one number, such as a phone number or a date. */
const MIN_GROUPS = 3;
const GROUPED = new RegExp(
  String.raw`(?<!\d)(?:\d+(?:[\s.\-–—/()+:_]{1,3}\d+){${MIN_GROUPS - 1},}|\d+(?:[\s.,;\-–—/()+:_]{1,3}\d+){4,})`,
  "gu",
);
const THOUSANDS = /^\d{1,3}(?:[.,'’]\d{3})+$/u;
const SINGLE =
  /(?<prefix>[\p{Sc}#+]\s?|[\p{scx=Latin}\p{scx=Cyrillic}\p{scx=Greek}_])?(?<digits>\d+(?:[.,'’]\d+)*)(?<suffix>\s?[%‰\p{Sc}]|[\p{scx=Latin}\p{scx=Cyrillic}\p{scx=Greek}]+)?/gu;
const ORDINAL = /^(?:st|nd|rd|th)$/i;
const STREET = String.raw`(?:street|st|road|rd|avenue|ave|lane|drive|boulevard|blvd|rue|calle|via|rua|ulica|улица)`;
const GERMAN_STREET = String.raw`\p{L}*(?:straße|strasse|str|weg|platz)`;
const STREET_NUMBER = new RegExp(
  String.raw`(?<!\d)\d{1,4}\s?\p{L}?,?\s(?:\p{L}+\s){0,2}${STREET}(?!\p{L})|(?<!\p{L})(?:${STREET}|${GERMAN_STREET})\.?\s(?:\p{L}+\s){0,3}\d{1,4}(?!\d)`,
  "giu",
);

/** Units of money and shares: a number before one is an amount, not a count. */
const AMOUNT =
  /(?<![\d.,])\d+(?:[.,]\d+)*\s?(?:bitcoins?|btc|cents?|dollars?|eth|eur|euros?|gbp|per\s?cent|pounds?|procent|prozent|rupees?|usd|yen|yuan|евро|рублей|元|円|원)(?!\p{Ll})/giu;
const MULTIPLES = new RegExp(
  String.raw`\b(double|triple)\s+(${wordPattern(SPOKEN_DIGITS.keys())})`,
  "giu",
);

/** Replaces English number words by digits, and digits dictated one by one in some languages. */
function writeNumbersAsDigits(text: string): string {
  return text
    .replaceAll(MULTIPLES, (_, times: string, word: string) => {
      return `${word} `.repeat(times.toLowerCase() === "double" ? 2 : 3).trim();
    })
    .replaceAll(DICTATED, (run) => {
      const words = run.toLowerCase().match(/\p{L}+/gu) ?? [];
      return `${words.map((word) => SPOKEN_DIGITS.get(word) ?? 0).join("")} `;
    })
    .replaceAll(NUMBER_WORDS, (run) =>
      valuesOf(run.toLowerCase().match(/\p{L}+/gu) ?? []).join(" "),
    );
}

/** Returns the values of number words in a row: "two hundred and five" → 205. */
function valuesOf(words: readonly string[]): (number | string)[] {
  if (words.length === 1 && words[0] === "one") return ["one"]; // mostly a pronoun
  const values: number[] = [];
  let [total, current] = [0, -1];
  const flush = () => {
    if (current >= 0 || total > 0) values.push(total + Math.max(0, current));
    [total, current] = [0, -1];
  };
  for (const word of words) {
    const value = VALUES.get(word);
    const scale = SCALES[word];
    if (value !== undefined) {
      const isNext =
        current < 0 ||
        (value < 10 ? current % 10 === 0 && current % 100 !== 10 : current % 100 === 0);
      if (!isNext || current === 0) flush();
      current = Math.max(0, current) + value;
    } else if (scale === 100) current = Math.max(1, current) * 100;
    else if (scale !== undefined) [total, current] = [total + Math.max(1, current) * scale, -1];
  }
  flush();
  return values;
}

/** Returns all forms of the numbers of a normalised source, alone and in groups. */
export function numberForms(text: string): Set<string> {
  const numbers = [...findNumbers(text), ...findSingleNumbers(writeNumbersAsDigits(text))];
  return new Set(numbers.flatMap(({ forms }) => forms));
}

/** Finds the numbers of a normalised text, also in words. */
export function findNumbers(text: string): ClaimNumber[] {
  const numbers: ClaimNumber[] = [];
  const addGroups = (found: string) => {
    numbers.push({ forms: [found.replaceAll(/\D/g, "")], isSmallCount: false });
    return " ";
  };
  const withoutStreets = text.replaceAll(STREET_NUMBER, (found) => {
    return addGroups(/\d+/.exec(found)?.[0] ?? "");
  });
  const rest = writeNumbersAsDigits(withoutStreets)
    .replaceAll(GROUPED, addGroups)
    .replaceAll(AMOUNT, (found) => {
      for (const { forms } of findSingleNumbers(found)) {
        numbers.push({ forms, isSmallCount: false });
      }
      return " ";
    });
  return [...numbers, ...findSingleNumbers(rest)];
}

function findSingleNumbers(text: string): ClaimNumber[] {
  return Array.from(text.matchAll(SINGLE), ({ groups }) => {
    const { prefix = "", digits = "", suffix = "" } = groups ?? {};
    const isPlain = prefix.trim() === "" && (suffix === "" || ORDINAL.test(suffix));
    const isSmallCount = isPlain && /^(?:1?\d|20)$/.test(digits);
    return { forms: canonicalForms(digits), isSmallCount };
  });
}

function canonicalForms(digits: string): string[] {
  const decimal = digits.replaceAll(/['’]/g, "").replaceAll(",", ".");
  if (!THOUSANDS.test(digits)) return [decimal];
  return [digits.replaceAll(/\D/g, ""), decimal];
}
