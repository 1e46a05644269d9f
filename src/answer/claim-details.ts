import { normalizeText } from "../normalize-text.ts";
import { foldPlural } from "../search/query.ts";
import { fold, toAsciiDigits } from "../text/fold.ts";
import { isEnglishFunctionWord, isFunctionWord, toLanguage } from "../text/languages.ts";
import { writeNumbersAsDigits } from "../text/numbers.ts";
import { trimEndOf } from "../trim-end.ts";
import words from "./claim-words.json" with { type: "json" };

// bounded in this file: a reply of at most ANSWER.maxCharacters, or a field of a segment, measured
// with hostile texts. Its lists of words are too long to judge.

/** Characters that don't show: format and joining characters, variation selectors, fillers. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** A letter of a script that hosts, units and codes are mostly written in. */
const LETTER = String.raw`[\p{scx=Latin}\p{scx=Cyrillic}\p{scx=Greek}]`;
const DOT = String.raw`[.。‧∙⋅·・⸱۔܁]`;
const DOT_WORD = String.raw`(?:dot|full\s?stop|punkt|point|punto|ponto|punt|kropka|nokta|точка)`;
const AT = "(?:@|at|ät|arroba|arobase|chiocciola|klammeraffe)";
const OPEN = String.raw`(?<!\s)\s*[([{<【〔]\s*`;
const CLOSE = String.raw`\s*[)\]}>】〕]\s*`;
/** Top-level domains that rarely begin a sentence or follow the words "dot" and "point". */
const TOP_LEVEL = words.topLevelDomains.replaceAll(" ", "|");
/** A dot of a host in brackets, spelled out, spaced, or a sign for it. */
const HIDDEN_DOT = new RegExp(
  [
    `${OPEN}(?:${DOT}|${DOT_WORD})${CLOSE}`,
    String.raw`(?<=${LETTER}|\d)${DOT}(?=${LETTER}|\d)`,
    String.raw`(?<=[\p{L}\p{N}])(?:\s+${DOT_WORD}\s+|\s+\.\s*|\.\s+)(?=(?:${TOP_LEVEL})(?![\p{L}\p{N}]))`,
  ].join("|"),
  "giu",
);
/** The same for the at sign of an e-mail address. */
const HIDDEN_AT = new RegExp(
  String.raw`${OPEN}${AT}${CLOSE}|(?<=[\p{L}\p{N}])\s+${AT}\s+(?=[\p{L}\p{N}-]{1,63}\.\p{L})`,
  "giu",
);

/**
 * Normalises the text of a claim or a source, so that disguised contact details and numbers are
 * recognised: compatibility forms (NFKC), invisible characters, digits of all scripts, dots and at
 * signs in brackets, spaced or spelled out.
 */
export function normalizeClaimText(text: string): string {
  return toAsciiDigits(normalizeText(text, "NFKC").replaceAll(INVISIBLE, ""))
    .replaceAll(HIDDEN_DOT, ".")
    .replaceAll(HIDDEN_AT, "@");
}

