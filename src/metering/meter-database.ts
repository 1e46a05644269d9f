import type { Count } from "./usage-meter.ts";

/** The statements of a metered database that a batch runs. */
const statements = new WeakMap<object, D1PreparedStatement>();

/** Wraps a database to count its queries, and the rows that they read and write. */
export function meterDatabase<Db extends D1Database | D1DatabaseSession>(db: Db, count: Count): Db {
  const countRows = <Result extends D1Response>(result: Result): Result => {
    count("rowsRead", result.meta.rows_read);
    count("rowsWritten", result.meta.rows_written);
    return result;
  };

  const countQueries = (queries: number) => {
    count("queries", queries);
    count("subrequests", 1);
  };

  const meterStatement = (statement: D1PreparedStatement): D1PreparedStatement => {
    const all = async <Row>() => {
      countQueries(1);
      return countRows(await statement.all<Row>());
    };
    const metered = {
      bind: (...values: unknown[]) => meterStatement(statement.bind(...values)),
      async run<Row>() {
        countQueries(1);
        return countRows(await statement.run<Row>());
      },
      all,
      async first(column?: string): Promise<unknown> {
        const row = (await all<Record<string, unknown>>()).results[0] ?? null;
        return row && column !== undefined ? row[column] : row;
      },
    };
    statements.set(metered, statement);
    return metered as D1PreparedStatement; // no `raw`: it doesn't tell how many rows it read
  };

  const metered = {
    prepare: (query: string) => meterStatement(db.prepare(query)),
    async batch<Row>(batch: D1PreparedStatement[]): Promise<D1Result<Row>[]> {
      countQueries(batch.length);
      const results = await db.batch<Row>(batch.map((item) => statements.get(item) ?? item));
      return results.map(countRows);
    },
    withSession: (constraint?: string) =>
      meterDatabase((db as D1Database).withSession(constraint), count),
    getBookmark: () => (db as D1DatabaseSession).getBookmark(),
  };
  return metered as unknown as Db;
}
