import { normalizeText } from "../../normalize-text.ts";
import { hasUnsegmentedScript, UNSEGMENTED_SCRIPT } from "../../unsegmented-scripts.ts";

/** Columns of the full-text index, in order. */
export const FTS_COLUMNS = ["caption", "transcript", "on_screen_text", "labels"] as const;
export type FtsColumn = (typeof FTS_COLUMNS)[number];

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** A letter of an unsegmented script with its marks, or a run of other letters and digits. */
const TOKEN = new RegExp(
  `(?=${UNSEGMENTED_SCRIPT})\\p{L}\\p{M}*|(?:(?!${UNSEGMENTED_SCRIPT})[\\p{L}\\p{M}]|\\p{N})+`,
  "gu",
);
/** Zero-width space, inserted between letters of unsegmented scripts, to separate tokens. */
const TOKEN_SEPARATOR = "\u200B";
/** Invisible separator between a text and its NFKC normalisation, where the two differ. */
const NORMALIZED_MARK = "\u2063";

/** A token of the full-text index. `start` is its offset in the text in UTF-16 units. */
export interface Token {
  word: string;
  start: number;
}

/**
 * Splits a text into tokens, in order. In unsegmented scripts every letter is a token, so that a
 * word is found as the phrase of its letters.
 */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = hasUnsegmentedScript(text) ? TOKEN : WORD;
  // `exec` takes half the time of `matchAll`, and a search tokenizes thousands of words.
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    tokens.push({ word: match[0], start: match.index });
  }
  return tokens;
}

/**
 * Encodes a text for the full-text index. FTS5 doesn't tokenize unsegmented scripts, and takes "ＴＶ"
 * for another word than "TV": the text is followed by its NFKC normalisation where the two differ.
 */
export function encodeFtsText(text: string): string {
  const normal = normalizeText(text, "NFKC");
  const all = normal === text ? text : `${text}${NORMALIZED_MARK}${normal}`;
  return hasUnsegmentedScript(all) ? all.replaceAll(TOKEN, `$&${TOKEN_SEPARATOR}`) : all;
}

/**
 * FTS5 expression for any of the phrases (words in order, without quotes); null if there are none.
 */
export function matchAny(phrases: string[][]): string | null {
  return phrases.length === 0 ? null : phrases.map(toTerm).join(" OR ");
}

/** FTS5 expression for all of the phrases; null if there are none. */
export function matchAll(phrases: string[][]): string | null {
  return phrases.length === 0 ? null : phrases.map(toTerm).join(" AND ");
}

/** Query of the full-text index. Phrases are words in order, without quotes. */
export interface FtsQuery {
  words: string[];
  phrases: string[][];
  excluded: string[][];
}

/** FTS5 expression for all of the phrases and at least one of the words; null if there are none. */
export function matchExpression({ words, phrases }: Omit<FtsQuery, "excluded">): string | null {
  const any = matchAny([...words.map((word) => [word]), ...phrases]);
  const all = matchAll(phrases);
  return all === null || any === null ? any : `(${all}) AND (${any})`;
}

/** Returns the terms that `bm25()` adds up for a `matchExpression`, which has phrases twice. */
export function termsOf({ words, phrases }: Omit<FtsQuery, "excluded">): string[][] {
  return [...words.map((word) => [word]), ...phrases, ...phrases];
}

/** Restricts an FTS5 expression to columns. */
export function columnFilter(expression: string, columns: readonly FtsColumn[]): string {
  return columns.length < FTS_COLUMNS.length
    ? `{${columns.join(" ")}} : (${expression})`
    : expression;
}

/** FTS5 string for words in order. */
export function toTerm(phrase: string[]): string {
  const tokens = phrase.flatMap(tokenize).map(({ word }) => {
    // FTS5 drops marks, too.
    return hasUnsegmentedScript(word) ? word.replaceAll(/\p{M}/gu, "") : word;
  });
  return `"${tokens.join(" ")}"`;
}

/** A token of a query, and its stem. */
export interface QueryToken {
  word: string;
  stem: string;
}

/** A search of the full text. */
export interface FtsSearch {
  query: FtsQuery;
  /** Tokens of the query's words. */
  tokens: readonly QueryToken[];
  columns: readonly FtsColumn[];
  limit: number;
}

/** Segments in total, and segments that contain a term, by the term's stem. */
export interface DocumentFrequencies {
  total: number;
  byStem: ReadonlyMap<string, number>;
}
