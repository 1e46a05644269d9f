import { remember } from "../isolate-memory.ts";
import { LruCache } from "../lru-cache.ts";
import { hasUnsegmentedScript, UNSEGMENTED_SCRIPT } from "../unsegmented-scripts.ts";
import { fold, foldLetter } from "./fold.ts";
import type { Language } from "./languages.ts";
import { nameUnit, readMonthDay, readNumber, readNumberWords, readScale } from "./numbers.ts";
import { isKnownStem } from "./spelling.ts";
import { termForm, type WordForm, wordForm } from "./stems.ts";

/** A token in its normal form. Offsets are in the original text, in UTF-16 units. */
export interface NormalToken extends WordForm {
  start: number;
  end: number;
  /** Tokens of one group are written as one: a date, a number with its unit, "e-mail". */
  group: number;
}

/** A compound that is written with hyphens or an apostrophe, joined: "email" of "e-mail". */
interface Compound extends NormalToken {
  /** Number of its tokens. */
  length: number;
}

export interface NormalForm {
  tokens: NormalToken[];
  compounds: Compound[];
}

/** Returns the normal form of a text in a language. */
export function normalForm(text: string, language: Language): NormalForm {
  return new Reader(text, language).read(readRuns(text));
}

/** Normal forms of texts that searches read: a popular segment is a candidate again and again. */
const recent = remember(new LruCache<NormalForm>(250_000, ({ tokens }) => 1 + tokens.length));

/** Returns the normal form of a text that is likely to be read again. Don't change it. */
export function recentNormalForm(text: string, language: Language): NormalForm {
  // Joining two strings would take longer than looking one up.
  const key = language === "en" ? text : `${language}\0${text}`;
  return recent.getNow(key, () => normalForm(text, language));
}

const RUN = /[\p{L}\p{N}\p{M}\u0640]+/gu;

/** Letters and digits in a row. */
interface Run {
  word: string;
  start: number;
}

function readRuns(text: string): Run[] {
  const runs: Run[] = [];
  const pattern = new RegExp(RUN);
  // `exec` takes half the time of `matchAll`, and a search reads thousands of words.
  for (let run = pattern.exec(text); run; run = pattern.exec(text)) {
    runs.push({ word: run[0], start: run.index });
  }
  return runs;
}

