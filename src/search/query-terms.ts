import { stemmer } from "stemmer";
import { type QueryToken, tokenize, type DocumentFrequencies } from "../store/fulltext.ts";
import { fold } from "./query.ts";

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
