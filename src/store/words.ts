import { type AssetScope, isInScope } from "./asset-scope.ts";

/** Columns of the full-text index that hold a segment's words, in order; `scope` comes before them. */
export const WORD_COLUMNS = ["caption", "transcript", "on_screen_text", "labels"] as const;
export type WordColumn = (typeof WORD_COLUMNS)[number];

/** Around the matched words of a snippet. */
export const MARK = { start: "\u0001", end: "\u0002" } as const;
const SNIPPET_TOKENS = 32;

/** Scripts that put no spaces between words. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;
/** Ends a word for the full-text index without being seen. */
const GAP = "\u200B";

/**
 * Text as the full-text index takes it: where a script puts no spaces between words, each letter is a
 * word of its own, so that a word is found as the phrase of its letters.
 */
export function spaceOut(text: string): string {
  if (!UNSPACED.test(text)) return text;
  return text.replaceAll(/\p{L}\p{M}*/gu, (letter) =>
    UNSPACED.test(letter) ? `${letter}${GAP}` : letter,
  );
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
  const tokens = phrase.flatMap((word) =>
    UNSPACED.test(word) ? (word.match(/\p{L}|[^\p{L}\p{M}]+/gu) ?? []) : [word],
  );
  return `"${tokens.join(" ")}"`;
}

export interface WordSearch {
  scope: AssetScope;
  /** An FTS5 expression over `columns`. */
  expression: string;
  columns: readonly WordColumn[];
  limit: number;
}

export interface WordHit {
  segmentId: string;
  /** The higher, the better; 0 and less where its words are everywhere. */
  bm25: number;
  /** By column: the words around the best match, with marks where it matched. */
  snippets: Record<WordColumn, string>;
}

/** An FTS5 expression within one index. */
export function inIndex(indexId: string, expression: string, columns?: readonly string[]): string {
  const place = columns ? `{${columns.join(" ")}} : ` : "";
  return `scope : "${indexId}" AND ${place}(${expression})`;
}

/** The segments of the assets in scope that match best by BM25, the best first. */
export async function searchWords(db: D1Database, search: WordSearch): Promise<WordHit[]> {
  const shown = WORD_COLUMNS.map(
    (column, i) =>
      `snippet(segment_words, ${i + 1}, char(1), char(2), '…', ${SNIPPET_TOKENS}) AS ${column}`,
  );
  const { scope, expression, columns, limit } = search;
  const assets = isInScope(scope);
  const { results } = await db
    .prepare(
      `SELECT segment_id AS segmentId, -bm25(segment_words, 0, 1, 1, 1, 1) AS bm25, ${shown.join(", ")}
       FROM segment_words
         JOIN segments ON segments.rowid = segment_words.rowid
         JOIN assets USING (asset_id)
       WHERE segment_words MATCH ? AND ${assets.sql}
       ORDER BY bm25 DESC LIMIT ?`,
    )
    .bind(inIndex(scope.indexId, expression, columns), ...assets.bindings, limit)
    .all<{ segmentId: string; bm25: number } & Record<WordColumn, string>>();
  return results.map(({ segmentId, bm25, ...columns }) => {
    const snippets = { ...columns };
    for (const column of WORD_COLUMNS) snippets[column] = columns[column].replaceAll(GAP, "");
    return { segmentId, bm25, snippets };
  });
}
