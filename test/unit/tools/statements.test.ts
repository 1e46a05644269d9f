import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { formatStatements } from "../../../tools/statements/format-statements.ts";
import { findSlowSteps } from "../../../tools/statements/query-plans.ts";
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

describe("a statement that reads more than it needs is reported", () => {
  const db = new DatabaseSync(":memory:");
  db.exec(`CREATE TABLE songs (song_id TEXT PRIMARY KEY, album TEXT, title TEXT, due INTEGER);
    CREATE INDEX songs_by_album ON songs (album);
    CREATE INDEX songs_due ON songs (due) WHERE due IS NOT NULL;
    CREATE TABLE deployment (limits TEXT)`);
  const rename = "UPDATE songs SET title = value FROM json_each(?) WHERE song_id = key";

  it.each([
    ["a table", "SELECT * FROM songs", ["reads songs whole (SCAN songs)"]],
    ["an index", "SELECT album FROM songs", [expect.stringContaining("reads songs whole")]],
    [
      "a list for each row",
      `${rename} AND album = ?`,
      [
        "reads its list again for each row of another " +
          "(SEARCH songs USING INDEX songs_by_album (album=?))",
      ],
    ],
  ])("if it reads %s", (_, statement, problems) => {
    expect(findSlowSteps(db, statement, "songs.ts list")).toEqual(problems);
  });

  it.each([
    ["the rows of a partial index", "SELECT due FROM songs WHERE due IS NOT NULL"],
    ["a row for each entry of a list", rename],
    ["a list for one row", "SELECT value FROM songs, json_each(?) WHERE song_id = ?"],
    ["a table of one row", "SELECT limits FROM deployment"],
  ])("but not if it reads %s", (_, statement) => {
    expect(findSlowSteps(db, statement, "songs.ts list")).toEqual([]);
  });
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
