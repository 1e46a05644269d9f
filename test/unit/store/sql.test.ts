import { expect, it } from "vitest";
import { concat, inList, raw, sql } from "../../../src/store/sql.ts";

it("a composed statement has a placeholder for each value, in order", () => {
  expect(sql`SELECT ${1}, ${"two"}, ${null}`).toEqual({
    sql: "SELECT ?, ?, ?",
    bindings: [1, "two", null],
  });
});

it("nested fragments contribute their text and their values where they stand", () => {
  const isLive = sql`deleted_at > ${5}`;
  const conditions = concat([sql`a = ${1}`, isLive, sql`b ${inList(["x", "y"])}`], " AND ");
  expect(sql`UPDATE t SET c = ${"c"} WHERE ${conditions} LIMIT ${9}`).toEqual({
    sql: `UPDATE t SET c = ? WHERE a = ? AND deleted_at > ?
      AND b IN (SELECT value FROM json_each(?)) LIMIT ?`.replaceAll(/\s+/g, " "),
    bindings: ["c", 1, 5, '["x","y"]', 9],
  });
});

it("bytes are bound as one value", () => {
  const bytes = new Uint8Array([1, 2]);
  expect(sql`INSERT INTO t VALUES (${bytes})`).toEqual({
    sql: "INSERT INTO t VALUES (?)",
    bindings: [bytes],
  });
});

it("raw text is inserted without a placeholder", () => {
  expect(sql`SELECT ${raw("a, b")} FROM t`).toEqual({ sql: "SELECT a, b FROM t", bindings: [] });
});
