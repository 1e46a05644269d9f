import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";

const FOLDER = join(import.meta.dirname, "../../migrations");
const FILES = readdirSync(FOLDER).toSorted();

function readMigration(name: string): string {
  return readFileSync(join(FOLDER, name), "utf8");
}

function createDatabase(): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  for (const name of FILES) db.exec(readMigration(name));
  db.exec("INSERT INTO accounts (account_id, name, created_at) VALUES ('a', 'a', 0)");
  db.exec(`INSERT INTO indices (index_id, account_id, name, created_at, updated_at)
    VALUES ('i', 'a', 'i', 0, 0)`);
  db.exec(`INSERT INTO assets (asset_id, index_id, shard, account_id, asset_type, title, state,
      source, job_id, created_at, updated_at)
    VALUES ('v', 'i', 0, 'a', 'video', 'old', 'queued', '{}', 'j', 0, 0)`);
  return db;
}

describe("the revision of an asset's facts", () => {
  const SEARCHABLE = "UPDATE assets SET searchable = 1, ready_at = 5";

  it.each([
    ["grows when the asset becomes searchable", [SEARCHABLE], 1, 5],
    [
      "stays while nothing that a search reads changes",
      ["UPDATE assets SET title = 'new'"],
      0,
      null,
    ],
    [
      "grows with the title of a searchable asset",
      [SEARCHABLE, "UPDATE assets SET title = 'b'"],
      2,
      5,
    ],
    ["stays if a title is written again", [SEARCHABLE, "UPDATE assets SET title = 'old'"], 1, 5],
    ["stays with the progress", [SEARCHABLE, "UPDATE assets SET progress = 0.5"], 1, 5],
    ["grows when the asset is hidden", [SEARCHABLE, "UPDATE assets SET searchable = 0"], 2, null],
    ["grows with the deletion", ["UPDATE assets SET deleted_at = 7"], 1, null],
    [
      "grows with the deletion of a searchable asset",
      [SEARCHABLE, "UPDATE assets SET deleted_at = 7"],
      2,
      null,
    ],
  ])("%s", (_, statements, revision, searchableAt) => {
    const db = createDatabase();
    for (const statement of statements) db.exec(statement);
    const row = db.prepare("SELECT facts_revision AS revision, searchable_at AS at FROM assets");
    expect({ ...row.get() }).toEqual({ revision, at: searchableAt });
  });
});

it("an ingest is metered once, however often its asset becomes searchable", () => {
  const db = createDatabase();
  db.exec("UPDATE assets SET duration_ms = 3000");
  for (let i = 0; i < 2; i++) {
    db.exec("UPDATE assets SET searchable = 1, ready_at = COALESCE(ready_at, 5)");
    db.exec("UPDATE assets SET searchable = 0");
  }
  const usage = db.prepare("SELECT ingested_ms AS ms, ingested_images AS images FROM usage");
  expect(usage.all().map((row) => Object.values(row))).toEqual([[3000, 0]]);
});

