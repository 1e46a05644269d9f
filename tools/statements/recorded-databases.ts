import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { findSlowSteps } from "./query-plans.ts";
import { SqliteD1 } from "./sqlite-d1.ts";

/** A statement that a database has run, and the function that was called. */
export interface RecordedStatement {
  /** Database: `D1`, or the class of an object. */
  database: string;
  caller: string;
  sql: string;
}

/** Records statements in their order, and which of them read more than they need. */
export class StatementLog {
  readonly statements: RecordedStatement[] = [];
  readonly problems: string[] = [];
  readonly #explained = new Set<string>();
  caller = "";

  add(database: string, sql: string, sqlite: DatabaseSync): void {
    const { caller } = this;
    this.statements.push({ database, caller, sql });
    if (this.#explained.has(`${database} ${sql}`)) return;
    this.#explained.add(`${database} ${sql}`);
    const found = findSlowSteps(sqlite, sql, caller);
    this.problems.push(
      ...found.map((step) => `${caller}: ${step}: ${sql.replaceAll(/\s+/g, " ")}`),
    );
  }
}

/** An empty D1 with the tables of `migrations/` and the rows of `fixture`, which records. */
export function recordedD1(log: Pick<StatementLog, "add">, fixture: string): D1Database {
  const sqlite = new SqliteD1();
  sqlite.exec(fixture);
  const prepare = (sql: string) => {
    const statement = sqlite.prepare(sql);
    log.add("D1", sql, sqlite.database);
    return statement;
  };
  const db = { prepare, batch: sqlite.batch.bind(sqlite), withSession: () => db };
  return db as unknown as D1Database;
}

/** State of an object of class `name`, with the tables of its migrations, which records. */
export function recordedState(
  log: Pick<StatementLog, "add">,
  name: string,
  migrations: readonly string[],
  fixture = "",
): DurableObjectState {
  const sqlite = new DatabaseSync(":memory:");
  for (const sql of [...migrations, fixture]) sqlite.exec(sql);
  const values = new Map<string, unknown>([["schema", migrations.length]]);
  const prepared = new Map<string, StatementSync>();
  const exec = (sql: string, ...bindings: SQLInputValue[]) => {
    const statement = prepared.get(sql) ?? sqlite.prepare(sql);
    prepared.set(sql, statement);
    log.add(name, sql, sqlite);
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
