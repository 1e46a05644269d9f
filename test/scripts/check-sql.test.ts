import { describe, expect, it } from "vitest";
import { findLooseSql, findLossyMigrations } from "../../scripts/check-sql.ts";

describe("findLooseSql", () => {
  const find = (file: string, text: string) => findLooseSql(new Map([[file, text]]));

  it.each([
    'await db.prepare("SELECT 1 FROM assets WHERE asset_id = ?").bind(assetId).first();',
    "const row = statement\n  .bind(assetId, indexId)\n  .first();",
    'this.#storage.sql.exec("DELETE FROM events WHERE seq <= ?", seq);',
    'const rows = ctx.storage.sql\n  .exec<Row>("SELECT seq FROM events WHERE seq > ?", seq);',
    'sql.exec("DELETE FROM assets");',
  ])("reports values that are bound by position: %s", (text) => {
    expect(find("src/store/a.ts", text)).toContainEqual(
      expect.stringContaining("compose the statement"),
    );
    expect(find("src/store/sql.ts", text)).toEqual([]);
  });

  it("reports a statement above store/ and durable/", () => {
    const text = "await run(env.DB, sql`DELETE FROM assets`);";
    expect(find("src/routes/a.ts", text)).toEqual([expect.stringContaining("composes SQL")]);
    expect(find("src/durable/a.ts", text)).toEqual([]);
  });

  it.each(["sql`INSERT INTO assets VALUES (1)`", "sql`INSERT OR IGNORE INTO assets\n  SELECT 1`"])(
    "reports %s, which names no columns",
    (text) => {
      expect(find("src/store/a.ts", text)).toEqual([expect.stringContaining("naming columns")]);
    },
  );

  it.each(["/a(b)/.exec(text)", "// db.prepare(text)", "/** `db.prepare(text).bind(a)` */"])(
    "allows %s",
    (text) => {
      expect(find("src/store/a.ts", text)).toEqual([]);
    },
  );
});

describe("findLossyMigrations", () => {
  const inObject = (sql: string) =>
    findLossyMigrations(
      new Map([["src/durable/a.ts", `export const A_MIGRATIONS = [\n  \`${sql}\`,\n];\n`]]),
    );
  const inD1 = (file: string, sql: string) => findLossyMigrations(new Map([[file, sql]]));

  it.each([
    ["DROP TABLE assets;", "drops"],
    ["drop trigger assets_content;", "drops"],
    ["-- Not needed any more.\nDROP TRIGGER segments_count_in;", "drops"],
    ["CREATE TABLE notes (note TEXT) STRICT; DROP VIEW b;", "drops"],
    ["ALTER TABLE assets DROP COLUMN state;", "drops"],
    ["ALTER TABLE assets DROP state;", "drops"],
    ["ALTER TABLE assets RENAME TO media;", "renames"],
    ["ALTER TABLE assets\n  RENAME COLUMN state TO phase;", "renames"],
    ["ALTER TABLE assets ADD COLUMN note TEXT NOT NULL;", "without a DEFAULT"],
    ["CREATE UNIQUE INDEX assets_by_name ON assets (name);", "refuses what"],
    ["alter table assets add note text not null check (note <> '')", "without a DEFAULT"],
  ])("reports %j, of an object and of D1", (sql, reason) => {
    expect(inObject(sql)).toEqual([expect.stringContaining(reason)]);
    expect(inD1("migrations/0012_a.sql", sql)).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    "CREATE TABLE notes (note TEXT NOT NULL) STRICT; CREATE UNIQUE INDEX a ON notes (note);",
    "CREATE INDEX assets_by_name ON assets (name);",
    "ALTER TABLE assets ADD COLUMN note TEXT;",
    "ALTER TABLE assets ADD COLUMN note TEXT NOT NULL DEFAULT '';",
    "CREATE TRIGGER a AFTER DELETE ON assets BEGIN DELETE FROM notes; END;",
    "-- DROP TABLE assets",
    "DROP INDEX assets_by_name;",
  ])("allows %j", (sql) => {
    expect(inObject(sql)).toEqual([]);
    expect(inD1("migrations/0012_a.sql", sql)).toEqual([]);
  });

  it("allows the migrations of D1 that were there before the rule", () => {
    expect(inD1("migrations/0007_waveform.sql", "DROP TRIGGER assets_bytes_in;")).toEqual([]);
  });
});
