import { stemmer } from "stemmer";
import { isKnownStem } from "./known-words.ts";
import data from "./word-forms.json" with { type: "json" };

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
  new Map(lines.map((line) => line.split(" ") as [string, string]));
const { irregular, spellings, compounds, families }: WordFormData = data;
const IRREGULAR = toMap(irregular);
const SPELLINGS = toMap(spellings);
const COMPOUNDS = toMap(compounds);
const FAMILIES = toMap(families);

const CARDINALS = `zero one two three four five six seven eight nine ten eleven twelve thirteen
  fourteen fifteen sixteen seventeen eighteen nineteen`.split(/\s+/);
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const ORDINALS = `zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh
  twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth`.split(/\s+/);

/** "one" and "second" have more meanings than the number. */
const NUMBERS = new Map(
  [...CARDINALS.entries()]
    .filter(([number]) => number > 1)
    .map(([number, word]) => [word, `${number}`]),
);
for (const [i, tens] of TENS.entries()) {
  NUMBERS.set(tens, `${10 * (i + 2)}`);
  // "the nineties" are "the 90s".
  NUMBERS.set(tens.replace(/y$/, "ies"), `${10 * (i + 2)}`);
  NUMBERS.set(tens.replace(/y$/, "ieth"), toOrdinal(10 * (i + 2)));
  for (let unit = 1; unit < 10; unit++) {
    const number = 10 * (i + 2) + unit;
    NUMBERS.set(tens + CARDINALS[unit]!, `${number}`);
    NUMBERS.set(tens + ORDINALS[unit]!, toOrdinal(number));
  }
}

/** Roman numerals that are no other word, and hours of the clock. */
const OTHER_NUMBERS = "ii 2|iii 3|iv 4|vii 7|viii 8|ix 9|xii 12|xiii 13|xiv 14|xviii 18|xix 19";
for (const line of `${OTHER_NUMBERS}|noon 12h00|midday 12h00|midnight 0h00`.split("|")) {
  const [word, number] = line.split(" ");
  NUMBERS.set(word!, number!);
}
/** Abbreviations with one meaning, and what they stand for. */
const ABBREVIATIONS = toMap(
  `dr doctor|prof professor|mt mount|st saint|dept department|govt government|approx approximately|vs versus
  |blvd boulevard|ave avenue|jan january|feb february|apr april|jun june|jul july|aug august
  |sept september|oct october|nov november|dec december|thru through|nite night|tho though`
    .split("|")
    .map((line) => line.trim()),
);

/** Returns the word of an ordinal number, or its digits with an ending: "first", "21th". */
export function toOrdinal(number: number): string {
  return ORDINALS[number] ?? `${number}th`;
}

/** Returns the digits of what `toOrdinal` returns; null for another word. */
export function ordinalNumber(base: string): string | null {
  const number = ORDINALS.indexOf(base);
  return number > 0 ? String(number) : (/^(\d+)th$/.exec(base)?.[1] ?? null);
}

/**
 * Returns the normal form of a folded word: the base form of an irregular one, the American
 * spelling, a number in digits, an abbreviation in full. The stemmer does the rest.
 */
export function toBaseForm(word: string): string {
  if (ELONGATED.test(word)) return toBaseForm(shorten(word));
  const number = NUMBERS.get(word);
  if (number !== undefined) return number;
  const base =
    ABBREVIATIONS.get(word) ?? IRREGULAR.get(word) ?? IRREGULAR.get(word.replace(/s$/, ""));
  return base ?? SPELLINGS.get(stemmer(word)) ?? word;
}

/** A letter three times, as no English word has it: "gooooal", "sooo". */
const ELONGATED = /(?!w|i+$|x+$)([a-z])\1\1/;

/** Writes letters of an elongated word once, or twice if a dictionary has only that word. */
function shorten(word: string): string {
  const once = word.replaceAll(/([a-z])\1\1+/g, "$1");
  const twice = word.replaceAll(/([a-z])\1\1+/g, "$1$1");
  return !isKnownStem(stemmer(once)) && isKnownStem(stemmer(twice)) ? twice : once;
}

/** Returns the two words that a short compound is also written as; null if it isn't one. */
export function partsOfCompound(word: string): [string, string] | null {
  const first = COMPOUNDS.get(word);
  return first === undefined ? null : [first, word.slice(first.length)];
}

/** A word, folded, and its base form. */
interface BaseForm {
  folded: string;
  base: string;
}

/**
 * Tests whether two words of the same stem mean unrelated things: "universe" and
 * "university". Words that WordNet doesn't know are related to all.
 */
export function areUnrelated(a: BaseForm, b: BaseForm): boolean {
  if (isInflected(a.folded, b.folded) || isInflected(b.folded, a.folded)) return false;
  // "engineer" is no form of "engine".
  if (isAgent(a.folded) !== isAgent(b.folded)) return true;
  const [first, second] = [familyOf(a), familyOf(b)];
  return first !== null && second !== null && first !== second;
}

const isAgent = (word: string) => /[a-z]{3}eer(?:s|ed|ing)?$/.test(word);

/** Endings of inflected forms, and what base forms may have instead. */
const INFLECTIONS: readonly (readonly [RegExp, string])[] = [
  [/$/, ""],
  [/s$/, ""],
  [/es$/, ""],
  [/ies$/, "y"],
  [/ed$/, ""],
  [/ed$/, "e"],
  [/ied$/, "y"],
  [/ing$/, ""],
  [/ing$/, "e"],
  [/(.)\1(?:ed|ing)$/, "$1"],
];

const PARTICIPLES = INFLECTIONS.filter(([ending]) => /ed|ing/.test(ending.source));

/** Tests whether a word is "changed" or "changing" of another, whatever else it means. */
function isInflected(word: string, base: string): boolean {
  if (!/(?:ed|ing)$/.test(word)) return false;
  return PARTICIPLES.some(([ending, replacement]) => {
    return ending.test(word) && word.replace(ending, replacement) === base;
  });
}

function familyOf({ folded, base }: BaseForm): string | null {
  return familyOfForm(folded) ?? familyOfForm(base);
}

function familyOfForm(word: string): string | null {
  for (const [ending, replacement] of INFLECTIONS) {
    const base = word.replace(ending, replacement);
    const family = ending.test(word) ? FAMILIES.get(base) : undefined;
    if (family !== undefined) return family;
  }
  return null;
}
