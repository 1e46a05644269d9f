import type { Language } from "../../text/languages.ts";
import { MIN_PART, type QueryToken } from "../../text/query-terms.ts";
import { PREFIXES } from "../../text/stems.ts";
import { type NormalForm, normalForm, type NormalToken } from "../../text/tokens.ts";
import { hasUnsegmentedScript, UNSEGMENTED_SCRIPT } from "../../unsegmented-scripts.ts";

export const FTS_COLUMNS = ["caption", "transcript", "on_screen_text", "labels"] as const;
export type FtsColumn = (typeof FTS_COLUMNS)[number];

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** A letter of an unsegmented script with its marks, or a run of other letters and digits. */
const TOKEN = new RegExp(
  `(?=${UNSEGMENTED_SCRIPT})\\p{L}\\p{M}*|(?:(?!${UNSEGMENTED_SCRIPT})[\\p{L}\\p{M}]|\\p{N})+`,
  "gu",
);
/** Invisible separator between the words of a text and its compounds, joined. */
const COMPOUNDS_MARK = "\u2063";

/** A word of a text as written. `start` is its offset in the text in UTF-16 units. */
export interface Token {
  word: string;
  start: number;
}

/** Splits a text into words, in order. In unsegmented scripts every letter is one. */
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
 * Version of `encodeFtsText`: raise it with every change of what that returns, and the databases
 * write their full text again.
 */
export const FTS_VERSION = 9;

/**
 * Returns the compounds that are indexed beside their parts: those of which a query that joins them
 * doesn't find the parts. Others would count twice in BM25.
 */
function indexedCompounds({ tokens, compounds }: NormalForm): NormalToken[] {
  if (compounds.length === 0) return [];
  const isFound = ({ folded }: NormalToken) => folded.length >= MIN_PART && /^[a-z]+$/.test(folded);
  const groups = new Set(tokens.filter((part) => !isFound(part)).map(({ group }) => group));
  return compounds.filter(({ base, group }) => groups.has(group) || !/^[a-z]+$/.test(base));
}

/**
 * Encodes a text of a language for the full-text index: the normal form of its words, which FTS5
 * stems, and then compounds that aren't found by their parts. A word of an unsegmented script is
 * found as the phrase of its letters.
 */
export function encodeFtsText(text: string, language: Language): string {
  const form = normalForm(text, language);
  const words = form.tokens.map(({ base }) => base);
  const joined = indexedCompounds(form).map(({ base }) => base);
  return (joined.length === 0 ? words : [...words, COMPOUNDS_MARK, ...joined]).join(" ");
}

/** FTS5 expression for any of the terms; null if there are none. */
export function matchAny(terms: readonly string[]): string | null {
  return terms.length === 0 ? null : terms.map(toTerm).join(" OR ");
}

/** FTS5 expression for one of each list of terms; null if there are no lists. */
export function matchAll(lists: readonly (readonly string[])[]): string | null {
  if (lists.length === 0) return null;
  return lists
    .map((terms) => (terms.length === 1 ? toTerm(terms[0]!) : `(${matchAny(terms)})`))
    .join(" AND ");
}

/** Query of the full-text index. A term is the normal form of words in order. */
export interface FtsQuery {
  words: string[];
  /** The forms of each phrase, of which a segment has one. */
  phrases: string[][];
  /** All forms of what a segment may not have. */
  excluded: string[];
}

/** FTS5 expression for all of the phrases and at least one of the words; null if there are none. */
export function matchExpression({ words, phrases }: Omit<FtsQuery, "excluded">): string | null {
  const any = matchAny([...words, ...phrases.flat()]);
  const all = matchAll(phrases);
  return all === null || any === null ? any : `(${all}) AND (${any})`;
}

/** Returns the terms that `bm25()` adds up for a `matchExpression`, which has phrases twice. */
export function termsOf({ words, phrases }: Omit<FtsQuery, "excluded">): string[] {
  return [...words, ...phrases.flat(), ...phrases.flat()];
}

/** Words that FTS5 stems as `QueryToken.stem` says: it splits those of some scripts. */
const STEMMED_WORD = new RegExp(`^[a-z${PREFIXES.join("")}]+$`);

/** Returns the terms of a list that may be in a full text, by which stems that has. */
export function listPresent(
  terms: readonly string[],
  tokens: readonly QueryToken[],
  stems: ReadonlySet<string>,
): string[] {
  const isAbsent = ({ word, stem }: QueryToken) => STEMMED_WORD.test(word) && !stems.has(stem);
  const absent = new Set(tokens.filter(isAbsent).map(({ word }) => word));
  return terms.filter((term) => !term.split(" ").some((word) => absent.has(word)));
}

export function columnFilter(expression: string, columns: readonly FtsColumn[]): string {
  return columns.length < FTS_COLUMNS.length
    ? `{${columns.join(" ")}} : (${expression})`
    : expression;
}

/** FTS5 string for a term. FTS5 drops marks of unsegmented scripts. */
export function toTerm(term: string): string {
  return `"${hasUnsegmentedScript(term) ? term.replaceAll(/\p{M}/gu, "") : term}"`;
}

export interface FtsSearch {
  query: FtsQuery;
  tokens: readonly QueryToken[];
  columns: readonly FtsColumn[];
  /** Whether names of assets are searched, too. */
  useNames: boolean;
  limit: number;
  /** Ids of the segments to rank; all in scope without it. */
  among?: readonly string[];
}
