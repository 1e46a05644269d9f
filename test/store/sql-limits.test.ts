import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { d1, raw, sql, type SqlFragment } from "../../src/store/sql.ts";

const argumentsOf = (count: number) => raw(`SELECT max(${Array(count).fill("abs(1)").join(", ")})`);

const STATEMENTS: [what: string, statement: SqlFragment, refusal: RegExp | null][] = [
  ["32 arguments of a function", argumentsOf(32), null],
  ["33 arguments of a function", argumentsOf(33), /too many arguments/],
  ["a list of 33 values", raw(`SELECT 1 IN (${Array(33).fill("1").join(", ")})`), null],
  ["a parameter of 2,000,000 bytes", sql`SELECT length(${"é".repeat(1_000_000)})`, null],
  ["a larger parameter", sql`SELECT length(${"é".repeat(1_000_001)})`, /too big/],
];

describe.each(STATEMENTS)(
  "the databases of tests, as those of a deployment: %s",
  (_, statement, refusal) => {
    const expectOutcome = async (work: () => Promise<unknown>) =>
      refusal ? expect(work()).rejects.toThrow(refusal) : expect(work()).resolves.toBeDefined();

    it("in D1", () => expectOutcome(async () => d1(env.DB).run`${statement}`));

    it("in an object", () =>
      expectOutcome(() =>
        runInDurableObject(env.INDEX_DATABASE.getByName("limits"), (_object, { storage }) =>
          storage.sql.exec(statement.sql, ...(statement.bindings as string[])).toArray(),
        ),
      ));
  },
);
