import { stemmer } from "stemmer";
import { type AskedToken, tokensOf, type WordCounts } from "../store/words.ts";
import { fold } from "./query.ts";

/** Where a text has one of the terms, in UTF-16 units. */
export interface Match {
  /** Which of them, from 0. */
  term: number;
  start: number;
  end: number;
}

/** A word and its stem begin alike: others needn't be stemmed. */
const BEGINNING = 2;
const ASCII = /^\w*$/;

/**
 * The words of a query, told apart by their stems, as the full-text index does (Porter, "An algorithm
 * for suffix stripping", 1980), and found in texts.
 */
export class Terms {
  /** Their tokens, of each stem one. */
  readonly tokens: readonly AskedToken[];
  /** Of each its tokens' stems: more than one where a script puts no spaces between words. */
  readonly #terms: string[][];
  readonly #beginnings: Set<string>;
  /** Of words that have been met: the same come again and again. */
  readonly #stems = new Map<string, string | null>();

  constructor(words: readonly string[]) {
    const terms = words.map((word) =>
      tokensOf(word).map((token) => ({ word: token.word, stem: stemmer(foldWord(token.word)) })),
    );
    const stems = terms.map((tokens) => tokens.map(({ stem }) => stem));
    this.#terms = [...new Map(stems.map((term) => [term.join(" "), term])).values()];
    this.tokens = [...new Map(terms.flat().map((token) => [token.stem, token])).values()];
    this.#beginnings = new Set(this.tokens.map(({ stem }) => stem.slice(0, BEGINNING)));
  }

  /** How many there are. */
  get count(): number {
    return this.#terms.length;
  }

  /**
   * How much each tells: its inverse document frequency (Robertson and Zaragoza, "The Probabilistic
   * Relevance Framework: BM25 and Beyond", 2009), of several tokens that of the rarest.
   */
  weights({ total, holding }: WordCounts): number[] {
    return this.#terms.map((stems) => {
      const held = Math.min(total, ...stems.map((stem) => holding.get(stem) ?? 0));
      return Math.log(1 + (total - held + 0.5) / (held + 0.5));
    });
  }

  /** Where they stand in a text, in order. */
  findIn(text: string): Match[] {
    const tokens = tokensOf(text);
    const stems = tokens.map(({ word }) => this.#stemOf(word));
    const matches: Match[] = [];
    for (const [at, stem] of stems.entries()) {
      if (stem === null) continue;
      const term = this.#terms.findIndex((term) => isAt(term, stems, at));
      if (term < 0) continue;
      const last = tokens[at + this.#terms[term]!.length - 1]!;
      matches.push({ term, start: tokens[at]!.start, end: last.start + last.word.length });
    }
    return matches;
  }

  /** Null of a word that is none of theirs. */
  #stemOf(word: string): string | null {
    const known = this.#stems.get(word);
    if (known !== undefined) return known;
    const folded = foldWord(word);
    const stem = this.#beginnings.has(folded.slice(0, BEGINNING)) ? stemmer(folded) : null;
    this.#stems.set(word, stem);
    return stem;
  }
}

function isAt(term: readonly string[], stems: readonly (string | null)[], at: number): boolean {
  return term.every((stem, i) => stems[at + i] === stem);
}

function foldWord(word: string): string {
  return ASCII.test(word) ? word.toLowerCase() : fold(word);
}
