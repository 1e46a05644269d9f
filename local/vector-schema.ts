/** Creates the tables. `changes` holds rows that enter `vectors` when their mutation is due. */
export function migrateSpace(sql: SqlStorage): void {
  sql.exec(`
    CREATE TABLE IF NOT EXISTS vectors (
      id TEXT PRIMARY KEY,
      namespace TEXT NOT NULL,
      vector BLOB NOT NULL,
      metadata TEXT,
      indexed TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS vectors_by_namespace ON vectors (namespace);
    CREATE TABLE IF NOT EXISTS changes (
      seq INTEGER NOT NULL,
      id TEXT NOT NULL,
      namespace TEXT,
      vector BLOB,
      metadata TEXT,
      indexed TEXT,
      PRIMARY KEY (seq, id)
    );
    CREATE TABLE IF NOT EXISTS mutations (
      seq INTEGER PRIMARY KEY,
      id TEXT NOT NULL,
      kind TEXT NOT NULL,
      due_at INTEGER NOT NULL,
      processed_at INTEGER
    );
    CREATE INDEX IF NOT EXISTS mutations_pending ON mutations (due_at) WHERE processed_at IS NULL;
    CREATE TABLE IF NOT EXISTS metadata_indexes (property TEXT PRIMARY KEY, type TEXT NOT NULL);
  `);
}
