import type { ExampleQuery } from "./example.ts";
import { type ParsedQuery, parseQuery, targetPhrase, uniqueWords } from "./query.ts";
import { QueryTerms } from "./query-terms.ts";

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
