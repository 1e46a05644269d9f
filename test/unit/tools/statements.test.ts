import { expect, it } from "vitest";
import { formatStatements } from "../../../tools/statements/format-statements.ts";
import {
  recordedD1,
  recordedState,
  StatementLog,
} from "../../../tools/statements/recorded-databases.ts";
import { argumentsOf, isStoreFunction } from "../../../tools/statements/store-calls.ts";
import { TemplateCoverage } from "../../../tools/statements/template-coverage.ts";

it.each([
  ["SELECT unknown FROM assets", "no such column: unknown"],
  ["SELECT 1 FROM unknown", "no such table: unknown"],
])("the record of statements fails for %s", (sql, message) => {
  const log = new StatementLog();
  expect(() => recordedD1(log, "").prepare(sql)).toThrow(message);
  const { storage } = recordedState(log, "MediaIndex", ["CREATE TABLE assets (asset_id TEXT)"]);
  expect(() => storage.sql.exec(sql)).toThrow(message);
});

it("a statement is listed once, under the first function that runs it in a database", () => {
  const of = (database: string, caller: string, sql: string) => ({ database, caller, sql });
  const text = formatStatements([
    of("D1", "a.ts first", "SELECT a,\n     b FROM t WHERE a IN (SELECT 1 FROM u)"),
    of("D1", "a.ts second", "SELECT a, b\nFROM t\nWHERE a IN (SELECT 1\nFROM u)"),
    of("MediaIndex", "b.ts third", "SELECT 'a  b'"),
  ]);
  expect(text.slice(text.indexOf("-- a.ts"))).toBe(`-- a.ts first, in D1
SELECT a, b
  FROM t
  WHERE a IN (SELECT 1 FROM u);

-- b.ts third, in MediaIndex
SELECT 'a  b';
`);
});

it("a store function gets samples by the names of its parameters", () => {
  const work = (db: string, { limit }: { limit: number }, assetId: string, room = "none") =>
    [db, limit, assetId, room].join();
  expect(isStoreFunction(work)).toBe(true);
  expect(work(...(argumentsOf(work as never, { db: "D1" }) as Parameters<typeof work>))).toBe(
    "D1,10,vid_00000000000000000000000001,none",
  );
});

it.each([
  (db: unknown, unsampled: unknown) => [db, unsampled],
  (db: unknown, { unsampled }: { unsampled: unknown }) => [db, unsampled],
])("a parameter without a sample fails the record of statements", (work) => {
  expect(() => argumentsOf(work as never, { db: null })).toThrow('no sample of "unsampled"');
});

it("a template that nothing has composed is reported by its line", async () => {
  const coverage = new TemplateCoverage();
  await coverage.start();
  const sources = new Map([
    ["src/store/unloaded.ts", "// none\nexport const a = () => sql`SELECT 1`;"],
  ]);
  expect(await coverage.listUnreached(sources)).toEqual(["src/store/unloaded.ts:2"]);
});
