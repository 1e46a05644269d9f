import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { findWholeReads, type PlanStep, type SchemaRow } from "../../support/whole-reads.ts";

const db = new DatabaseSync(":memory:");
db.exec(`CREATE TABLE songs (song_id TEXT PRIMARY KEY, album TEXT, title TEXT, due INTEGER);
  CREATE INDEX songs_by_album ON songs (album);
  CREATE INDEX songs_due ON songs (due) WHERE due IS NOT NULL;
  CREATE TABLE deployment (limits TEXT);
  CREATE TABLE assets (asset_id TEXT, deleted_at INTEGER)`);

function wholeReadsOf(statement: string): string[] {
  const rows = (sql: string) => db.prepare(sql).all() as unknown;
  const steps = rows(`EXPLAIN QUERY PLAN ${statement}`) as PlanStep[];
  return findWholeReads(statement, steps, rows("SELECT * FROM sqlite_schema") as SchemaRow[]);
}

describe("a statement that reads a growing table whole is found", () => {
  it.each([
    ["a table", "SELECT *  FROM songs", "SCAN songs: SELECT * FROM songs"],
    ["an index", "SELECT album FROM songs", "SCAN songs USING COVERING INDEX songs_by_album"],
    ["a table of a subquery", "SELECT 1 IN (SELECT due FROM songs)", "SCAN songs"],
  ])("if it reads %s", (_, statement, start) => {
    expect(wholeReadsOf(statement)).toEqual([expect.stringContaining(start)]);
  });

  it.each([
    ["a row by its key", "SELECT * FROM songs WHERE song_id = ?"],
    ["the rows of a partial index", "SELECT due FROM songs WHERE due IS NOT NULL"],
    ["a list", "SELECT value FROM json_each(?)"],
    ["a table of one row", "SELECT limits FROM deployment"],
    ["a table that it may read", "DELETE FROM assets WHERE deleted_at < ?"],
  ])("but not if it reads %s", (_, statement) => {
    expect(wholeReadsOf(statement)).toEqual([]);
  });
});
