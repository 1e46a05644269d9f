/** Numbered, forward only. `due_at` is when the alarm must look at the row; NULL: never. */
const MIGRATIONS = [
  `CREATE TABLE assets (
     asset_id TEXT PRIMARY KEY,
     state    TEXT NOT NULL,
     revision INTEGER NOT NULL,
     due_at   INTEGER
   );
   CREATE INDEX assets_by_due ON assets (due_at);`,

  `ALTER TABLE assets ADD COLUMN asset_type TEXT NOT NULL DEFAULT 'video';
   UPDATE assets SET asset_type = 'image' WHERE asset_id LIKE 'img%';
   ALTER TABLE assets ADD COLUMN job_id TEXT;
   CREATE TABLE events (
     seq  INTEGER PRIMARY KEY AUTOINCREMENT, -- a number is never given twice
     at   INTEGER NOT NULL,
     type TEXT NOT NULL,
     data TEXT NOT NULL
   );
   CREATE TABLE deliveries (
     seq        INTEGER PRIMARY KEY, -- of its event
     type       TEXT NOT NULL,
     payload    TEXT NOT NULL,
     phase      TEXT NOT NULL,
     attempts   INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     due_at     INTEGER,
     ended_at   INTEGER,
     status     INTEGER,
     problem    TEXT
   );
   CREATE INDEX deliveries_by_due ON deliveries (due_at);`,
];

export function migrate(storage: DurableObjectStorage): void {
  const done = storage.kv.get<number>("schema") ?? 0;
  if (done === MIGRATIONS.length) return;
  storage.transactionSync(() => {
    for (const sql of MIGRATIONS.slice(done)) storage.sql.exec(sql);
    storage.kv.put("schema", MIGRATIONS.length);
  });
}
