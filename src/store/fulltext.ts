import type { SegmentId } from "../ids.ts";
import type { Segment } from "../types.ts";
import { hasUnsegmentedScript, UNSEGMENTED_SCRIPT } from "../unsegmented-scripts.ts";
import { inChunks, inIndex, inList, prepare, raw, sql } from "./sql.ts";
import { type AssetScope, segmentsInScope } from "./asset-scope.ts";

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
  const normal = text.normalize("NFKC");
  const all = normal === text ? text : `${text}${NORMALIZED_MARK}${normal}`;
  return hasUnsegmentedScript(all) ? all.replaceAll(TOKEN, `$&${TOKEN_SEPARATOR}`) : all;
}

/** SQL that reverses `encodeFtsText`, for comparisons. */
export function decodeFtsSql(expression: string): string {
  const [separator, mark] = [TOKEN_SEPARATOR, NORMALIZED_MARK].map(
    (character) => `char(${character.charCodeAt(0)})`,
  );
  const text = `substr(${expression}, 1, instr(${expression} || ${mark}, ${mark}) - 1)`;
  return `replace(${text}, ${separator}, '')`;
}

/**
 * Indexes the text of segments, replacing their full-text rows. Skips segments whose transcript has
 * changed since they were read.
 */
export async function indexFullText(db: D1Database, segments: Segment[]): Promise<void> {
  const rows = segments.map(({ segmentId, caption, transcript, onScreenText, labels }) => ({
    segmentId,
    storedTranscript: transcript,
    caption: encodeFtsText(caption),
    transcript: encodeFtsText(transcript),
    onScreenText: encodeFtsText(onScreenText),
    labels: encodeFtsText(labels.join(", ")),
  }));
  for (const chunk of inChunks(rows)) {
    const from = sql`FROM json_each(${chunk}), segments WHERE segment_id = value ->> 'segmentId'
      AND segments.transcript = value ->> 'storedTranscript'`;
    await db.batch([
      prepare(db, sql`DELETE FROM segment_fts WHERE rowid IN (SELECT segments.rowid ${from})`),
      prepare(
        db,
        sql`INSERT INTO segment_fts (rowid, caption, transcript, on_screen_text, labels)
          SELECT segments.rowid, value ->> 'caption', value ->> 'transcript',
            value ->> 'onScreenText', value ->> 'labels' ${from}`,
      ),
    ]);
  }
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

/** Restricts an FTS5 expression to columns. */
export function columnFilter(expression: string, columns: readonly FtsColumn[]): string {
  return columns.length < FTS_COLUMNS.length
    ? `{${columns.join(" ")}} : (${expression})`
    : expression;
}

function toTerm(phrase: string[]): string {
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

export interface FtsSearch {
  scope: AssetScope;
  query: FtsQuery;
  /** Tokens of the query's words. */
  tokens: readonly QueryToken[];
  columns: readonly FtsColumn[];
  limit: number;
}

export interface FtsHit {
  segmentId: SegmentId;
  /** Higher is better; about 0 if most segments contain the words. */
  bm25: number;
}

/** Segments in total, and segments that contain a term, by the term's stem. */
export interface DocumentFrequencies {
  total: number;
  byStem: ReadonlyMap<string, number>;
}

/** A term is rare if at most one segment in so many contains it. */
const RARITY = 20;
/** Stands in the bound `MATCH` expression for the rare terms, which only the statement finds. */
const RARE_TERMS = "?";
const TOTAL = "(SELECT SUM(segments) FROM tallies)";

/**
 * Returns the segments in scope that match best by BM25, best first. If `limit` of them contain a
 * rare term, only those are ranked (a cut-off by document frequency, as in Elasticsearch's common
 * terms query), and only the best are joined with `segments`: both would otherwise dominate the
 * query's time. A phrase has to match in any case, so that with one all matches are ranked.
 * `frequencies` are those of all indices together, which `bm25()` uses as well.
 */
export async function searchFullText(
  db: D1Database,
  search: FtsSearch,
): Promise<{ hits: FtsHit[]; frequencies: DocumentFrequencies }> {
  const { scope, query, tokens, columns, limit } = search;
  const expression = matchExpression(query);
  if (expression === null) return { hits: [], frequencies: { total: 0, byStem: new Map() } };
  const excluded = matchAny(query.excluded);
  const not = excluded === null ? "" : ` NOT (${excluded})`;
  const withFilters = (text: string) => `(${columnFilter(text, columns)})${not}`;
  const cutoffTokens = query.phrases.length > 0 ? [] : tokens;
  const terms = cutoffTokens.map(({ word, stem }) => ({ word: toTerm([word]), stem }));
  const { operator, rowids } = segmentsInScope(scope);
  const isInScope = sql`rowid ${inIndex(scope.indexId)} AND +rowid ${raw(operator)} scope_rowids`;
  const best = sql`
    WITH rare_matches AS MATERIALIZED (
      SELECT rowid FROM segment_fts WHERE ${isInScope} AND segment_fts MATCH COALESCE((
        SELECT replace(
          ${withFilters(RARE_TERMS)}, ${RARE_TERMS}, group_concat(value ->> 'word', ' OR ')
        )
        FROM json_each(${JSON.stringify(terms)})
          JOIN segment_fts_vocab ON term = value ->> 'stem'
        WHERE doc * ${raw(`${RARITY}`)} <= ${raw(TOTAL)}
      ), '""')
    ), scope_rowids AS MATERIALIZED (${rowids})
    SELECT segment_id AS segmentId, bm25 FROM (
      SELECT rowid AS id, -bm25(segment_fts) AS bm25 FROM segment_fts
      WHERE ${isInScope} AND segment_fts MATCH ${withFilters(expression)}
        AND ((SELECT COUNT(*) FROM rare_matches) < ${limit} OR +rowid IN rare_matches)
      ORDER BY bm25 DESC LIMIT ${limit}
    ) JOIN segments ON segments.rowid = id ORDER BY bm25 DESC`;
  const frequencies = sql`SELECT term, doc, ${raw(TOTAL)} AS total FROM segment_fts_vocab
    WHERE term ${inList(tokens.map(({ stem }) => stem))}`;
  const [hits, counts] = await db.batch([prepare(db, best), prepare(db, frequencies)]);
  const rows = counts!.results as { term: string; doc: number; total: number }[];
  return {
    hits: hits!.results as FtsHit[],
    frequencies: {
      total: rows[0]?.total ?? 0,
      byStem: new Map(rows.map(({ term, doc }) => [term, doc])),
    },
  };
}
