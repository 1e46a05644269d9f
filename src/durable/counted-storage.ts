import { type SqlFragment, type SqlRows, toObjects } from "../store/sql.ts";

export type Sql = Pick<SqlStorage, "exec">;

export class CountedStorage implements Sql {
  readonly #sql: SqlStorage;
  readonly #cursors: Pick<SqlStorageCursor<never>, "rowsRead" | "rowsWritten">[] = [];

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  exec<Row extends Record<string, SqlStorageValue>>(query: string, ...bindings: SqlStorageValue[]) {
    const cursor = this.#sql.exec<Row>(query, ...bindings);
    this.#cursors.push(cursor);
    return cursor;
  }

  /** Rows read by statements whose results have been read to the end. */
  get rowsRead(): number {
    return this.#cursors.reduce((sum, cursor) => sum + cursor.rowsRead, 0);
  }

  get rowsWritten(): number {
    return this.#cursors.reduce((sum, cursor) => sum + cursor.rowsWritten, 0);
  }
}

export function exec<Row extends Record<string, SqlStorageValue>>(
  storage: Sql,
  { sql, bindings }: SqlFragment,
): SqlStorageCursor<Row> {
  return storage.exec<Row>(sql, ...bindings);
}

/** What the rows of an answer may still take. */
export interface ByteBudget {
  left: number;
}

/**
 * Reads the rows of a statement until the budget is spent, but the first one in any case: it has
 * 2 MB at most. Without a budget, for what stays inside of the object, reads all.
 */
export function readRows(
  storage: Sql,
  statement: SqlFragment,
  budget: ByteBudget = { left: Infinity },
): SqlRows {
  const cursor = exec(storage, statement);
  const { columnNames: columns } = cursor;
  const rows: SqlStorageValue[][] = [];
  for (const row of cursor.raw()) {
    budget.left -= bytesOf(row);
    if (budget.left < 0 && rows.length > 0) return { columns, rows, isCut: true };
    rows.push(row);
  }
  return { columns, rows };
}

/** Bytes of a value beside its text, with some to spare. */
const VALUE_BYTES = 16;

/** Returns the bytes that a row takes in an answer: V8 writes a character in one byte or in two. */
function bytesOf(row: SqlStorageValue[]): number {
  return row.reduce<number>((sum, value) => {
    if (typeof value === "string") {
      // oxlint-disable-next-line no-control-regex -- all of Latin-1
      return sum + VALUE_BYTES + value.length * (/[^\u0000-\u00ff]/.test(value) ? 2 : 1);
    }
    return sum + VALUE_BYTES + (value instanceof ArrayBuffer ? value.byteLength : 0);
  }, 0);
}

export function readObjects<Row>(storage: Sql, statement: SqlFragment): Row[] {
  return toObjects<Row>(readRows(storage, statement));
}

/** Returns the number in the only row, 0 for NULL or no row. */
export function readNumber(storage: Sql, statement: SqlFragment): number {
  return Number(readRows(storage, statement).rows[0]?.[0] ?? 0);
}
