import type { SegmentId } from "../ids.ts";
import type { Segment } from "../types.ts";
import { hasUnspaced, UNSPACED } from "../unspaced.ts";
import { IN_INDEX, IN_JSON, inChunks } from "./rows.ts";
import { type AssetScope, segmentsInScope } from "./asset-scope.ts";

/** Columns of the full-text index, in order. */
export const WORD_COLUMNS = ["caption", "transcript", "on_screen_text", "labels"] as const;
export type WordColumn = (typeof WORD_COLUMNS)[number];

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** A letter of such a script, with its marks, or what stands between such letters. */
const TOKEN = new RegExp(
  `(?=${UNSPACED})\\p{L}\\p{M}*|(?:(?!${UNSPACED})[\\p{L}\\p{M}]|\\p{N})+`,
  "gu",
);
/** Ends a word for the full-text index without being seen. */
const GAP = "\u200B";
/** Stands before a text as it is without full-width letters and the like, where that differs. */
const ALSO = "\u2063";

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
  const pattern = hasUnspaced(text) ? TOKEN : WORD;
  // In half the time of `matchAll`: a search reads some thousands of words.
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    tokens.push({ word: found[0], start: found.index });
  }
  return tokens;
}

/**
 * Text as the full-text index takes it, which knows no scripts without spaces and takes "ＴＶ" for another word than
 * "TV" (Unicode's NFKC).
 */
export function toIndexed(text: string): string {
  const normal = text.normalize("NFKC");
  const all = normal === text ? text : `${text}${ALSO}${normal}`;
  return hasUnspaced(all) ? all.replaceAll(TOKEN, `$&${GAP}`) : all;
}

/** SQL for a text as it was before `toIndexed`, to be compared. */
export function fromIndexed(expression: string): string {
  const [gap, also] = [GAP, ALSO].map((character) => `char(${character.charCodeAt(0)})`);
  const own = `substr(${expression}, 1, instr(${expression} || ${also}, ${also}) - 1)`;
  return `replace(${own}, ${gap}, '')`;
}

/** Puts segments' words into the full-text index, in place of any others; not where others are said since. */
export async function indexWords(db: D1Database, segments: Segment[]): Promise<void> {
  const words = segments.map(({ segmentId, caption, transcript, onScreenText, labels }) => ({
    segmentId,
    said: transcript,
    caption: toIndexed(caption),
    transcript: toIndexed(transcript),
    onScreenText: toIndexed(onScreenText),
    labels: toIndexed(labels.join(", ")),
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

/** What is asked of the full-text index: words and phrases (words in order, without quotes). */
export interface WordQuery {
  words: string[];
  phrases: string[][];
  excluded: string[][];
}

/** An FTS5 expression that holds where all phrases stand, and any of the words; null where there are none. */
export function wantedBy({ words, phrases }: Omit<WordQuery, "excluded">): string | null {
  const any = anyOf([...words.map((word) => [word]), ...phrases]);
  const all = allOf(phrases);
  return all === null || any === null ? any : `(${all}) AND (${any})`;
}

/** An expression that holds where one does in any of these columns. */
export function inColumns(expression: string, columns: readonly WordColumn[]): string {
  return columns.length < WORD_COLUMNS.length
    ? `{${columns.join(" ")}} : (${expression})`
    : expression;
}

function toTerm(phrase: string[]): string {
  const tokens = phrase.flatMap(tokensOf).map(({ word }) => {
    return hasUnspaced(word) ? word.replaceAll(/\p{M}/gu, "") : word; // FTS5 skips them, too
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
  query: WordQuery;
  /** Of its words. */
  tokens: readonly AskedToken[];
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
/** Stands for words that tell until it is known which do; no word has it. */
const SOME = "?";
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
  const { scope, query, tokens, columns, limit } = search;
  const wanted = wantedBy(query);
  if (wanted === null) return { hits: [], counts: { total: 0, holding: new Map() } };
  const place = segmentsInScope(scope);
  const unwanted = anyOf(query.excluded);
  const but = unwanted === null ? "" : ` NOT (${unwanted})`;
  const asked = (expression: string) => `(${inColumns(expression, columns)})${but}`;
  // A phrase must stand there whatever else tells: then all that holds it is ranked.
  const telling = query.phrases.length > 0 ? [] : tokens;
  const inPlace = `rowid ${IN_INDEX} AND +rowid ${place.verb} listed`;
  const best = db
    .prepare(
      `WITH telling AS MATERIALIZED (
         SELECT rowid FROM segment_words WHERE ${inPlace} AND segment_words MATCH COALESCE((
           SELECT replace(?, '${SOME}', group_concat(value ->> 'word', ' OR ')) FROM
           json_each(?) JOIN word_counts ON term = value ->> 'stem' WHERE doc * ${TELLING} <= ${TOTAL}
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
      asked(SOME),
      JSON.stringify(telling.map(({ word, stem }) => ({ word: toTerm([word]), stem }))),
      ...place.bindings,
      asked(wanted),
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
