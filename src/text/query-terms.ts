import { maxOf, minOf } from "../lists.ts";
import { hasUnsegmentedScript, UNSEGMENTED_SCRIPT } from "../unsegmented-scripts.ts";
import { fold, readDigraphs, writeDigraphs } from "./fold.ts";
import { isFunctionWord, isStopWord, lacksMarks, type Language, LANGUAGES } from "./languages.ts";
import { otherNumberTerms } from "./numbers.ts";
import { areUnrelated, partsOfCompound, termForm, type WordForm, wordForm } from "./stems.ts";
import { normalForm, type NormalToken, recentNormalForm } from "./tokens.ts";

/** A token of a query, and its stem. */
export interface QueryToken {
  word: string;
  stem: string;
}

/** Segments in total, and segments that contain a term, by the term's stem. */
export interface DocumentFrequencies {
  total: number;
  byStem: ReadonlyMap<string, number>;
}

/** A form of one or more terms of a query, as tokens in order. */
interface TermForm {
  terms: number[];
  /** Whether the query has it as it is, not joined or apart. */
  isWritten: boolean;
  tokens: WordForm[];
}

/** A term found in a text; offsets are in UTF-16 units. */
export interface TermMatch {
  /** Index of the term in the query, from 0. */
  term: number;
  /** Whether the text has the term as the query writes it, but for case and accents. */
  isExact: boolean;
  /** Whether it is a number, in digits or in words. */
  isNumber?: true;
  start: number;
  end: number;
}

/** Letters that a part has at least where a query's word is split. */
export const MIN_PART = 3;
/** A joined compound is at least so long, and a word that may be one is longer. */
const MIN_JOINED = 4;
/** Words that are joined to one at most: more than two only in tags. */
const MAX_JOINED = 4;
const MIN_SPLIT = 8;
const MAX_SPLIT = 30;
/** Languages that write umlauts, "å" and "ø" as two letters, too. */
const DIGRAPHS = ["en", "de", "sv", "da", "no"] as const;
/**
 * Languages that join words to one, and letters that they write between the two. Others join a
 * short one: "parabrisas".
 */
const COMPOUNDING: Partial<Record<Language, readonly string[]>> = {
  en: [""],
  de: ["", "s", "n", "en", "es"],
  nl: ["", "s", "en"],
  sv: ["", "s"],
  da: ["", "s", "e"],
  no: ["", "s", "e"],
  fi: [""],
  hu: [""],
};

const MAX_PREFIX = 5;
const LATIN_WORD = /^[\p{Script=Latin}\p{M}]+$/u;
const NO_LINK: readonly string[] = [""];

/** Returns whether tokens that are written as one have to be found as one: "LH-1234", "x-ray". */
export function isOneUnit(group: readonly Pick<NormalToken, "folded">[]): boolean {
  return group.some(({ folded }) => /^\d|^\p{L}$/u.test(folded));
}

/** Returns the forms of words in order, as terms of the full-text index. */
export function phraseForms(words: readonly string[]): string[] {
  const text = words.join(" ");
  return [...new Set(LANGUAGES.map((language) => toTerm(normalForm(text, language).tokens)))];
}

const toTerm = (tokens: readonly Pick<WordForm, "base">[]) =>
  tokens.map(({ base }) => base).join(" ");
const stemsOf = (tokens: readonly Pick<WordForm, "stem">[]) =>
  tokens.map(({ stem }) => stem).join(" ");

/** A letter of a script without spaces between words: Korean has them. */
const NO_SPACES = new RegExp(`^(?!\\p{scx=Hangul})${UNSEGMENTED_SCRIPT}`, "u");
/** Matches of one form in a text that are read: more are no more evidence. */
const MAX_MATCHES = 100;
/** Matches in a text whose word boundaries are looked up, which takes long. */
const MAX_BOUNDARY_TESTS = 200;

/**
 * The terms of a query: its words without duplicates by stem, each in the forms that a text may
 * have (Porter, "An algorithm for suffix stripping", 1980; Snowball's stemmers for others). Finds
 * them in texts.
 */
export class QueryTerms {
  /** The distinct tokens of all forms. */
  readonly tokens: readonly QueryToken[];
  /** All forms of all terms, as terms of the full-text index. */
  readonly forms: string[];
  /** Tokens of each term in English. A word without spaces around it has a token per letter. */
  readonly #terms: readonly NormalToken[][];
  readonly #byLanguage = new Map<Language, TermForm[]>(LANGUAGES.map((one) => [one, []]));
  readonly #byStem = new Map<Language, Map<string, TermForm[]>>();
  readonly #forms: readonly TermForm[];
  /** Words of the query with accents or other marks as written, by how they are folded. */
  readonly #marked = new Map<string, string>();

