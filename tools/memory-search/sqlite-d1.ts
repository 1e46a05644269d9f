import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { PROJECT } from "../stack/local-state.ts";

/** D1 in the memory of this process, with the tables of `migrations/`: statements and batches. */
export class SqliteD1 {
  readonly database = new DatabaseSync(":memory:");
  readonly #prepared = new Map<string, StatementSync>();

  constructor() {
    const folder = join(PROJECT, "migrations");
    for (const name of readdirSync(folder).sort()) {
      this.database.exec(readFileSync(join(folder, name), "utf8"));
    }
  }

  exec(sql: string): void {
    this.database.exec(sql);
  }

  prepare(sql: string): SqliteStatement {
    const prepared = this.#prepared.get(sql) ?? this.database.prepare(sql);
    this.#prepared.set(sql, prepared);
    return new SqliteStatement(prepared, []);
  }

  async batch(statements: SqliteStatement[]): Promise<SqliteResult[]> {
    return Promise.all(statements.map((statement) => statement.all()));
  }
}

interface SqliteResult {
  results: unknown[];
  meta: { changes: number };
}

class SqliteStatement {
  readonly #statement: StatementSync;
  readonly #values: SQLInputValue[];

  constructor(statement: StatementSync, values: SQLInputValue[]) {
    this.#statement = statement;
    this.#values = values;
  }

  bind(...values: SQLInputValue[]): SqliteStatement {
    return new SqliteStatement(this.#statement, values);
  }

  async all(): Promise<SqliteResult> {
    if (this.#statement.columns().length > 0) {
      return { results: this.#statement.all(...this.#values), meta: { changes: 0 } };
    }
    const { changes } = this.#statement.run(...this.#values);
    return { results: [], meta: { changes: Number(changes) } };
  }

  run(): Promise<SqliteResult> {
    return this.all();
  }

  async first(): Promise<unknown> {
    return (await this.all()).results[0] ?? null;
  }
}
