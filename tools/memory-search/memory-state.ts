import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

/** State of an object in the memory of this process, with the tables of its migrations. */
export function memoryState(migrations: readonly string[]): DurableObjectState {
  const sqlite = new DatabaseSync(":memory:");
  for (const sql of migrations) sqlite.exec(sql);
  const values = new Map<string, unknown>([["schema", migrations.length]]);
  const prepared = new Map<string, StatementSync>();
  const exec = (sql: string, ...bindings: SQLInputValue[]) => {
    const statement = prepared.get(sql) ?? sqlite.prepare(sql);
    prepared.set(sql, statement);
    const columnNames = statement.columns().map((column) => column.name);
    const rows = columnNames.length > 0 ? statement.all(...bindings) : [];
    if (columnNames.length === 0) statement.run(...bindings);
    const raw = () => rows.map((row) => Object.values(row).map(toBuffer)).values();
    const cursor = { columnNames, raw, rowsRead: 0, rowsWritten: 0 };
    return Object.assign(rows.values(), cursor);
  };
  const storage = {
    sql: { exec, databaseSize: 0 },
    kv: {
      get: (key: string) => values.get(key),
      put: (key: string, value: unknown) => values.set(key, value),
      delete: (key: string) => values.delete(key),
    },
    transactionSync: (work: () => unknown) => work(),
    getAlarm: async () => null,
    setAlarm: async () => {},
    deleteAlarm: async () => {},
    deleteAll: async () => {},
  };
  return { storage } as unknown as DurableObjectState;
}

/** Makes of a blob what the platform returns: an `ArrayBuffer`. */
function toBuffer(value: unknown): unknown {
  return value instanceof Uint8Array ? value.slice().buffer : value;
}
