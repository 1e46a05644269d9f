import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { CloudflareApi } from "../../scripts/cloudflare/api.ts";
import { D1Database } from "../../tools/fake-cloudflare/d1-database.ts";
import { ACCOUNT_ID, setUpCloudflare, TOKEN } from "./cloudflare-api.ts";
import { REFUSED_SQL } from "./refused-sql.ts";

const cloudflare = setUpCloudflare();
const TABLES = "CREATE TABLE a (x INTEGER); CREATE TABLE b (x INTEGER);";
const HALF = "CREATE TABLE c (x); CREATE TABLE b (x);";

/** Imports SQL and returns its error, or null. */
function importSql(database: D1Database, sql: string): string | null {
  const { bookmark, error } = database.ingest(database.upload(Buffer.from(sql)));
  while (database.poll(bookmark)!.left > 0);
  return error;
}

function listTables({ sqlite }: { sqlite: DatabaseSync }): unknown[] {
  const rows = sqlite.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  return rows.all().map(({ name }) => name);
}

describe.each(REFUSED_SQL)("the fake D1, given $cause (#$issue)", ({ sql, message }) => {
  it("refuses it as a query", () => {
    expect(() => new D1Database("test", null).query(sql)).toThrow(message);
  });

  it("takes it as an import", () => {
    const database = new D1Database("test", null);
    expect(importSql(database, sql)).toBeNull();
    expect(listTables(database)).toContain("items");
  });
});

describe("the fake D1", () => {
  it("runs a query of several statements", () => {
    const database = new D1Database("test", null);
    const sql = `${TABLES} INSERT INTO a VALUES (1), (2); SELECT x FROM a;`;
    expect(database.query(sql).at(-1)).toEqual([{ x: 1 }, { x: 2 }]);
  });

  it("undoes an import that fails half-way", () => {
    const database = new D1Database("test", null);
    database.query(TABLES);
    expect(importSql(database, HALF)).toBe("table b already exists: SQLITE_ERROR");
    expect(listTables(database)).toEqual(["a", "b"]);
  });

  it("keeps half of a failed import if a test wants it so", () => {
    const database = new D1Database("test", null);
    database.undoesFailedImports = false;
    database.query(TABLES);
    importSql(database, HALF);
    expect(listTables(database)).toEqual(["a", "b", "c"]);
  });

  it("refuses queries while an import runs", () => {
    const database = new D1Database("test", null);
    database.ingest(database.upload(Buffer.from(TABLES)));
    expect(() => database.query("SELECT 1")).toThrow("Currently processing a long-running import.");
    expect(database.query("SELECT 1 AS one")).toEqual([[{ one: 1 }]]);
  });

  it("refuses a transaction in a file", () => {
    const message = "To execute a transaction, please use the state.storage.transaction() API.";
    expect(importSql(new D1Database("test", null), `BEGIN; ${TABLES} COMMIT;`)).toBe(message);
  });

  it("returns to a bookmark", () => {
    const database = new D1Database("test", null);
    database.query(TABLES);
    const bookmark = database.bookmark();
    database.query("DROP TABLE a");
    database.restore(bookmark);
    expect(listTables(database)).toEqual(["a", "b"]);
    expect(() => database.restore("00000000")).toThrow("The bookmark is invalid.");
  });

  it("imports through its API in the steps of Wrangler", async () => {
    const api = new CloudflareApi(ACCOUNT_ID, TOKEN, cloudflare.url);
    const { uuid } = await api.post<{ uuid: string }>("d1/database", { name: "test" });
    const step = (body: object) =>
      api.post<Record<string, string>>(`d1/database/${uuid}/import`, body);
    const database = cloudflare.account.findDatabase(uuid)!;
    const etag = new D1Database("other", null).upload(Buffer.from(TABLES)); // the MD5 hash
    await expect(step({ action: "ingest", etag, filename: `${etag}.sql` })).rejects.toThrow("7500");
    const { upload_url: url = "", filename } = await step({ action: "init", etag });
    const upload = await fetch(url, { method: "PUT", body: TABLES });
    expect(upload.headers.get("etag")).toBe(`"${etag}"`);
    const { status, at_bookmark: bookmark } = await step({ action: "ingest", etag, filename });
    expect(status).toBe("active");
    const poll = () => step({ action: "poll", current_bookmark: bookmark });
    expect([(await poll())["status"], (await poll())["status"]]).toEqual(["active", "complete"]);
    expect(listTables(database)).toEqual(["a", "b"]);
    const sql = "INSERT INTO a VALUES (7); SELECT x FROM a";
    const raw = await api.post<{ results: object }[]>(`d1/database/${uuid}/raw`, { sql });
    expect(raw[1]?.results).toEqual({ columns: ["x"], rows: [[7]] });
    expect(await step({ action: "init", etag })).toMatchObject({ status: "complete" });
    expect(await step({ action: "poll" })).toMatchObject({ success: false });
  });
});