  /** `text` is what the words were taken from: neighbours may be written as one word. */
  constructor(words: readonly string[], text = "") {
    const distinct = new Map<string, { word: string; tokens: NormalToken[] }>();
    for (const word of words) {
      const { tokens } = recentNormalForm(word, "en");
      const key = stemsOf(tokens);
      if (tokens.length > 0 && !distinct.has(key)) distinct.set(key, { word, tokens });
    }
    this.#terms = [...distinct.values()].map(({ tokens }) => tokens);
    for (const [term, { word }] of [...distinct.values()].entries()) {
      for (const language of LANGUAGES) this.#addWord(term, word, language);
      this.#addParts(term, fold(word));
    }
    this.#addNeighbours(text);
    this.#forms = [...this.#byLanguage.values()].flat();
    this.forms = [...new Set(this.#forms.map(({ tokens }) => toTerm(tokens)))];
    const tokens = this.#forms.flatMap((form) => form.tokens);
    this.tokens = [
      ...new Map(tokens.map(({ base, stem }) => [base, { word: base, stem }])).values(),
    ];
    for (const [language, forms] of this.#byLanguage) {
      this.#byStem.set(
        language,
        Map.groupBy(forms, (form) => form.tokens[0]!.stem),
      );
    }
  }

  get count(): number {
    return this.#terms.length;
  }

  /** The forms of each term, as terms of the full-text index. */
  get formsByTerm(): string[][] {
    return this.#terms.map((_, term) => {
      const own = this.#forms.filter(({ terms }) => terms.includes(term));
      return [...new Set(own.map(({ tokens }) => toTerm(tokens)))];
    });
  }

  #add(language: Language, terms: number[], tokens: WordForm[], isWritten = false): void {
    this.#byLanguage.get(language)!.push({ terms, isWritten, tokens });
  }

  #addWord(term: number, word: string, language: Language): void {
    const { tokens, compounds } = recentNormalForm(word, language);
    if (tokens.length === 0) return;
    this.#add(language, [term], tokens, true);
    for (const compound of compounds) {
      if (compound.length === tokens.length) this.#add(language, [term], [compound]);
    }
    if (tokens.length > 1) return;
    for (const other of otherNumberTerms(word, tokens[0]!.base)) {
      this.#add(language, [term], [termForm(other)]);
    }
  }

  /** Adds forms for a long word that may be written as two: "railwaystation", "onboard". */
  #addParts(term: number, folded: string): void {
    if (folded.length > MAX_SPLIT || !/^[a-z]+$/.test(folded)) return;
    const known = partsOfCompound(folded);
    const splits: string[][] = known ? [known] : [];
    for (let at = MIN_PART; at <= folded.length - MIN_PART && folded.length >= MIN_SPLIT; at++) {
      splits.push([folded.slice(0, at), folded.slice(at)]);
    }
    for (const parts of splits) {
      const tokens = parts.map((part) => wordForm(part, "en"));
      this.#add("en", [term], tokens);
    }
    // "mueller" may be "Müller", but "aa" is no vowel of English or German.
    const spelling = readDigraphs(folded);
    if (spelling !== folded) this.#addSpelling(term, spelling, DIGRAPHS.slice(1));
  }

  /**
   * Adds another spelling of a word: "mueller" for "Müller", and "muller" for "Mueller". Some
   * stemmers need the accents that a word has as written.
   */
  #addSpelling(term: number, spelling: string, languages: readonly Language[]): void {
    for (const language of languages) this.#add(language, [term], [wordForm(spelling, language)]);
  }

  /** Adds forms for neighbours that may be one word, "life jacket", and for words with marks. */
  #addNeighbours(text: string): void {
    const { tokens } = normalForm(text, "en");
    const languages = likelyLanguages(tokens);
    const termOf = new Map(this.#terms.map((own, term) => [toFolded(own, " "), term]));
    for (const [i, { folded, start, end }] of tokens.entries()) {
      const term = termOf.get(folded);
      const written = text.slice(start, end);
      if (!/^[\0-\x7F]*$/.test(written)) {
        this.#marked.set(folded, written);
        if (term !== undefined && LATIN_WORD.test(written)) {
          this.#addSpelling(term, written, LANGUAGES);
        }
      }
      const digraphs = writeDigraphs(written);
      if (digraphs !== null && term !== undefined) this.#addSpelling(term, digraphs, DIGRAPHS);
      for (let length = 2; length <= MAX_JOINED && i + length <= tokens.length; length++) {
        const some = tokens.slice(i, i + length);
        const terms = some.flatMap((one) => termOf.get(one.folded) ?? []);
        if (terms.length > 0) this.#addJoined(terms, some, languages);
      }
    }
  }

  /** Adds forms for neighbours that a text may have as one word: "lifejacket", "#blackfriday". */
  #addJoined(terms: number[], words: readonly NormalToken[], languages: readonly Language[]) {
    const joined = toFolded(words, "");
    if (joined.length < MIN_JOINED || !/^[a-z]+$/.test(joined)) return;
    const [first, second] = words as [NormalToken, NormalToken];
    for (const language of languages) {
      const others = first.folded.length <= MAX_PREFIX ? NO_LINK : [];
      const links = words.length === 2 ? (COMPOUNDING[language] ?? others) : NO_LINK;
      if (words.length > 2 && language !== "en") continue;
      for (const link of links) {
        const compound = link === "" ? joined : first.folded + link + second.folded;
        this.#add(language, terms, [wordForm(compound, language)]);
      }
    }
    // "is not" is "isn't".
    if (words.length > 2 || second.folded !== "not") return;
    this.#add("en", terms, [wordForm(`${first.folded.replace(/n$/, "")}nt`, "en")]);
  }

  /**
   * Returns the inverse document frequency of each term (Robertson and Zaragoza, "The Probabilistic
   * Relevance Framework: BM25 and Beyond", 2009), times what its length tells. A form of several
   * tokens counts as its rarest.
   */
  weights({ total, byStem }: DocumentFrequencies): number[] {
    return this.#terms.map((tokens, term) => {
      const share = informationShare(tokens);
      if (share === 0) return 0;
      const own = this.#forms.filter(({ terms }) => terms.length === 1 && terms[0] === term);
      const counts = new Map(
        own.map((form) => [
          stemsOf(form.tokens),
          minOf(form.tokens.map(({ stem }) => byStem.get(stem) ?? 0)),
        ]),
      );
      const sum = [...counts.values()].reduce((all, count) => all + count, 0);
      const frequency = Math.min(total, sum);
      return share * Math.log(1 + (total - frequency + 0.5) / (frequency + 0.5));
    });
  }

  /** Returns the terms of one word that no segment has in any form. */
  absentWords({ byStem }: DocumentFrequencies): NormalToken[] {
    const isPresent = ({ tokens }: TermForm) => tokens.every(({ stem }) => byStem.has(stem));
    const present = new Set(this.#forms.filter(isPresent).flatMap(({ terms }) => terms));
    return this.#terms.flatMap((tokens, term) => {
      return tokens.length === 1 && !present.has(term) ? tokens : [];
    });
  }

  /**
   * Tests whether a text with some of the terms lacks a number of the query and has another one:
   * "iPhone 11" for "iPhone 12". Numbers in words don't count.
   */
  hasOtherNumber(text: string, matches: readonly TermMatch[]): boolean {
    if (!/\d/.test(text)) return false;
    return this.#terms.some(([token, ...others], term) => {
      const isNumber = others.length === 0 && /^\d+$/.test(token!.base);
      return isNumber && !matches.some((match) => match.term === term);
    });
  }

  /**
   * Finds all terms in a text of a language, in the order of the text. Text that was recognised in
   * an image may lack the marks of letters.
   */
  findMatches(text: string, language: Language = "en", mayLackMarks = false) {
    const byStem = this.#byStem.get(language)!;
    const { tokens, compounds } = recentNormalForm(text, language);
    const matches: TermMatch[] = [];
    const counts = new Map<TermForm, number>();
    let boundaryTests = MAX_BOUNDARY_TESTS;
    const add = (form: TermForm, found: readonly NormalToken[]) => {
      const count = counts.get(form) ?? 0;
      if (count === MAX_MATCHES) return;
      counts.set(form, count + 1);
      const isSame = form.tokens.every(({ folded }, i) => found[i]!.folded === folded);
      const [first, last] = [found[0]!, found.at(-1)!];
      if (!isSame && found.length === 1) {
        if (areUnrelated(form.tokens[0]!, first)) return;
        // "is" is a form of "being", but nearly every text has it.
        if (isStopWord(first.folded) || isFunctionWord(first.folded, language)) return;
      }
      const marked = this.#marked.get(first.folded);
      const written = text.slice(first.start, first.end);
      if (marked !== undefined && isOtherWord(marked, written, text, language, mayLackMarks))
        return;
      if (NO_SPACES.test(first.folded) && boundaryTests-- > 0) {
        if (isAcrossWords(text, first.start, last.end)) return;
      }
      const isNumber = found.length === 1 && /^\d+$/.test(first.base);
      for (const term of form.terms) {
        const isExact = isSame && form.isWritten;
        const match = { term, isExact, start: first.start, end: last.end };
        matches.push(isNumber ? { ...match, isNumber } : match);
      }
    };
    for (let at = 0; at < tokens.length; at++) {
      const own = byStem.get(tokens[at]!.stem)?.find((one) => {
        return one.tokens.every(({ stem }, i) => tokens[at + i]?.stem === stem);
      });
      if (own) add(own, tokens.slice(at, at + own.tokens.length));
    }
    for (const compound of compounds) {
      const own = byStem.get(compound.stem)?.find(({ tokens: { length } }) => length === 1);
      if (own) add(own, [compound]);
    }
    return compounds.length === 0 ? matches : matches.toSorted((a, b) => a.start - b.start);
  }
}

