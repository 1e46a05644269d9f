import { stemmer } from "stemmer";
import { clockPatterns, percentLength, readDayPart, toClockTerm } from "./clock-words.ts";
import { isMonthName } from "./day-words.ts";
import type { Language } from "./function-words.ts";
import { isKnownStem } from "./known-words.ts";
import type { WordForm } from "./languages.ts";
import { numberConjunction, type NumberWord } from "./number-words.ts";

/** A token as this needs it. */
interface WordToken extends WordForm {
  start: number;
  end: number;
  group: number;
}

/** A number in words, of the first `length` tokens. */
interface Reading {
  value: number;
  length: number;
}

const MAX_VALUE = 1e12;
/** Words of a number; a longer one is read as several. */
const MAX_WORDS = 16;

/**
 * Reads numbers, times of day and shares in words: each becomes one token. `scales` are words such
 * as "million" that were within a number, and the words of a time: a text has them, too.
 */
export function readWordedNumbers<Own extends WordToken>(
  tokens: readonly Own[],
  text: string,
  language: Language,
): { tokens: Own[]; scales: Own[] } {
  const isJoined = (at: number) =>
    at + 1 < tokens.length &&
    /^[ \u00A0-]$/.test(text.slice(tokens[at]!.end, tokens[at + 1]!.start));
  const scales: Own[] = [];
  const merged: Own[] = [];
  const merge = (from: number, length: number, term: string, isApart: boolean) => {
    const own = tokens.slice(from, from + length);
    const isFound = ({ number }: Own) => isApart || number?.kind === "scale";
    if (length > 1) scales.push(...own.filter(isFound));
    const form = { folded: term, base: term, stem: stemmer(term), number: undefined };
    merged.push({ ...own[0]!, ...form, end: own.at(-1)!.end });
  };
  for (let at = 0; at < tokens.length;) {
    const percent = percentLength(tokens[at]!.folded, tokens[at + 1]?.folded);
    const clock = percent > 0 ? null : readClock(tokens, at, language, isJoined);
    const number = percent > 0 || clock ? null : readNumber(tokens, at, language, isJoined);
    const term = percent > 0 ? "percent" : (clock?.term ?? (number && toTerm(number.value)));
    const length = percent || (clock?.length ?? number?.length ?? 1);
    if (term) merge(at, length, term, clock?.isApart ?? false);
    else merged.push(tokens[at]!);
    at += length;
  }
  return { tokens: merged, scales };
}

const toTerm = (value: number) => String(value).replace(".", "p");

type IsJoined = (at: number) => boolean;

function readClock(
  tokens: readonly WordToken[],
  at: number,
  language: Language,
  isJoined: IsJoined,
): { term: string; length: number; isApart: boolean } | null {
  const { base, folded, number } = tokens[at]!;
  const isNumber = isDigit(base) || (number !== undefined && number.kind !== "other");
  const patterns = clockPatterns(language, isNumber ? null : folded);
  for (const { words, minutes, isBefore, half, needsPart } of patterns) {
    let to = at;
    let [hour, minute] = [0, minutes];
    const isMatch = words.every((word) => {
      const token = tokens[to];
      if (token === undefined) return false;
      if (word !== "H" && word !== "M") return token.folded === word && ++to > 0;
      const [, hours, part] = /^(\d{1,2})[ph](\d{1,2})$/.exec(token.base) ?? [];
      if (hours !== undefined && word === "H") {
        [hour, minute] = [Number(hours), Number(part!.padEnd(2, "0"))];
        return ++to > 0;
      }
      const number = readValue(tokens, to, language, isJoined);
      if (number === null) return false;
      to += number.length;
      if (word === "H") hour = number.value;
      else minute = isBefore ? -number.value : number.value;
      return word === "H" || half === "24" || SPOKEN_MINUTES.has(number.value);
    });
    const isHour = isMatch && hour > 0 && Number.isInteger(hour);
    if (!isHour) continue;
    // "at" or "o'clock" before the hour, as in "às duas e meia".
    const inner = words.length > 1 && words.at(-1) === "H" && half === "24";
    const rest = inner ? readClock(tokens, at + words.length - 1, language, isJoined) : null;
    if (rest) return { ...rest, length: rest.length + words.length - 1, isApart: true };
    const following = tokens.slice(to, to + MAX_PART_WORDS).map(({ folded }) => folded);
    const part = readDayPart(following, language);
    if (needsPart && (part === null || hour > 12)) continue;
    const term = toClockTerm(hour, minute, part?.half ?? half);
    const length = to - at + (part?.length ?? 0);
    if (term !== null) return { term, length, isApart: part !== null || half !== "either" };
  }
  return null;
}

const isDigit = (base: string) => base.charCodeAt(0) >= 0x30 && base.charCodeAt(0) <= 0x39;

/** Words that say the half of the day. */
const MAX_PART_WORDS = 5;
/** Minutes that are said before the hour: "ten to five" isn't "two to five". */
const SPOKEN_MINUTES = new Set([5, 10, 20, 25]);

