import { trimEndOf } from "../trim-end.ts";
import abbreviations from "./abbreviations.json" with { type: "json" };

const MONTH_NAMES = `january february march april may june july august september october november
  december`.split(/\s+/);

/** Months by name and by what it is shortened to. */
const MONTHS = new Map(
  MONTH_NAMES.flatMap((name) => [
    [name, name],
    [name.slice(0, 3), name],
  ]).concat([["sept", "september"]]) as [string, string][],
);
const MONTH = `(${[...MONTHS.keys()].toSorted((a, b) => b.length - a.length).join("|")})`;
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;
const SUFFIX = String.raw`(?![\p{L}\p{N}])`;

const TIME = /(\d{1,2})(?:[:.](\d{2}))?\s?([ap])(?:\.\s?m\b\.?|m\b)/iy;
const CLOCK = /(\d{1,2}):(\d{2})(?!:?\d)/y;
const ISO_DATE = /(\d{4})-(\d{2})-(\d{2})(?!\d)/y;
const DAY_MONTH = new RegExp(String.raw`${DAY}\s+(?:of\s+)?${MONTH}${SUFFIX}`, "iuy");
const MONTH_DAY = new RegExp(
  String.raw`${MONTH}\.?\s+${DAY}${SUFFIX}(?![:.,]\d|\s?[ap]\.?\s?m\b)`,
  "iuy",
);
const NUMERIC_DATE = /(\d{1,2})([./])(\d{1,2})(?:\2(\d{4})|(\.))?(?!\d|[./]\d)/y;
const FRACTION = /(?<![\d/])([123])\/([234])(?![\d/])/y;
const HOUR_MINUTE = /(\d{1,2})\s?h\s?(\d{2})(?![\p{L}\d])/iuy;
const ORDINAL = /(\d{1,9})(?:st|nd|rd|th|er|re|[èe]me|e|[ºª])(?![\p{L}\p{N}])/iuy;
const DECADE = /(\d{2,4})['’]?s(?![\p{L}\p{N}])/iuy;
const THOUSANDS = /\d{1,3}(?:[,.'’ \u00A0\u202F]\d{3})+(?![\d]|[.,]\d)/y;
const THOUSANDS_DECIMAL = /(\d{1,3}(?:,\d{3})+)\.(\d+)(?![\d]|[.,]\d)/y;
const DECIMAL = /(\d+)[.,](\d+)(?![\d]|[.,]\d)/y;
const DIGITS = /\d+/y;

/** A number or a date: its terms, and where it ends in the text. */
export interface ReadNumber {
  terms: string[];
  end: number;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Reads the number, time or date that begins with the ASCII digit at `at`. */
export function readNumber(text: string, at: number): ReadNumber {
  const read = (pattern: RegExp, toTerms: (found: RegExpExecArray) => string[] | null) => {
    const found = match(pattern, text, at);
    const terms = found && toTerms(found);
    return terms && { terms, end: at + found[0].length };
  };
  const isInClock = text[at - 1] === ":";
  return (
    read(TIME, ([, hour, minute = "00", half]) => toTime(to24Hours(Number(hour), half!), minute)) ??
    (isInClock ? null : read(CLOCK, ([, hour, minute]) => toTime(Number(hour), minute!))) ??
    read(HOUR_MINUTE, ([, hour, minute]) => toTime(Number(hour), minute!)) ??
    read(NUMERIC_DATE, ([, first, sign, second, year, end]) =>
      toNumericDate([first!, second!], sign!, { year, isClosed: end !== undefined }),
    ) ??
    read(FRACTION, ([, count, whole]) => toFraction(count!, whole!)) ??
    read(ISO_DATE, ([, year, month, day]) => {
      const name = MONTH_NAMES[Number(month) - 1];
      return name === undefined ? null : [...toDate(day!, name)!, year!];
    }) ??
    read(DAY_MONTH, ([, day, month]) => toDate(day!, month!)) ??
    read(ORDINAL, ([, number]) => [toOrdinal(Number(number))]) ??
    read(DECADE, ([, year]) => [year!]) ??
    read(THOUSANDS_DECIMAL, ([, whole, part]) => [toDecimal(whole!.replaceAll(",", ""), part!)]) ??
    read(THOUSANDS, ([number]) => [number.replaceAll(/\D/g, "")]) ??
    read(DECIMAL, ([, whole, part]) => [toDecimal(whole!, part!)]) ??
    read(DIGITS, ([digits]) => [digits])!
  );
}

/**
 * Returns other terms that a word of a query may be meant by: "9.15" may be a time, "1980s" and
 * "80s" are the same.
 */
export function otherNumberTerms(word: string, base: string): string[] {
  const [, hour, minute] = /^(\d{1,2})[.:]([0-5]\d)$/.exec(word) ?? [];
  if (hour !== undefined && Number(hour) < 24) {
    return [`${Number(hour)}h${minute!}`, toDecimal(hour, minute!)].filter((term) => term !== base);
  }
  const [, century, decade] = /^(19|20)?(\d0)['’]?s$/.exec(word) ?? [];
  if (decade !== undefined) return [century === undefined ? `19${decade}` : decade];
  return word.endsWith("ties") && /^\d0$/.test(base) ? [`19${base}`] : [];
}

/** Reads a date that begins with the name of a month at `at`: "May 3rd". */
export function readMonthDay(text: string, at: number): ReadNumber | null {
  const found = match(MONTH_DAY, text, at);
  const terms = found && toDate(found[2]!, found[1]!);
  return terms && { terms, end: at + found[0].length };
}

/** Words of units by their symbols behind a number. */
const UNITS = new Map(Object.entries(abbreviations.units));

/** Returns the words that the symbol of a unit stands for; null if it is none. */
export function nameUnit(symbol: string): string[] | null {
  return UNITS.get(symbol.toLowerCase())?.split(" ") ?? null;
}

const SCALE = /\s?(k|thousand|m|mio|million|bn|billion)(?![\p{L}\p{N}])/iuy;

/** Reads "2.5 million" and "3m" of an amount of money, whose number is `term` and ends at `at`. */
export function readScale(text: string, term: string, at: number): ReadNumber | null {
  const found = match(SCALE, text, at);
  if (!found || !/^\d{1,4}(?:p\d{1,3})?$/.test(term)) return null;
  const letter = found[1]!.toLowerCase()[0]!;
  const zeros = letter === "m" ? 6 : letter === "b" ? 9 : 3;
  const value = Math.round(Number(term.replace("p", ".")) * 10 ** zeros);
  return { terms: [String(value)], end: at + found[0].length };
}

const PARTS = ["half", "third", "quarter"];

/** "3/4" is "3 quarter", and "1/2" is "half". */
function toFraction(count: string, whole: string): string[] | null {
  const part = PARTS[Number(whole) - 2]!;
  if (Number(count) >= Number(whole)) return null;
  return count === "1" ? [part] : [count, part];
}

/** One token for the full-text index: "17h45". */
function toTime(hour: number, minute: string): string[] | null {
  return hour < 24 && Number(minute) < 60 ? [`${hour}h${minute}`] : null;
}

function to24Hours(hour: number, half: string): number {
  if (hour > 12) return Infinity;
  return (hour % 12) + (half.toLowerCase() === "p" ? 12 : 0);
}

/**
 * Reads a day and a month in digits: "14/07", "03.10." and "1.5.2024", and "07/14", whose day can't
 * be a month. Null where it may be another number, or the day the month.
 */
function toNumericDate(
  [first, second]: [string, string],
  sign: string,
  { year, isClosed }: { year: string | undefined; isClosed: boolean },
): string[] | null {
  const isWhole = first.length === 2 && second.length === 2;
  if (year === undefined && !(isWhole && (sign === "/" || isClosed))) return null;
  const isMonthFirst = sign === "/" && Number(second) > 12;
  const isAmbiguous = sign === "/" && Number(first) <= 12 && Number(second) <= 12;
  const [day, month] = isMonthFirst ? [second, first] : [first, second];
  const name = MONTH_NAMES[Number(month) - 1];
  const date = isAmbiguous || name === undefined ? null : toDate(day, name);
  return date && [...date, ...(year === undefined ? [] : [year])];
}

function toDate(day: string, month: string): string[] | null {
  const number = Number(day);
  return number >= 1 && number <= 31 ? [`${number}`, MONTHS.get(month.toLowerCase())!] : null;
}

/** One token for the full-text index: "3p5" for 3.5 and 3,50. */
function toDecimal(whole: string, part: string): string {
  const digits = trimEndOf(part, /0/);
  return digits === "" ? whole : `${whole}p${digits}`;
}

const CARDINALS = `zero one two three four five six seven eight nine ten eleven twelve thirteen
  fourteen fifteen sixteen seventeen eighteen nineteen`.split(/\s+/);
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const ORDINALS = `zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh
  twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth`.split(/\s+/);

/** English words and the terms of their numbers. "one" and "second" have more meanings. */
export const NUMBERS = new Map(
  [...CARDINALS.entries()].slice(2).map(([number, word]) => [word, String(number)]),
);
for (const [i, tens] of TENS.entries()) {
  const number = 10 * (i + 2);
  NUMBERS.set(tens, String(number));
  // "the nineties" are "the 90s".
  NUMBERS.set(tens.replace(/y$/, "ies"), String(number));
  NUMBERS.set(tens.replace(/y$/, "ieth"), toOrdinal(number));
  for (let unit = 1; unit < 10; unit++) {
    NUMBERS.set(tens + CARDINALS[unit]!, String(number + unit));
    NUMBERS.set(tens + ORDINALS[unit]!, toOrdinal(number + unit));
  }
}
for (const [word, number] of [
  ["hundred", "100"],
  ["noon", "12h00"],
  ["midday", "12h00"],
  ["midnight", "0h00"],
]) {
  NUMBERS.set(word!, number!);
}

/** Returns the word of an ordinal number, or its digits with an ending: "first", "21th". */
function toOrdinal(number: number): string {
  return ORDINALS[number] ?? `${number}th`;
}

/** Returns the number that two English words in lower case are: "twenty first". */
export function readNumberWords(first: string, second: string): string | null {
  return TENS.includes(first) ? (NUMBERS.get(first + second) ?? null) : null;
}

const SCALES = new Map([
  ["hundred", 100],
  ["thousand", 1000],
  ["million", 1_000_000],
  ["billion", 1_000_000_000],
]);
const anyOf = (words: Iterable<string>) => `(?:${[...words].join("|")})`;
const BELOW_HUNDRED = anyOf([
  String.raw`${anyOf(TENS)}(?:[\s-]${anyOf(CARDINALS.slice(1, 10))})?`,
  ...CARDINALS.toReversed(), // "sixteen" before "six"
]);
const SCALE_WORD = anyOf(SCALES.keys());
const NUMBER_WORDS = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:${BELOW_HUNDRED}|${SCALE_WORD})` +
    String.raw`(?:[\s-]${SCALE_WORD}(?:[\s-](?:and\s)?${BELOW_HUNDRED})?)*(?![\p{L}\p{N}])`,
  "giu",
);

/** Writes English numbers in words as digits: "two hundred and five dogs" is "205 dogs". */
export function writeNumbersAsDigits(text: string): string {
  return text.replaceAll(NUMBER_WORDS, (words) => {
    let [total, current] = [0, 0];
    for (const word of words.toLowerCase().split(/[\s-]/)) {
      const scale = SCALES.get(word);
      if (scale === undefined)
        current += Math.max(0, CARDINALS.indexOf(word), Number(NUMBERS.get(word) ?? 0));
      else if (scale === 100) current = 100 * (current || 1);
      else [total, current] = [total + scale * (current || 1), 0];
    }
    return String(total + current);
  });
}