/** Returns English and the languages with most function words in a query; all if it has none. */
function likelyLanguages(tokens: readonly NormalToken[]): Language[] {
  const counts = LANGUAGES.map((language) => {
    return tokens.filter(({ folded }) => isFunctionWord(folded, language)).length;
  });
  const most = maxOf(counts);
  return LANGUAGES.filter((language, i) => language === "en" || counts[i] === most);
}

const toFolded = (tokens: readonly NormalToken[], separator: string) =>
  tokens.map(({ folded }) => folded).join(separator);

/** A word of two characters is an abbreviation, a unit or a number: it says half as much. */
const SHORT_SHARE = 0.5;

/** Returns which share of its rarity a term is evidence for: a single letter is none. */
function informationShare([token, ...others]: readonly NormalToken[]): number {
  if (!token || others.length > 0 || hasUnsegmentedScript(token.folded)) return 1;
  const { length } = token.folded.replaceAll(/\p{M}/gu, "");
  if (length > 2) return 1;
  return /^\p{L}$/u.test(token.folded.charAt(0)) && length === 1 ? 0 : SHORT_SHARE;
}

const MARKED = /[\p{Script=Latin}\p{Script=Greek}]\p{M}|[ıøæłđ]/u;
/** German plurals have an umlaut more: "Äpfel". French participles have an accent more: "aimé". */
const SAME_WITHOUT: Partial<Record<Language, RegExp>> = { de: /e[lr]$/, fr: /e\u0301e?s?$/ };

