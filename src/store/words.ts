import type { IndexId, SegmentId } from "../ids.ts";
import { IN_JSON } from "./rows.ts";
import { type AssetScope, isSegmentInScope } from "./asset-scope.ts";

/** Columns of the full-text index that hold a segment's words, in order; `scope` comes before them. */
export const WORD_COLUMNS = ["caption", "transcript", "on_screen_text", "labels"] as const;
export type WordColumn = (typeof WORD_COLUMNS)[number];

/** Scripts that put no spaces between words. */
const UNSPACED =
  "[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}]";
const HAS_UNSPACED = new RegExp(UNSPACED, "u");
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** A letter of such a script, with its marks, or what stands between such letters. */
const TOKEN = new RegExp(
  `(?=${UNSPACED})\\p{L}\\p{M}*|(?:(?!${UNSPACED})[\\p{L}\\p{M}]|\\p{N})+`,
  "gu",
);
/** Ends a word for the full-text index without being seen. */
const GAP = "\u200B";

/** A word of a text as the full-text index tells it apart, and where it begins, in UTF-16 units. */
export interface Token {
  word: string;
  start: number;
}

/**
 * The words of a text, in order. Where a script puts no spaces between words, each letter is one, so
 * that a word is found as the phrase of its letters.
 */
export function tokensOf(text: string): Token[] {
  const pattern = HAS_UNSPACED.test(text) ? TOKEN : WORD;
  return Array.from(text.matchAll(pattern), ({ 0: word, index }) => ({ word, start: index }));
}

/** Text as the full-text index takes it: it knows no scripts without spaces. */
export function spaceOut(text: string): string {
  return HAS_UNSPACED.test(text) ? text.replaceAll(TOKEN, `$&${GAP}`) : text;
}

/** SQL for a text as it was before `spaceOut`, to be compared. */
export function unspaced(expression: string): string {
  return `replace(${expression}, char(${GAP.charCodeAt(0)}), '')`;
}

/** An FTS5 expression that any of the phrases matches (words in order, without quotes); null of none. */
export function anyOf(phrases: string[][]): string | null {
  return phrases.length === 0 ? null : phrases.map(toTerm).join(" OR ");
}

/** Likewise, all of them. */
export function allOf(phrases: string[][]): string | null {
  return phrases.length === 0 ? null : phrases.map(toTerm).join(" AND ");
}

/** An FTS5 expression that holds where all phrases stand, and any of the words; null where there are none. */
export function wantedBy({
  words,
  phrases,
}: {
  words: string[];
  phrases: string[][];
}): string | null {
  const any = anyOf([...words.map((word) => [word]), ...phrases]);
  const all = allOf(phrases);
  return all === null || any === null ? any : `(${all}) AND (${any})`;
}

function toTerm(phrase: string[]): string {
  const tokens = phrase.flatMap(tokensOf).map(({ word }) => {
    return HAS_UNSPACED.test(word) ? word.replaceAll(/\p{M}/gu, "") : word; // FTS5 skips them, too
  });
  return `"${tokens.join(" ")}"`;
}

export interface WordSearch {
  scope: AssetScope;
  /** An FTS5 expression over `columns`. */
  expression: string;
  columns: readonly WordColumn[];
  /** Of the words that are to be counted. */
  stems: readonly string[];
  limit: number;
}

export interface WordHit {
  segmentId: SegmentId;
  /** The higher, the better; 0 and less where its words are everywhere. */
  bm25: number;
}

/** An FTS5 expression within one index. */
export function inIndex(indexId: IndexId, expression: string, columns?: readonly string[]): string {
  const place = columns ? `{${columns.join(" ")}} : ` : "";
  return `scope : "${indexId}" AND ${place}(${expression})`;
}

/** How many segments there are, and how many of them hold a word, by its stem. */
export interface WordCounts {
  total: number;
  holding: ReadonlyMap<string, number>;
}

/**
 * The segments of the assets in scope that match best by BM25, the best first. Only the best are looked
 * up: to join each match with its asset takes as long as to rank it. `counts` are of all indices together,
 * as those are that BM25 goes by, and of all segments that there ever were.
 */
export async function searchWords(
  db: D1Database,
  search: WordSearch,
): Promise<{ hits: WordHit[]; counts: WordCounts }> {
  const { scope, expression, columns, limit } = search;
  const place = isSegmentInScope(scope, "segment_words.rowid");
  const best = db
    .prepare(
      `SELECT segment_id AS segmentId, bm25 FROM (
         SELECT rowid AS id, -bm25(segment_words, 0, 1, 1, 1, 1) AS bm25 FROM segment_words
         WHERE segment_words MATCH ? AND ${place.sql} ORDER BY bm25 DESC LIMIT ?
       ) JOIN segments ON segments.rowid = id ORDER BY bm25 DESC`,
    )
    .bind(inIndex(scope.indexId, expression, columns), ...place.bindings, limit);
  const counting = db
    .prepare(
      `SELECT term, doc, (SELECT MAX(rowid) FROM segments) AS total FROM word_counts
       WHERE term ${IN_JSON}`,
    )
    .bind(JSON.stringify(search.stems));
  const [hits, counts] = await db.batch([best, counting]);
  const rows = counts!.results as { term: string; doc: number; total: number }[];
  return {
    hits: hits!.results as WordHit[],
    counts: {
      total: rows[0]?.total ?? 0,
      holding: new Map(rows.map(({ term, doc }) => [term, doc])),
    },
  };
}
