import { stemmer } from "stemmer";
import type { AppError } from "../errors.ts";
import type { SegmentId } from "../ids.ts";
import { normalizeText } from "../normalize-text.ts";
import {
  type DocumentFrequencies,
  type QueryToken,
  tokenize,
} from "../store/index-database/fulltext.ts";
import type { TimeRangeMs } from "../time-range.ts";
import { hasUnsegmentedScript } from "../unsegmented-scripts.ts";

/**
 * A search's input, parsed once per request. Channels, evidence, localization and highlighting all
 * take it, so that an excluded word is excluded everywhere.
 */
export interface CompiledQuery extends ParsedQuery {
  /** Stems of the words, matched in the text of segments. */
  terms: QueryTerms;
  /**
   * Every distinct word of the plain text, stop words included, to compare with labels of boxes.
   */
  labelWords: string[];
  /** The phrase for the object detector; null if the plain text names no object. */
  targetPhrase: string | null;
  /** A segment, asset, image or clip that hits are similar to; null for a text query. */
  example: ExampleQuery | null;
}

export function compileQuery(text: string, example: ExampleQuery | null = null): CompiledQuery {
  const parsed = parseQuery(text, example !== null);
  return {
    ...parsed,
    terms: new QueryTerms(parsed.words),
    labelWords: uniqueWords(parsed.plainText),
    targetPhrase: targetPhrase(parsed.plainText),
    example,
  };
}

/** A stored segment or asset, or an uploaded image or clip, that hits are similar to. */
export interface ExampleQuery {
  /** Direction in the space of image embeddings; null if there is none. */
  imageVector: number[] | null;
  /** Direction in the space of text embeddings; null if there is none. */
  textVector: number[] | null;
  /** Copies of an uploaded image or clip; null for a stored example. */
  copies: CopyMatch[] | null;
  /** The failure of an embedding model, if one was unavailable. */
  outage: AppError | null;
  /** The stored example itself, which isn't a hit. */
  exclude: { segmentId: string | null; assetId: string | null };
}

/** A stored copy of the example, edited or not. */
export interface CopyMatch {
  segmentId: SegmentId;
  /** 0–1; from `SIGNATURE.minCopySimilarity` on. */
  similarity: number;
  /** The part of the stored video that was copied; null for an image, or if alignment failed. */
  timeRange: TimeRangeMs | null;
}

/** The syntax of a query: plain text, quoted phrases and excluded terms. */
interface ParsedQuery {
  /** The text without excluded terms and quotation marks, for embeddings. May be empty. */
  plainText: string;
  /** Distinct content words of the plain text, folded. */
  words: string[];
  /** Quoted phrases, each as words in order. A hit has all of them. */
  phrases: string[][];
  /** Excluded words and phrases, each as words in order. A hit has none of them. */
  excluded: string[][];
}

const TERM = /(?<![\p{L}\p{N}])(-)?(?:["“”«»]([^"“”«»]*)["“”«»]|(\S+))/gu;

/**
 * Parses `"a phrase"`, `-word` and `-"a phrase"`; everything else is plain text. A query of
 * excluded terms only is read as plain text, unless the search also has an example (`hasExample`);
 * with an example, plain text without a word is empty.
 */
export function parseQuery(text: string, hasExample = false): ParsedQuery {
  const phrases: string[][] = [];
  const excluded: string[][] = [];
  const included = text.replaceAll(TERM, (term, minus?: string, quoted?: string, bare?: string) => {
    const words = tokenizeWords(quoted ?? bare ?? "");
    if (words.length === 0) return term;
    if (minus !== undefined) excluded.push(words);
    else if (quoted !== undefined) phrases.push(words);
    return minus === undefined ? (quoted ?? term) : " ";
  });
  const plainText = included.replaceAll(/\s+/g, " ").trim();
  if (tokenizeWords(plainText).length === 0) {
    if (hasExample) return { plainText: "", words: [], phrases: [], excluded };
    return { plainText: text, words: contentWords(text), phrases: [], excluded: [] };
  }
  return { plainText, words: contentWords(plainText), phrases, excluded };
}

/** Tests whether a text has a letter or a digit of any script: without one, nothing is searched. */
export function hasWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Returns the distinct words of a text, folded, in order of first appearance. */
export function uniqueWords(text: string): string[] {
  return [...new Set(tokenizeWords(text))];
}

/** Folds case, compatibility characters (NFKC) and the diacritics of Latin letters. */
export function fold(text: string): string {
  const decomposed = normalizeText(text.toLowerCase(), "NFKD");
  return normalizeText(decomposed.replaceAll(/(\p{Script=Latin})\p{M}+/gu, "$1"), "NFC");
}

/** Segments scripts without spaces by dictionary (UAX #29). */
const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });

