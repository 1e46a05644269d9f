import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";

const FOLDER = join(import.meta.dirname, "../../migrations");

function migrate(db: DatabaseSync, isIncluded: (name: string) => boolean): void {
  for (const name of readdirSync(FOLDER).toSorted().filter(isIncluded)) {
    db.exec(readFileSync(join(FOLDER, name), "utf8"));
  }
}

it("migration 0015 gives each index a range of rowids, and keeps the full text", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db, (name) => name < "0015");
  db.exec("INSERT INTO accounts (account_id, name, created_at) VALUES ('a', 'a', 0)");
  for (const id of ["one", "two"]) {
    db.exec(`INSERT INTO indices (index_id, account_id, name, created_at, updated_at)
      VALUES ('${id}', 'a', '${id}', 0, 0)`);
    db.exec(`INSERT INTO assets (asset_id, index_id, account_id, asset_type, title, state, source,
        job_id, created_at, updated_at)
      VALUES ('vid_${id}', '${id}', 'a', 'video', '', 'ready', '{}', 'job_${id}', 0, 0)`);
  }
  for (const [position, index] of ["one", "two", "two", "one", "two"].entries()) {
    db.exec(`INSERT INTO segments (segment_id, asset_id, index_id, position, keyframe_ms, caption)
      VALUES ('seg_${position}', 'vid_${index}', '${index}', ${position}, 0, 'dog ${position}')`);
    db.exec(`INSERT INTO segment_words (rowid, scope, caption, transcript, on_screen_text, labels)
      VALUES (${position + 1}, '${index}', 'dog ${position}', '', '', '')`);
  }

  migrate(db, (name) => name >= "0015");

  const matches = db.prepare(
    `SELECT segment_id AS id, segments.caption = segment_fts.caption AS isSameText,
       segments.rowid >> 32 AS range,
       (SELECT rowid FROM indices WHERE indices.index_id = segments.index_id) AS indexRowid
     FROM segment_fts JOIN segments ON segments.rowid = segment_fts.rowid
     WHERE segment_fts MATCH 'dog' ORDER BY id`,
  );
  expect(matches.all().map((row) => Object.values(row))).toEqual([
    ["seg_0", 1, 1, 1],
    ["seg_1", 1, 2, 2],
    ["seg_2", 1, 2, 2],
    ["seg_3", 1, 1, 1],
    ["seg_4", 1, 2, 2],
  ]);
  const count = db.prepare("SELECT doc FROM segment_fts_vocab WHERE term = 'dog'");
  expect(count.get()).toEqual({ doc: 5 });
  db.exec("DELETE FROM segments WHERE segment_id = 'seg_4'");
  expect(count.get()).toEqual({ doc: 4 });
});
