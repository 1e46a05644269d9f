import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { refuseArguments, refuseParameters } from "./sql-limits.ts";
import { findWholeReads, type PlanStep, type SchemaRow } from "./whole-reads.ts";

/** The callers whose statements are checked: tests may read tables whole. */
const SERVICE = /\/src\/(?:store|durable)\//;
const SCHEMA = "SELECT type, name, sql FROM sqlite_schema";
const explained = new Set<string>();
const checks: Promise<string[]>[] = [];

function check(
  statement: string,
  query: <Row>(sql: string, ...values: null[]) => Promise<Row[]> | Row[],
): void {
  const isQuery = /^\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE|REPLACE)\b/i.test(statement);
  if (!isQuery || explained.has(statement)) return;
  if (!SERVICE.test(new Error("called from").stack ?? "")) return;
  explained.add(statement);
  const values = Array.from(statement.matchAll(/\?/g), () => null);
  const explain = async () => {
    const plan = query<PlanStep>(`EXPLAIN QUERY PLAN ${statement}`, ...values);
    const schema = query<SchemaRow>(SCHEMA); // before any wait, while the object has control
    return findWholeReads(statement, await plan, await schema);
  };
  // A statement beyond the limits of the platform fails when it runs, which its test expects. One
  // of an earlier file may come before this file's tables are there.
  checks.push(explain().catch((error: unknown) => (isLimit(error) ? [] : [String(error)])));
}

const isLimit = (error: unknown) =>
  /too large|too long|TOOBIG|too many|no such table/i.test(String(error));

const database = Object.getPrototypeOf(env.DB) as D1Database;
// oxlint-disable-next-line typescript/unbound-method -- called on its database below
const { prepare } = database;
database.prepare = function (statement) {
  refuseArguments(statement);
  check(statement, async <Row>(sql: string, ...values: null[]) => {
    return (
      await prepare
        .call(this, sql)
        .bind(...values)
        .all<Row>()
    ).results;
  });
  return prepare.call(this, statement);
};

const prepared = Object.getPrototypeOf(env.DB.prepare("SELECT 1")) as D1PreparedStatement;
// oxlint-disable-next-line typescript/unbound-method -- called on its statement below
const { bind } = prepared;
prepared.bind = function (...values) {
  refuseParameters(values);
  return bind.apply(this, values);
};

await runInDurableObject(env.INDEX_DATABASE.getByName("query plans"), (_, { storage }) => {
  const prototype = Object.getPrototypeOf(storage.sql) as Pick<SqlStorage, "exec">;
  const { exec } = prototype;
  prototype.exec = function (this: SqlStorage, statement, ...values) {
    refuseArguments(statement);
    refuseParameters(values);
    check(statement, <Row>(sql: string, ...nulls: null[]) => {
      return exec.call(this, sql, ...nulls).toArray() as Row[];
    });
    return exec.call(this, statement, ...values);
  } as SqlStorage["exec"];
});

/** Returns the statements of the service that read a growing table whole, each of them once. */
export async function takeWholeReads(): Promise<string[]> {
  return (await Promise.all(checks.splice(0))).flat();
}
