import type { VectorRows } from "./vector-rows.ts";

/** Rows by namespace. */
type Rows = Map<string, VectorRows>;

const spaces = new Map<string, { rows: Rows; mutation: string | null }>();

/**
 * The rows that a space's last object had, where they hold all up to `mutation`; else none. The runtime puts
 * an object away after ten idle seconds, and reading 100,000 vectors back takes some.
 */
export function takeRows(space: string, mutation: string | null): Rows {
  const kept = spaces.get(space);
  const rows: Rows = kept?.mutation === mutation ? kept.rows : new Map();
  keepRows(space, rows, mutation);
  return rows;
}

/** Tells up to which mutation the rows hold all. */
export function keepRows(space: string, rows: Rows, mutation: string | null): void {
  spaces.set(space, { rows, mutation });
}
