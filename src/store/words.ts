import type { AssetType } from "../types.ts";
import { IN_JSON } from "./rows.ts";

/** Columns of the full-text index that hold a segment's words, in order; `scope` comes before them. */
const WORD_COLUMNS = ["caption", "transcript", "on_screen_text", "labels"] as const;
export type WordColumn = (typeof WORD_COLUMNS)[number];

/** Around the matched words of a snippet. */
export const MARK = { start: "\u0001", end: "\u0002" } as const;
const SNIPPET_TOKENS = 32;

export interface WordSearch {
  indexId: string;
  /** An FTS5 expression over `columns`. */
  expression: string;
  columns: readonly WordColumn[];
  types: readonly AssetType[];
  /** Empty means all. */
  assetIds: readonly string[];
  limit: number;
}

export interface WordHit {
  segmentId: string;
  /** By column: the words around the best match, with marks where it matched. */
  snippets: Record<WordColumn, string>;
}

/** The segments of ready assets that match best by BM25, the best first. */
export async function searchWords(db: D1Database, search: WordSearch): Promise<WordHit[]> {
  const snippets = WORD_COLUMNS.map(
    (column, i) =>
      `snippet(segment_words, ${i + 1}, char(1), char(2), '…', ${SNIPPET_TOKENS}) AS ${column}`,
  );
  const { results } = await db
    .prepare(
      `SELECT segment_id AS segmentId, ${snippets.join(", ")}
       FROM segment_words
         JOIN segments ON segments.rowid = segment_words.rowid
         JOIN assets USING (asset_id)
       WHERE segment_words MATCH ?1 AND state = 'ready' AND asset_type ${IN_JSON.replace("?", "?2")}
         AND (?3 = '[]' OR asset_id ${IN_JSON.replace("?", "?3")})
       ORDER BY bm25(segment_words, 0, 1, 1, 1, 1) LIMIT ?4`,
    )
    .bind(
      `scope : "${search.indexId}" AND {${search.columns.join(" ")}} : (${search.expression})`,
      JSON.stringify(search.types),
      JSON.stringify(search.assetIds),
      search.limit,
    )
    .all<{ segmentId: string } & Record<WordColumn, string>>();
  return results.map(({ segmentId, ...columns }) => ({ segmentId, snippets: columns }));
}