/** A label of a host has 63 characters at most (RFC 1035), a host 127 labels. */
const LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}_-]{0,61}[\p{L}\p{M}\p{N}])?`;
const HOST = String.raw`${LABEL}(?:\.${LABEL}){0,126}\.\p{L}[\p{L}\p{M}\p{N}-]+`;
const ADDRESS = String.raw`(?:\d{1,3}(?:\.\d{1,3}){3}|(?=[\d:]{0,39}(?:[a-f]|::))(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4})`;
const PATH = String.raw`(?::\d+)?(?:[/?#][^\s<>()[\]"“”|*]*)?`;
/** Schemes whose rest has no slashes, such as `bitcoin:` and `tel:`. */
const SCHEME = String.raw`(?<![\p{L}\p{N}])[a-z][a-z\d+.-]{1,30}:(?=[^\s\d])[^\s<>()[\]"“”|*]+`;
/** What is a contact detail or an address by its form. */
const DETAILS: readonly RegExp[] = [
  SCHEME,
  String.raw`(?<![\p{L}\p{M}\p{N}._%+-])[\p{L}\p{M}\p{N}._%+-]+@${HOST}`,
  String.raw`(?<![\p{L}\p{N}@.])${ADDRESS}(?![\p{L}\p{N}.:])${PATH}`,
  String.raw`(?<![\p{L}\p{M}\p{N}@_-])${HOST}${PATH}`,
  String.raw`(?<![\p{L}\p{N}])[@#][\p{L}_][\p{L}\p{N}_.]+`,
  // Codes, such as wallets, keys and passwords: a digit follows a letter.
  String.raw`(?<![\p{L}\p{N}])(?=[\p{L}\d]*${LETTER}\d)[\p{L}\d]+`,
].map((source) => new RegExp(source, "giu"));
/** Names and lower-case abbreviations that look like hosts. */
const NOT_HOSTS = /^(?:\p{L}\.)+\p{L}+$|^\d+(?:\.\d+)*\.?\p{L}{0,2}$/u;

/**
 * Returns web, e-mail and IP addresses, URIs, handles, tags and codes of letters and digits (a
 * password) in a normalised text, as they stand there, without "www.". Phone numbers and postal
 * addresses are found as numbers and names.
 */
export function findContactDetails(text: string): string[] {
  let rest = text.replaceAll(/(?<![\p{L}\p{N}])(?:https?:\/\/)?www\./giu, "");
  const details: string[] = [];
  for (const form of DETAILS) {
    rest = rest.replaceAll(form, (found) => {
      if (NOT_HOSTS.test(found)) return found;
      details.push(trimEndOf(found, /[.,;:!?…]/).replace(/^https?:\/\//i, ""));
      return " ";
    });
  }
  return details;
}

/** A word, and what says that it starts a sentence, list item or cell, unlike "K." and "Mr.". */
const WORD =
  /(?:(?<start>(?:^|(?<=\p{L}{4})\.|[!?…:|。！？\n])[\s"“”„«»‘’'()*_-]{0,40})|)(?<word>[\p{L}\p{M}\p{N}]+)/gu;
/** Words that are capitalised by convention, and titles. */
const CAPITALISED = new Set(words.capitalised.split(" "));
/** Verbs of persons: a single word before one, at the start of a sentence, is a name. */
const PERSONAL_VERBS = new Set(words.personalVerbs.split(" "));
/** Words that are the subject of a sentence without an article and are no names. */
const COMMON_SUBJECTS = new Set(words.commonSubjects.split(" "));
/** Endings of plurals, gerunds, adverbs and participles. */
const COMMON_ENDING = /(?:s|ing|ly|ed)$/u;
/** Numbers and adjectives that start a German sentence before their noun. */
const GERMAN_ATTRIBUTE = /(?:e|em|en|es)$|^(?:zwei|drei|vier|fünf|sechs|acht|neun|zehn|mehr)$/iu;
/** German measures and titles, which stand before another noun. */
const GERMAN_MEASURE = new RegExp(`^(?:${words.germanMeasures.replaceAll(" ", "|")})$`, "iu");

/**
 * Returns the proper names of a normalised sentence, a word each: words with capitals inside a
 * sentence, and at its start if another capitalised word or a typical verb of persons follows. In
 * German, where every noun has a capital, only two capitalised words in a row are names. Scripts
 * without capitals have no names here.
 */
export function findNames(sentence: string, language: string): string[] {
  const tokens = Array.from(sentence.matchAll(WORD), ({ index, 0: { length }, groups }) => {
    const word = groups!["word"]!;
    const end = index + length;
    const isCapital = isCapitalised(word, language);
    return { word, end, isCapital, isStart: groups!["start"] !== undefined };
  });
  const isGerman = language === "de";
  const isPair = tokens.map(({ word, end, isCapital, isStart }, i) => {
    const next = tokens[i + 1];
    if (!isCapital || !next?.isCapital) return false;
    if (isGerman && ((isStart && GERMAN_ATTRIBUTE.test(word)) || GERMAN_MEASURE.test(word))) {
      return false;
    }
    return /^[\s-]*$/.test(sentence.slice(end, next.end - next.word.length));
  });
  const isName = tokens.map(({ word, end, isCapital, isStart }, i) => {
    if (!isCapital) return false;
    if (isPair[i] || isPair[i - 1]) return true;
    if (isGerman) return /^\p{Lu}{2,}$/u.test(word);
    if (!isStart || /\p{L}\p{M}*\p{Lu}/u.test(word)) return true;
    if (COMMON_ENDING.test(word) || COMMON_SUBJECTS.has(word.toLowerCase())) return false;
    return /^['’]s/.test(sentence.slice(end)) || PERSONAL_VERBS.has(tokens[i + 1]?.word ?? "");
  });
  return tokens.filter((_, i) => isName[i]).map(({ word }) => word);
}

function isCapitalised(word: string, language: string): boolean {
  if (!/\p{Lu}|\p{Lt}/u.test(word) || /^\p{L}$/u.test(word)) return false;
  const folded = fold(word);
  const isFunction = isEnglishFunctionWord(folded) || isFunctionWord(folded, toLanguage(language));
  return !isFunction && !CAPITALISED.has(foldPlural(folded));
}

/** A number of a claim. */
export interface ClaimNumber {
  /** Canonical digits with a decimal point; two forms if a separator is ambiguous ("3.500"). */
  forms: string[];
  /** Whether it may be a count of things that are seen: 0–20, no amount and no part of a code. */
  isSmallCount: boolean;
}

/** Digits in groups, such as a phone number or a date. */
const GROUPED =
  /(?<!\d)(?:\d+(?:[\s.\-–—/()+:_]{1,3}\d+){2,}|\d+(?:[\s.,;\-–—/()+:_]{1,3}\d+){4,})/gu;
/** Units of money and shares: a number before one is an amount, not a count. */
const AMOUNT = String.raw`[%‰\p{Sc}]|(?:bitcoins?|btc|cents?|dollars?|eth|eur|euros?|gbp|per\s?cent|pounds?|procent|prozent|rupees?|usd|yen|yuan|евро|рублей|元|円|원)(?!\p{Ll})`;
const SINGLE = new RegExp(
  String.raw`(?<prefix>[\p{Sc}#+]\s?|${LETTER}|_)?(?<digits>\d+(?:[.,'’]\d+)*)(?<unit>\s?(?:${AMOUNT})|${LETTER}+)?`,
  "giu",
);
const ORDINAL = /^(?:st|nd|rd|th)$/i;
const THOUSANDS = /^\d{1,3}(?:[.,'’]\d{3})+$/u;

/** Finds the numbers of a normalised text, also in words. */
export function findNumbers(text: string): ClaimNumber[] {
  const numbers: ClaimNumber[] = [];
  const rest = writeNumbersAsDigits(text).replaceAll(GROUPED, (found) => {
    numbers.push({ forms: [found.replaceAll(/\D/g, "")], isSmallCount: false });
    return " ";
  });
  return [...numbers, ...findSingleNumbers(rest)];
}

/** Returns all forms of the numbers of a normalised source, alone and in groups. */
export function numberForms(text: string): Set<string> {
  const numbers = [...findNumbers(text), ...findSingleNumbers(writeNumbersAsDigits(text))];
  return new Set(numbers.flatMap(({ forms }) => forms));
}

function findSingleNumbers(text: string): ClaimNumber[] {
  return Array.from(text.matchAll(SINGLE), ({ groups }) => {
    const { prefix, digits = "", unit } = groups ?? {};
    const isPlain = prefix === undefined && (unit === undefined || ORDINAL.test(unit));
    const isSmallCount = isPlain && /^(?:1?\d|20)$/.test(digits);
    return { forms: canonicalForms(digits), isSmallCount };
  });
}

function canonicalForms(digits: string): string[] {
  const decimal = digits.replaceAll(/['’]/g, "").replaceAll(",", ".");
  if (!THOUSANDS.test(digits)) return [decimal];
  return [digits.replaceAll(/\D/g, ""), decimal];
}
