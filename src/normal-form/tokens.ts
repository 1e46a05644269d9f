import { stemmer } from "stemmer";
import { hasUnsegmentedScript } from "../unsegmented-scripts.ts";
import { readApostrophe } from "./apostrophes.ts";
import { readCount } from "./counted-numbers.ts";
import { findWordedDates } from "./day-words.ts";
import { fold } from "./fold.ts";
import type { Language } from "./function-words.ts";
import { guessLanguage } from "./guess-language.ts";
import { foldLetter, readHanNumber } from "./han.ts";
import { toWord, type Word, type WordForm, wordForm } from "./languages.ts";
import { isBesideDay, readMonthAbbreviation } from "./month-names.ts";
import { isNumeric } from "./number-words.ts";
import { isMonth, nameUnit, readMonthDay, readNumber, readScale } from "./numbers.ts";
import { readRuns, type Runs } from "./runs.ts";
import { mayBeginName, readSymbolName } from "./symbol-names.ts";
import {
  ACRONYM,
  APOSTROPHE,
  CURRENCIES,
  HASHTAG_WORD,
  isJoint,
  isSpecial,
  ONLY_WORDS,
  PART,
  PERCENT_BEFORE,
} from "./token-patterns.ts";
import { readWordedNumbers } from "./worded-numbers.ts";

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
  language: Language;
  tokens: NormalToken[];
  compounds: Compound[];
}

/** Returns the normal form of a text, in the language that it seems to have. */
export function normalForm(text: string, language?: Language): NormalForm {
  const runs = readRuns(text);
  return new Reader(text, language ?? guessLanguage(runs.words)).read(runs);
}

/** Returns the normal form of a text; null if it has none of the stems of its language. */
export function normalFormWith(
  text: string,
  stems: Record<Language, { has: (stem: string) => boolean }>,
): NormalForm | null {
  const runs = readRuns(text);
  const language = guessLanguage(runs.words);
  const mayMatch = (word: Word, at: number): boolean => {
    if (!word.isPlain) return true;
    const { stem, number } = wordForm(word, language);
    if (isNumeric(number) || stems[language].has(stem)) return true;
    const end = runs.starts[at]! + word.written.length;
    // "AT and T" is "AT&T", and "isn't" is "isnt".
    if (mayBeginName(text, word.written, end)) return true;
    const next = runs.words[at + 1];
    const isJoined = runs.starts[at + 1] === end + 1 && APOSTROPHE.test(text[end]!);
    return isJoined && stems[language].has(wordForm(word.written + next!.written, language).stem);
  };
  if (!runs.words.some(mayMatch) && ONLY_WORDS.test(text)) return null;
  return new Reader(text, language).read(runs);
}

/** Reads a text once, from the start to the end. */
class Reader {
  readonly #text: string;
  readonly #language: Language;
  #tokens: NormalToken[] = [];
  readonly #compounds: Compound[] = [];
  #group = 0;
  #hasNumberWord = false;
  /** Index of the first token of the present compound; −1 outside of one. */
  #chainStart = -1;
  #end = 0;

  constructor(text: string, language: Language) {
    this.#text = text;
    this.#language = language;
  }

