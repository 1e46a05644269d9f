import type { VectorRows } from "./vector-rows.ts";

/** Rows by namespace. */
type Rows = Map<string, VectorRows>;

const spaces = new Map<string, { rows: Rows; mutation: string | null }>();

/**
 * Returns the rows of a space's previous object if they are complete up to `mutation`, else an
 * empty map. The runtime evicts an object after ten idle seconds, and reloading 100,000 vectors is
 * slow.
 */
export function takeRows(space: string, mutation: string | null): Rows {
  const cached = spaces.get(space);
  const rows: Rows = cached?.mutation === mutation ? cached.rows : new Map();
  storeRows(space, rows, mutation);
  return rows;
}

/** Stores rows that are complete up to `mutation`. */
export function storeRows(space: string, rows: Rows, mutation: string | null): void {
  spaces.set(space, { rows, mutation });
}