/** Decomposes a word. "ő" is a long "ö", and Romanian "ș" is often written with a cedilla. */
const decompose = (word: string) =>
  word
    .toLowerCase()
    .normalize("NFD")
    .replaceAll("\u030B", "\u0308")
    .replaceAll(/(?<=[st])\u0326/g, "\u0327");

/**
 * Tests whether a word of a text is another than one of a query, though they are the same without
 * marks: "avó" and "avô", "Bär" and "Bar". A query without marks may mean any word. A text may have
 * left them out, in names and capitals or everywhere.
 */
function isOtherWord(
  query: string,
  word: string,
  text: string,
  language: Language,
  mayLackMarks: boolean,
): boolean {
  const [own, other] = [decompose(query), decompose(word)];
  if (own === other || !MARKED.test(own) || fold(query) !== fold(word)) return false;
  // Italian "perché" is also written "perchè".
  if (MARKED.test(other))
    return language !== "it" && !(language === "fr" && /e\u0301e?s?$/.test(own));
  const isName = language !== "de" && /^\p{Lu}/u.test(word) && text.indexOf(word) > 0;
  if (mayLackMarks || language === "en" || isName || word === word.toUpperCase()) return false;
  return !SAME_WITHOUT[language]?.test(own) && !lacksMarks(text, language);
}

/** Segments scripts without spaces by dictionary (UAX #29). */
const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });
/** Scripts whose words don't change, so that a word that goes on is another one. */
const UNINFLECTED = /^[\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
/** Thai signs that end a word: of what is left out, and of what is said twice. */
const END_SIGNS = "ฯๆ";
const LETTER = /[\p{L}\p{M}\p{N}]/u;
/** Letters around a match that are segmented with it, on each side. */
const CONTEXT = 24;

/**
 * Tests whether letters of a script without spaces, from `start` to `end`, are parts of two words
 * (京都 of 東京都), or a part of a word of a script in which that is another word.
 */
function isAcrossWords(text: string, start: number, end: number): boolean {
  let [from, to] = [start, end];
  while (from > 0 && start - from < CONTEXT && LETTER.test(text[from - 1]!)) from -= 1;
  while (to < text.length && to - end < CONTEXT && LETTER.test(text[to]!)) to += 1;
  const segments = [...SEGMENTER.segment(text.slice(from, to))];
  const boundaries = new Set(segments.map(({ index }) => from + index).concat(to));
  const isEnd = boundaries.has(end) || END_SIGNS.includes(text[end]!);
  const isWhole = boundaries.has(start) && isEnd;
  if (isWhole) return false;
  if (UNINFLECTED.test(text.slice(start, end))) return true;
  const isWithin = ![...boundaries].some((at) => at > start && at < end);
  return !isWithin && !boundaries.has(start);
}
