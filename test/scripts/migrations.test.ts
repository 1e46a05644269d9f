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

it.each(FILES)("%s has every CASE in parentheses, as remote migrations require", (name) => {
  const bare = readMigration(name).match(/(?<!\()\bCASE\b/g) ?? [];
  expect(bare).toEqual([]);
});

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

it("the revision of an index grows when its database has a change, and with a transcript", () => {
  const db = createDatabase();
  const revision = () => db.prepare("SELECT revision FROM indices").get()!["revision"];
  db.exec("UPDATE assets SET searchable = 1, ready_at = 5");
  expect(revision()).toBe(0);
  db.exec("UPDATE assets SET mirrored_revision = facts_revision");
  expect(revision()).toBe(1);
  db.exec("UPDATE assets SET transcript_revision = 1");
  expect(revision()).toBe(2);
});
