import type { SegmentId } from "../ids.ts";
import type { Segment } from "../types.ts";
import { IN_INDEX, IN_JSON, inChunks } from "./rows.ts";
import { type AssetScope, segmentsInScope } from "./asset-scope.ts";

/** Columns of the full-text index, in order. */
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
  const tokens: Token[] = [];
  const pattern = HAS_UNSPACED.test(text) ? TOKEN : WORD;
  // In half the time of `matchAll`: a search reads some thousands of words.
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    tokens.push({ word: found[0], start: found.index });
  }
  return tokens;
}

/** Text as the full-text index takes it: it knows no scripts without spaces. */
export function spaceOut(text: string): string {
  return HAS_UNSPACED.test(text) ? text.replaceAll(TOKEN, `$&${GAP}`) : text;
}

/** SQL for a text as it was before `spaceOut`, to be compared. */
export function unspaced(expression: string): string {
  return `replace(${expression}, char(${GAP.charCodeAt(0)}), '')`;
}

/** Puts segments' words into the full-text index, in place of any others; not where others are said since. */
export async function indexWords(db: D1Database, segments: Segment[]): Promise<void> {
  const words = segments.map(({ segmentId, caption, transcript, onScreenText, labels }) => ({
    segmentId,
    said: transcript,
    caption: spaceOut(caption),
    transcript: spaceOut(transcript),
    onScreenText: spaceOut(onScreenText),
    labels: spaceOut(labels.join(", ")),
  }));
  const from = `FROM json_each(?), segments
    WHERE segment_id = value ->> 'segmentId' AND segments.transcript = value ->> 'said'`;
  for (const chunk of inChunks(words)) {
    await db.batch([
      db
        .prepare(`DELETE FROM segment_words WHERE rowid IN (SELECT segments.rowid ${from})`)
        .bind(chunk),
      db
        .prepare(
          `INSERT INTO segment_words (rowid, caption, transcript, on_screen_text, labels)
           SELECT segments.rowid, value ->> 'caption', value ->> 'transcript',
             value ->> 'onScreenText', value ->> 'labels' ${from}`,
        )
        .bind(chunk),
    ]);
  }
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

/** A word of a query as a token of the full-text index, and its stem. */
export interface AskedToken {
  word: string;
  stem: string;
}

export interface WordSearch {
  scope: AssetScope;
  /** An FTS5 expression. */
  expression: string;
  /** Of the words in it. */
  tokens: readonly AskedToken[];
  /** Whether any of them is all that the expression wants. */
  isAnyEnough: boolean;
  columns: readonly WordColumn[];
  limit: number;
}

export interface WordHit {
  segmentId: SegmentId;
  /** The higher, the better; 0 and less where its words are everywhere. */
  bm25: number;
}

/** How many segments there are, and how many of them hold a word, by its stem. */
export interface WordCounts {
  total: number;
  holding: ReadonlyMap<string, number>;
}

/** A word tells where at most one segment in so many holds it. */
const TELLING = 20;
const TOTAL = "(SELECT SUM(segments) FROM tallies)";

/**
 * The segments of the assets in scope that match best by BM25, the best first. Only those that hold a word that
 * tells are ranked, where there are `limit` of them (a cut-off by document frequency: Elasticsearch's common terms
 * query), and only the best are looked up: either takes most of the time otherwise. `counts` are of all indices
 * together, as those are that BM25 goes by.
 */
export async function searchWords(
  db: D1Database,
  search: WordSearch,
): Promise<{ hits: WordHit[]; counts: WordCounts }> {
  const { scope, expression, tokens, isAnyEnough, columns, limit } = search;
  const place = segmentsInScope(scope);
  const within = columns.length < WORD_COLUMNS.length ? `{${columns.join(" ")}} : ` : "";
  const inPlace = `rowid ${IN_INDEX} AND +rowid ${place.verb} listed`;
  const best = db
    .prepare(
      `WITH telling AS MATERIALIZED (
         SELECT rowid FROM segment_words WHERE ${inPlace} AND segment_words MATCH COALESCE((
           SELECT ? || '(' || group_concat(value ->> 'word', ' OR ') || ')'
           FROM json_each(?) JOIN word_counts ON term = value ->> 'stem' WHERE doc * ${TELLING} <= ${TOTAL}
         ), '""')
       ), listed AS MATERIALIZED (${place.sql})
       SELECT segment_id AS segmentId, bm25 FROM (
         SELECT rowid AS id, -bm25(segment_words) AS bm25 FROM segment_words
         WHERE ${inPlace} AND segment_words MATCH ?
           AND ((SELECT COUNT(*) FROM telling) < ? OR +rowid IN telling)
         ORDER BY bm25 DESC LIMIT ?
       ) JOIN segments ON segments.rowid = id ORDER BY bm25 DESC`,
    )
    .bind(
      scope.indexId,
      within,
      JSON.stringify(
        isAnyEnough ? tokens.map(({ word, stem }) => ({ word: toTerm([word]), stem })) : [],
      ),
      ...place.bindings,
      `${within}(${expression})`,
      limit,
      limit,
    );
  const counting = db
    .prepare(`SELECT term, doc, ${TOTAL} AS total FROM word_counts WHERE term ${IN_JSON}`)
    .bind(JSON.stringify(tokens.map(({ stem }) => stem)));
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