  read({ words, starts }: Runs): NormalForm {
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!;
      const start = starts[at]!;
      const end = start + word.written.length;
      if (start >= this.#end) this.#readRun(word, start);
      else if (end > this.#end) this.#readRun(toWord(this.#text.slice(this.#end, end)), this.#end);
    }
    this.#endChain();
    if (this.#hasNumberWord) this.#readWordedNumbers();
    return { language: this.#language, tokens: this.#tokens, compounds: this.#compounds };
  }

  #readRun(word: Word, start: number): void {
    const text = this.#text;
    const run = word.written;
    const end = start + run.length;
    const before = text[start - 1] ?? "";
    const next = text[end] ?? "";
    const isChained = this.#tokens.length > 0 && this.#end === start - 1 && isJoint(before);
    if (isChained && this.#chainStart < 0) this.#chainStart = this.#firstOfGroup();
    if (!isChained) {
      this.#endChain();
      this.#group += 1;
    }
    if (next === "." && run.length <= 2 && this.#readAcronym(start)) return;
    if (next === "." && run.length <= 5 && this.#readMonth(run, start, end)) return;
    const isName = mayBeginName(text, run, end);
    if (before === "#" && this.#readHashtag(run, start)) return;
    if (word.isPlain && before !== "." && !isName && !isSpecial(next)) {
      this.#addForm(wordForm(word, this.#language), start, end);
      return;
    }
    if (isMonth(run.toLowerCase()) && this.#readDate(start)) return;
    if (this.#readSymbols(run, start, end) || this.#readApostrophe(run, start, end)) return;
    this.#readParts(run, start);
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

  /** Reads the abbreviation of a month beside a day: "márc. 15". */
  #readMonth(run: string, start: number, end: number): boolean {
    const isDate = isBesideDay(this.#text, start, end);
    const name = isDate ? readMonthAbbreviation(fold(run), this.#language) : null;
    return name !== null && this.#addWord(name, start, end);
  }

  /** Reads "U.S.A." and "Ph.D." as one word. */
  #readAcronym(start: number): boolean {
    const acronym = new RegExp(ACRONYM);
    acronym.lastIndex = start;
    const [written] = acronym.exec(this.#text) ?? [];
    if (written === undefined) return false;
    return this.#addWord(written.replaceAll(".", ""), start, start + written.length);
  }

  /** Reads the symbol of a unit by its name, as one with its number: "km" is "kilometer". */
  #readUnit(run: string, start: number, end: number): boolean {
    const names = nameUnit(run);
    const last = this.#tokens.at(-1);
    if (names === null || last === undefined || !/^\d/.test(last.base)) return false;
    if (!/^[ -]?$/.test(this.#text.slice(last.end, start))) return false;
    this.#group = last.group;
    for (const name of names) {
      this.#addForm({ ...wordForm(name, this.#language), folded: fold(run) }, start, end);
    }
    return true;
  }

  /** Reads "C++", "C#", ".NET" and "AT&T". */
  #readSymbols(run: string, start: number, end: number): boolean {
    const name = readSymbolName(this.#text, run, { start, end });
    return name !== null && this.#add(name.term, name.start, name.end);
  }

  /** Reads a word with an apostrophe within, of which a part may be left out. */
  #readApostrophe(run: string, start: number, end: number): boolean {
    const found = readApostrophe(this.#text, run, end);
    if (found === null) return false;
    if (found.word !== null) return this.#addWord(found.word, start, found.wordEnd, found.end);
    this.#end = found.end;
    return true;
  }

  /** Reads runs of digits, of letters, and single letters of unsegmented scripts. */
  #readParts(run: string, start: number): void {
    const part = new RegExp(PART);
    for (let found = part.exec(run); found; found = part.exec(run)) {
      const from = start + found.index;
      const [piece] = found;
      if (/^[0-9]/.test(piece)) {
        this.#readDigits(from);
        if (this.#end > start + run.length) return;
        part.lastIndex = Math.max(part.lastIndex, this.#end - start);
      } else if (hasUnsegmentedScript(piece)) {
        const count = readCount(this.#text, from);
        const counted = count && { ...count, end: count.end - start };
        const number = readHanNumber(run, found.index) ?? counted;
        const end = number ? number.end : found.index + piece.length;
        this.#add(number ? number.digits : foldLetter(piece), from, start + end);
        part.lastIndex = end;
      } else if (!this.#readUnit(piece, from, from + piece.length)) {
        this.#addWord(/^\p{N}/u.test(piece) ? fold(piece) : piece, from, from + piece.length);
      }
    }
  }

  #readDigits(at: number): void {
    const text = this.#text;
    let { terms, end } = readNumber(text, at);
    const currency = /(?:^|[^\p{L}\p{N}])(R?\$|[€£¥])\s?$/u.exec(
      text.slice(Math.max(0, at - 4), at),
    );
    const scaled = currency ? readScale(text, terms[0]!, end) : null;
    if (scaled) ({ terms, end } = scaled);
    const minus = /(?:^|[\s(])[-−]$/.test(text.slice(Math.max(0, at - 2), at));
    const start = currency ? text.lastIndexOf(currency[1]!, at) : at;
    if (minus) this.#add("minus", at - 1, at);
    if (PERCENT_BEFORE.test(text.slice(Math.max(0, at - 3), at))) this.#add("percent", at - 1, at);
    for (const term of terms) this.#add(term, start, end);
    if (currency) this.#addCurrency(currency[1]!, start, end);
    const [unit = "", percent, degree, scale, symbol] =
      /^\s?(?:(%)|(°|º(?=\s?[CF]\b))(?:\s?([CF])\b)?|(€))/iu.exec(text.slice(end, end + 4)) ?? [];
    if (unit === "") return;
    if (symbol) return this.#addCurrency(symbol, end, end + unit.length);
    if (percent) return void this.#add("percent", end, end + unit.length);
    if (degree) this.#add("degree", end, end + unit.length);
    if (scale) this.#add(/c/i.test(scale) ? "celsius" : "fahrenheit", end, end + unit.length);
  }

  /** Adds the name of a currency: that of the euro is nearly the same in all languages. */
  #addCurrency(symbol: string, start: number, end: number): void {
    if (symbol === "R$") this.#addForm(wordForm("real", this.#language), start, end);
    else if (symbol === "€") this.#addForm(wordForm("euro", this.#language), start, end);
    else this.#add(CURRENCIES[symbol]!, start, end);
  }

  /** Reads dates, numbers and times in words. */
  #readWordedNumbers(): void {
    for (const { first, last, day, month } of findWordedDates(this.#tokens)) {
      const range = { ...this.#tokens[first]!, end: this.#tokens[last]!.end };
      const toToken = (base: string) => ({ ...range, folded: base, base, stem: stemmer(base) });
      this.#tokens.splice(first, last - first + 1, toToken(day), toToken(month));
    }
    const { tokens, scales } = readWordedNumbers(this.#tokens, this.#text, this.#language);
    this.#tokens = tokens;
    for (const scale of scales) this.#compounds.push({ ...scale, length: 0 });
  }

  #readDate(start: number): boolean {
    const date = readMonthDay(this.#text, start);
    for (const term of date?.terms ?? []) this.#add(term, start, date!.end);
    return date !== null;
  }

  #addWord(word: string, start: number, end: number, readTo = end): true {
    this.#addForm(wordForm(word, this.#language), start, end);
    this.#end = readTo;
    return true;
  }

  #addForm({ folded, base, stem, number }: WordForm, start: number, end: number): void {
    const token = { folded, base, stem, start, end, group: this.#group };
    this.#tokens.push(number ? { ...token, number } : token);
    if (isNumeric(number)) this.#hasNumberWord = true;
    this.#end = end;
  }

  #add(term: string, start: number, end: number): true {
    const stem = stemmer(term);
    this.#tokens.push({ folded: term, base: term, stem, start, end, group: this.#group });
    this.#end = end;
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
    const joined = parts.map(({ folded }) => folded).join("");
    const { start, group } = parts[0]!;
    const form = wordForm(joined, this.#language);
    const compound = { ...form, start, end: parts.at(-1)!.end, group, length: parts.length };
    if (/^\d/.test(form.base)) this.#tokens.splice(first, parts.length, compound);
    else this.#compounds.push(compound);
  }
}

const MAX_PARTS = 4;
const MAX_HASHTAG_WORDS = 8;
