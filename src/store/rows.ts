/** A bound list: D1 takes 100 parameters a statement, so lists go in as one JSON text. */
export const IN_JSON = "IN (SELECT value FROM json_each(?))";

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