describe("the bytes of an account's records", () => {
  /** A row of each table that counts, which the migration finds or a request inserts. */
  const ROWS = `
    INSERT INTO indices (index_id, account_id, name, metadata, created_at, updated_at)
      VALUES ('i2', 'a', 'i2', '{"text":"ünïcode"}', 0, 0);
    INSERT INTO assets (asset_id, index_id, shard, account_id, asset_type, title, state, source,
        job_id, created_at, updated_at)
      VALUES ('v2', 'i2', 0, 'a', 'video', 'old', 'queued', '{}', 'j2', 0, 0);
    INSERT INTO jobs (job_id, account_id, index_id, kind, state, result, created_at, updated_at)
      VALUES ('j2', 'a', 'i2', 'search', 'succeeded', '{"hits":[]}', 0, 0);
    INSERT INTO idempotency_keys VALUES ('a', 'k', 'f', 'o', 0, 200, '{}', 0);
    INSERT INTO api_keys (key_id, account_id, name, scopes, created_at)
      VALUES ('k', 'a', 'name', 'read', 0);
    INSERT INTO uploads (upload_id, account_id, index_id, metadata, upload_metadata, created_at,
        updated_at, expires_at) VALUES ('u', 'a', 'i2', '{}', 'filename YQ==', 0, 0, 0);
    INSERT INTO sources (source_id, account_id, index_id, platform, request, item_limit, follow,
        job_id, created_at) VALUES ('s', 'a', 'i2', 'p', '{}', 1, 0, 'j2', 0);
    INSERT INTO imports VALUES ('i2', 'p', '1', 's', '{"title":"t"}', 'v2', NULL);
    INSERT INTO job_items (job_id, platform_id, position, title, url, asset_type, outcome)
      VALUES ('j2', '1', 0, 't', 'u', 'video', 'added');`;
  const TABLES = ["idempotency_keys", "api_keys", "uploads", "job_items", "imports", "sources"];
  const IN_ORDER = [...TABLES, "assets", "jobs", "shards", "indices"];

  const bytesOf = (db: DatabaseSync): number =>
    db.prepare("SELECT record_bytes AS bytes FROM accounts").get()!["bytes"] as number;
  const sumOf = (db: DatabaseSync): number => {
    const tables = IN_ORDER.filter((table) => table !== "shards");
    const sums = tables.map((table) => `(SELECT COALESCE(SUM(record_bytes), 0) FROM ${table})`);
    return db.prepare(`SELECT ${sums.join(" + ")} AS bytes`).get()!["bytes"] as number;
  };

  it("count the rows that a migration finds", () => {
    const db = new DatabaseSync(":memory:");
    for (const name of FILES.slice(0, 2)) db.exec(readMigration(name));
    db.exec("INSERT INTO accounts (account_id, name, created_at) VALUES ('a', 'a', 0)");
    db.exec(ROWS);
    for (const name of FILES.slice(2)) db.exec(readMigration(name));
    expect(bytesOf(db)).toBe(sumOf(db));
    expect(bytesOf(db)).toBeGreaterThan(5000);
    expect(db.prepare("SELECT retained_at AS at FROM jobs").get()).toEqual({ at: 0 });
  });

  it("follow each insert, change and deletion, and are 0 without rows", () => {
    const db = createDatabase();
    db.exec(ROWS);
    expect(bytesOf(db)).toBe(sumOf(db));
    const before = bytesOf(db);
    db.exec(`UPDATE indices SET metadata = '{"text":"longer than before"}' WHERE index_id = 'i2'`);
    db.exec(`UPDATE assets SET warnings = '[{"code":"c"}]', error = '{"code":"c"}'`);
    db.exec(`UPDATE jobs SET result = '{"hits":[1,2,3]}', error = '{"code":"c"}'`);
    db.exec(`UPDATE idempotency_keys SET body = '{"longer":true}'`);
    db.exec(`UPDATE sources SET listing = '{"title":"t"}', sync_cursor = '{"jobId":"j2"}'`);
    db.exec(`UPDATE imports SET item = '{"title":"longer"}'`);
    expect(bytesOf(db)).toBe(sumOf(db));
    expect(bytesOf(db)).toBeGreaterThan(before);
    for (const table of IN_ORDER) db.exec(`DELETE FROM ${table}`);
    expect(bytesOf(db)).toBe(0);
  });

  it("count each table that has rows of an account, or it is listed here", () => {
    const db = createDatabase();
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const counted = tables.filter(({ name }) => {
      const columns = db.prepare(`SELECT name FROM pragma_table_xinfo(?)`).all(name as string);
      return columns.some((column) => column["name"] === "record_bytes");
    });
    const others = tables
      .map(({ name }) => name as string)
      .filter((name) => !counted.some((each) => each["name"] === name));
    expect(others.toSorted()).toEqual([
      "deployment", // one row
      "fill_history", // not written any more
      "object_bytes", // one row an asset, query clip or archive in progress
      "shards", // with its index: another one follows gigabytes
      "tallies", // with its index: 18 rows at most
      "transcripts", // with its asset
      "upload_parts", // with an open upload: 640 rows at most
      "usage", // one row a day
      "vector_pairs", // as many as bindings
    ]);
  });
});
