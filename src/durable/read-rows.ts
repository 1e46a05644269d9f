import type { Sql } from "./counted-storage.ts";
import { type SqlFragment, type SqlRows, toObjects } from "../store/sql.ts";

export function readRows(storage: Sql, { sql, bindings }: SqlFragment): SqlRows {
  const cursor = storage.exec(sql, ...bindings);
  return { columns: cursor.columnNames, rows: [...cursor.raw()] };
}

export function readObjects<Row>(storage: Sql, statement: SqlFragment): Row[] {
  return toObjects<Row>(readRows(storage, statement));
}

/** Returns the number in the only row, 0 for NULL or no row. */
export function readNumber(storage: Sql, statement: SqlFragment): number {
  return Number(readRows(storage, statement).rows[0]?.[0] ?? 0);
}
