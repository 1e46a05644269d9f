/** The part of an object's storage that runs statements. */
export type Sql = Pick<SqlStorage, "exec">;

/** Runs statements, and counts the rows that they read and write. */
export class CountedStorage implements Sql {
  readonly #sql: SqlStorage;
  readonly #cursors: Pick<SqlStorageCursor<never>, "rowsRead" | "rowsWritten">[] = [];

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  exec<Row extends Record<string, SqlStorageValue>>(
    query: string,
    ...bindings: SqlStorageValue[]
  ): SqlStorageCursor<Row> {
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
