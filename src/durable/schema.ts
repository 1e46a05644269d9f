/** Numbered, forward only. `due_at` is when the alarm must look at the asset; NULL: never. */
const MIGRATIONS = [
  `CREATE TABLE assets (
     asset_id TEXT PRIMARY KEY,
     state    TEXT NOT NULL,
     revision INTEGER NOT NULL,
     due_at   INTEGER
   );
   CREATE INDEX assets_by_due ON assets (due_at);`,
];

export function migrate(storage: DurableObjectStorage): void {
  const done = storage.kv.get<number>("schema") ?? 0;
  if (done === MIGRATIONS.length) return;
  storage.transactionSync(() => {
    for (const sql of MIGRATIONS.slice(done)) storage.sql.exec(sql);
    storage.kv.put("schema", MIGRATIONS.length);
  });
}
