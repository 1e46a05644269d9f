import { describe, expect, it } from "vitest";
import { findLooseSql } from "../../scripts/check-sql.ts";

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

  it.each(["/a(b)/.exec(text)", "// db.prepare(text)", "/** `db.prepare(text).bind(a)` */"])(
    "allows %s",
    (text) => {
      expect(find("src/store/a.ts", text)).toEqual([]);
    },
  );
});
