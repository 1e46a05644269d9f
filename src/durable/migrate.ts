/** Applies the migrations, in order, that an object's storage doesn't have yet. */
export function migrate(storage: DurableObjectStorage, migrations: readonly string[]): void {
  const done = storage.kv.get<number>("schema") ?? 0;
  if (done === migrations.length) return;
  storage.transactionSync(() => {
    for (const sql of migrations.slice(done)) storage.sql.exec(sql);
    storage.kv.put("schema", migrations.length);
  });
}
