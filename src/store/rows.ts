import type { IndexId } from "../ids.ts";
/** SQL for the first rowid that segments of an index (`?1` its id) and their words may have, and the last. */
const FIRST_ROW = "(SELECT rowid << 32 FROM indices WHERE index_id = ?1)";
const LAST_ROW = "(SELECT (rowid + 1 << 32) - 1 FROM indices WHERE index_id = ?1)";
/** Holds for a rowid of theirs: a range of the index's own, so that a search reads no other's. */
export const IN_INDEX = `BETWEEN ${FIRST_ROW} AND ${LAST_ROW}`;
/** The highest rowid that a segment of the index has, or the one before the first. */
export const LAST_TAKEN_ROW = `COALESCE((SELECT MAX(rowid) FROM segments WHERE rowid ${IN_INDEX}), ${FIRST_ROW})`;

/** A bound list: D1 takes 100 parameters a statement, so lists go in as one JSON text. */
export const IN_JSON = "IN (SELECT value FROM json_each(?))";

/**
 * Rows as JSON texts to bind, each of at most 200 rows and, one larger row aside, a quarter of a million
 * characters: D1 takes 2 MB a parameter.
 */
export function inChunks(rows: object[]): string[] {
  const chunks: string[][] = [];
  let size = Infinity;
  for (const row of rows) {
    const text = JSON.stringify(row);
    size += text.length;
    if (size > CHUNK.characters || chunks.at(-1)!.length === CHUNK.rows) {
      chunks.push([]);
      size = text.length;
    }
    chunks.at(-1)!.push(text);
  }
  return chunks.map((chunk) => `[${chunk.join(",")}]`);
}

const CHUNK = { rows: 200, characters: 250_000 } as const;

/** Columns that hold JSON come back as text. */
export function parseColumns<Row extends object>(row: Row, columns: readonly (keyof Row)[]): Row {
  const parsed = { ...row };
  for (const column of columns) {
    const text = row[column];
    if (typeof text === "string") parsed[column] = JSON.parse(text) as Row[keyof Row];
  }
  return parsed;
}

/** A page of a list that goes by ascending id. */
export interface Page<Item> {
  items: Item[];
  total: number;
  /** The last id of the page, where there is more behind it. */
  next: string | null;
}

export interface PageRequest {
  limit: number;
  /** Ids after this one. */
  after: string;
}

/** Cuts `limit + 1` rows to a page. */
export function toPage<Item>(
  rows: Item[],
  total: number,
  limit: number,
  idOf: (item: Item) => string,
): Page<Item> {
  const items = rows.slice(0, limit);
  return { items, total, next: rows.length > limit ? idOf(items.at(-1)!) : null };
}

/** Of these ids, those that an index has no row of. `row` is SQL for that of `value` in the index `?2`. */
export async function listMissing(
  db: D1Database,
  indexId: IndexId,
  ids: string[],
  row: string,
): Promise<string[]> {
  const { results } = await db
    .prepare(`SELECT value AS id FROM json_each(?1) WHERE NOT EXISTS (${row})`)
    .bind(JSON.stringify(ids), indexId)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}