/** Returns the words of a text in order, folded. */
function tokenizeWords(text: string): string[] {
  const runs = fold(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const words = runs.flatMap((run) => {
    return hasUnsegmentedScript(run)
      ? Array.from(SEGMENTER.segment(run), ({ segment }) => segment)
      : run;
  });
  return words.filter(hasWord);
}

/** Function words: they don't distinguish texts, so they match only if a query has no others. */
const STOP_WORDS = new Set(
  `a an and are as at be been but by did do does for from had has have he her his how i if in into
   is it its me my no not of on or our she so some that the their them then there these they this to
   was we were what when where which who whom whose why will with you your
   的 了 在 是 の は が を に で と も へ か です ます กับ และ ใน ที่ เป็น`.split(/\s+/),
);

/**
 * Returns the distinct words of a text that aren't stop words; all words if there are no others.
 */
export function contentWords(text: string): string[] {
  const words = uniqueWords(text);
  const content = words.filter((word) => !STOP_WORDS.has(word));
  return content.length > 0 ? content : words;
}

/** Words that request media ("show me a photo of …") instead of describing what it shows. */
const FRAMING_WORDS = new Set(
  `clip clips find frame frames image images moment moments photo photos picture pictures please
   scene scenes show video videos`.split(/\s+/),
);

/** A longer phrase describes an event, which an object detector can't point at. */
const MAX_TARGET_WORDS = 12;

/**
 * Returns the phrase that an object detector can point at: "where is the red cup?" → "red cup".
 * Null if the text has no content words, or the phrase is too long.
 */
export function targetPhrase(text: string): string | null {
  const words = text
    .split(/\s+/)
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""))
    .filter(Boolean);
  const isContent = (word: string) =>
    !tokenizeWords(word).every((token) => STOP_WORDS.has(token) || FRAMING_WORDS.has(token));
  const phrase = words.slice(words.findIndex(isContent), words.findLastIndex(isContent) + 1);
  return phrase.length > 0 && phrase.length <= MAX_TARGET_WORDS ? phrase.join(" ") : null;
}

/**
 * Folds an English plural: a light S-stemmer (Harman, "How effective is suffixing?", JASIS 1991).
 */
export function foldPlural(word: string): string {
  return word.replace(/(?<=s|x|ch|sh)es$|(?<![su])s$/, "");
}

/** A term found in a text; offsets are in UTF-16 units. */
export interface TermMatch {
  /** Index of the term in the query, from 0. */
  term: number;
  start: number;
  end: number;
}

/** Porter's stemmer keeps the first two letters: words with another prefix aren't stemmed. */
const STEM_PREFIX_LENGTH = 2;
const ASCII = /^\w*$/;

/**
 * The terms of a query: its words without duplicates by stem, as the full-text index compares them
 * (Porter, "An algorithm for suffix stripping", 1980). Finds the terms in texts.
 */
export class QueryTerms {
  /** One token per stem. */
  readonly tokens: readonly QueryToken[];
  /** Stems of each term's tokens. A word without spaces around it has a token per letter. */
  readonly #terms: string[][];
  readonly #stemPrefixes: Set<string>;
  /** Caches the stem of each word of the searched texts; null: no stem of this query. */
  readonly #stemByWord = new Map<string, string | null>();

  constructor(words: readonly string[]) {
    const tokensByWord = words.map((word) =>
      tokenize(word).map((token) => ({ word: token.word, stem: stemmer(foldWord(token.word)) })),
    );
    const terms = tokensByWord.map((tokens) => tokens.map(({ stem }) => stem));
    this.#terms = [...new Map(terms.map((stems) => [stems.join(" "), stems])).values()];
    this.tokens = [...new Map(tokensByWord.flat().map((token) => [token.stem, token])).values()];
    const prefixes = this.tokens.map(({ stem }) => stem.slice(0, STEM_PREFIX_LENGTH));
    this.#stemPrefixes = new Set(prefixes);
  }

  get count(): number {
    return this.#terms.length;
  }

  /**
   * Returns the inverse document frequency of each term (Robertson and Zaragoza, "The Probabilistic
   * Relevance Framework: BM25 and Beyond", 2009). A term of several tokens counts as its rarest.
   */
  weights({ total, byStem }: DocumentFrequencies): number[] {
    return this.#terms.map((stems) => {
      const frequency = Math.min(total, ...stems.map((stem) => byStem.get(stem) ?? 0));
      return Math.log(1 + (total - frequency + 0.5) / (frequency + 0.5));
    });
  }

  /** Finds all terms in a text, in the order of the text. */
  findMatches(text: string): TermMatch[] {
    const tokens = tokenize(text);
    const stems = tokens.map(({ word }) => this.#stem(word));
    const matches: TermMatch[] = [];
    for (const [at, stem] of stems.entries()) {
      if (stem === null) continue;
      const term = this.#terms.findIndex((termStems) => matchesAt(termStems, stems, at));
      if (term < 0) continue;
      const last = tokens[at + this.#terms[term]!.length - 1]!;
      matches.push({ term, start: tokens[at]!.start, end: last.start + last.word.length });
    }
    return matches;
  }

  /** Returns null for a word that can't be one of the terms. */
  #stem(word: string): string | null {
    const cached = this.#stemByWord.get(word);
    if (cached !== undefined) return cached;
    const folded = foldWord(word);
    const mayMatch = this.#stemPrefixes.has(folded.slice(0, STEM_PREFIX_LENGTH));
    const stem = mayMatch ? stemmer(folded) : null;
    this.#stemByWord.set(word, stem);
    return stem;
  }
}

function matchesAt(
  termStems: readonly string[],
  textStems: readonly (string | null)[],
  at: number,
): boolean {
  return termStems.every((stem, i) => textStems[at + i] === stem);
}

function foldWord(word: string): string {
  return ASCII.test(word) ? word.toLowerCase() : fold(word);
}