const LATIN = /^[\p{Script=Latin}\p{M}]+$/u;
/** A Korean syllable that is written as its letters: an initial, a vowel, perhaps a final. */
const JAMO = "[\\u1100-\\u115E][\\u1161-\\u11A7][\\u11A8-\\u11FF]?";
/** A letter of an unsegmented script with its marks, or a run of other letters or of digits. */
const PART = new RegExp(
  `${JAMO}|(?=${UNSEGMENTED_SCRIPT})\\p{L}[\\p{M}\\uFF9E\\uFF9F]*|\\p{N}+|` +
    `(?:(?!${UNSEGMENTED_SCRIPT})[\\p{L}\\p{M}])+`,
  "gu",
);
const ACRONYM = /(?:[a-z]|[A-Z][a-z])\.(?:[a-z]\.)*[a-z](?![\p{L}\p{N}])\.?/iuy;
/** A word that a capital letter or a digit begins, or capital letters alone. */
const HASHTAG_WORD = /\p{Lu}+(?!\p{Ll})|\p{L}[\p{Ll}\p{M}]*|\p{N}+/gu;
const APOSTROPHE = /['’ʼ‘`´]/;
const JOINT = /[-‐‑'’ʼ‘`´]/;
/** "C++", "C#", ".NET", "AT&T", and letters with spaces: "R & B". */
const SYMBOL_NAMES: readonly (readonly [RegExp, (found: RegExpExecArray) => string])[] = [
  [
    /(?<![\p{L}\p{N}])([a-z])(?:\+\+| plus plus(?![a-z\d]))/iuy,
    ([, letter]) => `${letter!}plusplus`,
  ],
  [/(?<![\p{L}\p{N}])([a-z])#(?![\p{L}\p{N}])/iuy, ([, letter]) => `${letter!}sharp`],
  [/(?<=(?:^|[\s(])\.)net(?![\p{L}\p{N}])/iuy, () => "dotnet"],
  [/([a-z]{1,3}(?=&)|[a-z](?= & [a-z](?![a-z\d])))(?: & |&)([a-z]{1,3})(?![a-z\d])/iuy, toName],
  [/([a-z]{1,2}) and ([b-hj-z]|(?<=[b-z] and )a)(?![a-z\d])/iuy, toName],
];
/** What is around the letters of such a name. */
const SYMBOL = /^(?:[+#&]| (?:& |and |plus))/i;
const MAX_SYMBOL_LETTERS = 3;
const CONTRACTIONS = new Set(["t", "re", "ve", "ll", "d", "m"]);
const ELISIONS = new Set("l d j t m s c qu jusqu lorsqu puisqu".split(" "));
const CURRENCIES: Record<string, string> = { $: "dollar", "£": "pound", "¥": "yen" };
const MAX_PARTS = 4;
const MAX_HASHTAG_WORDS = 8;

function toName([, first, second]: RegExpExecArray): string {
  return `${first!}and${second!}`;
}

/** Reads a text once, from the start to the end. */
class Reader {
  readonly #text: string;
  readonly #language: Language;
  readonly #tokens: NormalToken[] = [];
  readonly #compounds: Compound[] = [];
  #group = 0;
  /** Index of the first token of the present compound; −1 outside of one. */
  #chainStart = -1;
  #end = 0;

  constructor(text: string, language: Language) {
    this.#text = text;
    this.#language = language;
  }

  read(runs: readonly Run[]): NormalForm {
    for (const { word, start } of runs) {
      const end = start + word.length;
      if (start >= this.#end) this.#readRun(word, start);
      else if (end > this.#end) this.#readRun(this.#text.slice(this.#end, end), this.#end);
    }
    this.#endChain();
    return { tokens: this.#tokens, compounds: this.#compounds };
  }

  #readRun(run: string, start: number): void {
    const text = this.#text;
    const end = start + run.length;
    const before = text[start - 1] ?? "";
    const isChained = this.#tokens.length > 0 && this.#end === start - 1 && JOINT.test(before);
    if (isChained && this.#chainStart < 0) this.#chainStart = this.#firstOfGroup();
    if (!isChained) {
      this.#endChain();
      this.#group += 1;
    }
    const next = text[end] ?? "";
    if (next === "." && run.length <= 2 && this.#readAcronym(start)) return;
    if (before === "#" && this.#readHashtag(run, start)) return;
    const mayBeName = SYMBOL.test(text.slice(end, end + 5)) || before === ".";
    if (mayBeName && run.length <= MAX_SYMBOL_LETTERS && this.#readSymbolName(start)) return;
    if (this.#readDate(run, start) || this.#readApostrophe(run, start, end)) return;
    if (LATIN.test(run)) this.#addWord(run, start, end);
    else this.#readParts(run, start);
  }

  /** Reads "#BlackFriday" as its words. */
  #readHashtag(run: string, start: number): boolean {
    const words = [...run.matchAll(HASHTAG_WORD)];
    if (words.length < 2 || words.length > MAX_HASHTAG_WORDS) return false;
    for (const { 0: word, index } of words) {
      this.#addWord(word, start + index, start + index + word.length);
    }
    return true;
  }

  /** Reads "U.S.A." and "Ph.D." as one word. */
  #readAcronym(start: number): boolean {
    ACRONYM.lastIndex = start;
    const [written] = ACRONYM.exec(this.#text) ?? [];
    if (written === undefined) return false;
    return this.#addWord(written.replaceAll(".", ""), start, start + written.length);
  }

  #readSymbolName(start: number): boolean {
    for (const [pattern, toTerm] of SYMBOL_NAMES) {
      pattern.lastIndex = start;
      const found = pattern.exec(this.#text);
      if (found) return this.#add(toTerm(found).toLowerCase(), start, start + found[0].length);
    }
    return false;
  }

  #readDate(run: string, start: number): boolean {
    const date = /^[adfjmnos]/i.test(run) ? readMonthDay(this.#text, start) : null;
    for (const term of date?.terms ?? []) this.#add(term, start, date!.end);
    return date !== null;
  }

  /** Reads a word with an apostrophe within, of which a part may be left out. */
  #readApostrophe(run: string, start: number, end: number): boolean {
    const text = this.#text;
    if (!APOSTROPHE.test(text[end] ?? "") || /\p{N}/u.test(run)) return false;
    const [rest = ""] = /^[\p{L}\p{M}]+/u.exec(text.slice(end + 1, end + 41)) ?? [];
    if (rest === "") return false;
    const [first, second] = [run.toLowerCase(), rest.toLowerCase()];
    const wholeEnd = end + 1 + rest.length;
    if (/^\p{Script=Cyrillic}+$/u.test(run + rest))
      return this.#addWord(run + rest, start, wholeEnd);
    if (second === "s") return this.#addWord(run, start, end, end + 2);
    if (CONTRACTIONS.has(second) && (first === "i" || first.length > 1)) {
      // "she'll" is no "shell".
      const isOther = second !== "t" && isKnownStem(wordForm(first + second, "en").stem);
      if (isOther) return this.#addWord(run, start, end, wholeEnd);
      return this.#addWord(run + rest, start, wholeEnd);
    }
    // An article or a pronoun is left out: "l'" of "l'eau".
    if (ELISIONS.has(first)) this.#end = end + 1;
    return ELISIONS.has(first);
  }

  /** Reads runs of digits, of letters, and single letters of unsegmented scripts. */
  #readParts(run: string, start: number): void {
    const part = new RegExp(PART);
    for (let found = part.exec(run); found; found = part.exec(run)) {
      const from = start + found.index;
      const [piece] = found;
      const end = from + piece.length;
      if (/^[0-9]/.test(piece)) {
        this.#readDigits(from);
        if (this.#end > start + run.length) return;
        part.lastIndex = Math.max(part.lastIndex, this.#end - start);
      } else if (hasUnsegmentedScript(piece)) {
        this.#add(foldLetter(piece), from, end);
      } else {
        this.#addWord(/^\p{N}/u.test(piece) ? fold(piece) : piece, from, end);
      }
    }
  }

  #readDigits(at: number): void {
    const text = this.#text;
    let { terms, end } = readNumber(text, at);
    const [, currency] =
      /(?:^|[^\p{L}\p{N}])([$€£¥])\s?$/u.exec(text.slice(Math.max(0, at - 3), at)) ?? [];
    const scaled = currency ? readScale(text, terms[0]!, end) : null;
    if (scaled) ({ terms, end } = scaled);
    const minus = /(?:^|[\s(])[-−]$/.test(text.slice(Math.max(0, at - 2), at));
    const start = currency ? text.lastIndexOf(currency, at) : at;
    if (minus) this.#add("minus", at - 1, at);
    for (const term of terms) this.#add(term, start, end);
    if (currency) this.#addCurrency(currency, start, end);
    const [unit = "", percent, degree, scale, symbol] =
      /^\s?(?:(%)|(°|º(?=\s?[CF]\b))(?:\s?([CF])\b)?|(€))/iu.exec(text.slice(end, end + 4)) ?? [];
    if (unit === "") return;
    const unitEnd = end + unit.length;
    if (symbol) this.#addCurrency(symbol, end, unitEnd);
    if (percent) this.#add("percent", end, unitEnd);
    if (degree) this.#add("degree", end, unitEnd);
    if (scale) this.#add(/c/i.test(scale) ? "celsius" : "fahrenheit", end, unitEnd);
  }

  /** Adds the name of a currency: that of the euro is nearly the same in all languages. */
  #addCurrency(symbol: string, start: number, end: number): void {
    const isEuro = symbol === "€";
    this.#addForm(
      isEuro ? wordForm("euro", this.#language) : termForm(CURRENCIES[symbol]!),
      start,
      end,
    );
  }

  #addWord(word: string, start: number, end: number, readTo = end): true {
    const isRead = this.#readUnit(word, start, end) || this.#readNumberWords(word, start, end);
    if (!isRead) this.#addForm(wordForm(word, this.#language), start, end);
    this.#end = readTo;
    return true;
  }

  /** Reads the symbol of a unit by its name, as one with its number: "km" is "kilometer". */
  #readUnit(word: string, start: number, end: number): boolean {
    const last = this.#tokens.at(-1);
    if (last === undefined || !/^\d/.test(last.base)) return false;
    const names = /^[ -]?$/.test(this.#text.slice(last.end, start)) ? nameUnit(word) : null;
    if (names === null) return false;
    this.#group = last.group;
    for (const name of names) {
      this.#addForm({ ...wordForm(name, this.#language), folded: fold(word) }, start, end);
    }
    return true;
  }

  /** Reads an English number in two words as one: "twenty-one". */
  #readNumberWords(word: string, start: number, end: number): boolean {
    const last = this.#tokens.at(-1);
    if (this.#language !== "en" || last === undefined || end - start > 9) return false;
    if (!/^[ -]$/.test(this.#text.slice(last.end, start))) return false;
    const first = this.#text.slice(last.start, last.end).toLowerCase();
    const number = readNumberWords(first, word.toLowerCase());
    if (number === null) return false;
    this.#tokens.pop();
    this.#chainStart = -1;
    this.#group = last.group;
    return this.#add(number, last.start, end);
  }

  #addForm(form: WordForm, start: number, end: number): void {
    const { folded, base, stem } = form;
    this.#tokens.push({ folded, base, stem, start, end, group: this.#group });
    this.#end = end;
  }

  #add(term: string, start: number, end: number): true {
    this.#addForm(termForm(term), start, end);
    return true;
  }

  #firstOfGroup(): number {
    return this.#tokens.findLastIndex(({ group }) => group !== this.#group) + 1;
  }

  /** Adds the compound of the tokens that were joined: all of them together. */
  #endChain(): void {
    const first = this.#chainStart;
    this.#chainStart = -1;
    if (first < 0) return;
    const parts = this.#tokens.slice(first);
    if (parts.length < 2 || parts.length > MAX_PARTS) return;
    if (parts.some(({ folded }) => !/^\p{L}[\p{L}\p{M}]*$/u.test(folded))) return;
    const form = wordForm(parts.map(({ folded }) => folded).join(""), this.#language);
    const { start, group } = parts[0]!;
    this.#compounds.push({ ...form, start, end: parts.at(-1)!.end, group, length: parts.length });
  }
}