/** Reads a number in words or digits. */
function readValue(
  tokens: readonly WordToken[],
  at: number,
  language: Language,
  isJoined: IsJoined,
): Reading | null {
  const { base, number } = tokens[at]!;
  if (/^\d{1,2}$/.test(base)) return { value: Number(base), length: 1 };
  const reading = readNumber(tokens, at, language, isJoined);
  if (reading !== null || number === undefined) return reading;
  const isCardinal = number.kind !== "other" && number.kind !== "ordinal";
  return isCardinal ? { value: number.value, length: 1 } : null;
}

/** Reads the number in words that begins at a token; null if there is none but a word in digits. */
function readNumber(
  tokens: readonly WordToken[],
  at: number,
  language: Language,
  isJoined: IsJoined,
): Reading | null {
  const first = tokens[at]!;
  if (first.number === undefined && !isDigit(first.base)) return null;
  const and = numberConjunction(language);
  let [total, part] = [0, 0];
  let last: NumberWord | null = null;
  let length = 0;
  for (
    let to = at;
    to < Math.min(tokens.length, at + MAX_WORDS) && (to === at || isJoined(to - 1));
    to++
  ) {
    const isBetween =
      last !== null && tokens[to]!.folded === and && mayFollow(last, tokens[to + 1], isJoined(to));
    if (isBetween) continue;
    const word: NumberWord | null =
      tokens[to]!.number ?? (to === at ? digitsOf(tokens[to]!) : null);
    if (word === null || !fits(word, last, part)) break;
    if (word.kind === "scale") {
      if (word.value === 100) part = (part || 1) * 100;
      else {
        total += (part || 1) * word.value;
        part = 0;
      }
    } else if (last?.value === 4 && word.value === 20) part += 76;
    else part += word.value;
    last = word;
    length = to - at + 1;
    if (word.kind === "ordinal") break;
  }
  const half = ["and", "a", "half"].every((word, i) => tokens[at + length + i]?.folded === word);
  if (half && length > 0 && total + part > 0) {
    const scale = tokens[at + length + 3]?.number;
    const value = total + part + 0.5;
    if (scale?.kind === "scale") return { value: value * scale.value, length: length + 4 };
    return { value, length: length + 3 };
  }
  const value = Math.round((total + part) * 1000) / 1000;
  if (last === null || value > MAX_VALUE || !Number.isInteger(value)) return null;
  if (length > 1) return last.kind === "digits" ? null : { value, length };
  return isNumberAlone(tokens, at, last, language) ? { value, length } : null;
}

/** Tests whether a word can be the next of a number. */
function fits(word: NumberWord, last: NumberWord | null, part: number): boolean {
  if (word.kind === "other") return false;
  if (last === null) return true;
  if (last.kind === "ordinal" || word.kind === "digits") return false;
  if (word.kind === "scale")
    return word.value > 100 ? part > 0 || last.kind !== "scale" : part < 100 && part > 0;
  if (last.kind === "scale") return word.kind !== "one" || last.value >= 100;
  if (last.kind === "digits") return false;
  // French says "four twenties", and "ten seven" within 97.
  if (last.value === 4 && word.value === 20) return true;
  if (last.value === 10 && part > 60 && word.value >= 7 && word.value < 10) return true;
  if (last.kind !== "tens") return false;
  const isScore = last.value === 60 || (last.value === 20 && part % 100 === 80);
  return word.kind !== "tens" && word.value < (isScore ? 20 : 10);
}

const mayFollow = (last: NumberWord, next: WordToken | undefined, isJoined: boolean) =>
  isJoined && next?.number !== undefined && (last.kind === "tens" || last.kind === "scale");

function digitsOf({ base }: WordToken): NumberWord | null {
  if (!/^\d{1,4}(?:p\d{1,3})?$/.test(base)) return null;
  return { kind: "digits", value: Number(base.replace("p", ".")) };
}

/** Tests whether a single word is read in digits: not those that mean something else in English. */
function isNumberAlone(
  tokens: readonly WordToken[],
  at: number,
  { kind, value }: NumberWord,
  language: Language,
): boolean {
  const { folded } = tokens[at]!;
  const isLatin = /^[a-z]/.test(folded);
  if (kind === "digits" || kind === "one" || kind === "other") return false;
  const isDay = tokens.slice(at + 1, at + 3).some((next) => isMonthName(next.folded));
  if (isDay && language !== "en") return true;
  if (kind === "ordinal" && (isDay || value < 3)) return isDay;
  if (!isLatin) return true;
  return language !== "en" && (!isKnownStem(stemmer(folded)) || !AMBIGUOUS.has(folded));
}

/** Numbers that are more often another word of their language, or of many names. */
const AMBIGUOUS = new Set("ni to on bin hat fire six sex ten elf acht dix neuf sei".split(" "));
