import type { Sql } from "./counted-storage.ts";

/**
 * Writes and deletes the hashes of signatures that were inserted and deleted, in their order and in
 * the same transaction: SQL can't read the integers of a blob.
 */
export function indexHashes(sql: Sql): void {
  const changes = sql
    .exec<{ key: number; hashes: ArrayBuffer; deleted: number }>(
      "SELECT signature_key AS key, hashes, deleted FROM signature_changes ORDER BY rowid",
    )
    .toArray(); // a table must not change while it is read
  if (changes.length === 0) return;
  for (const { key, hashes, deleted } of changes) {
    const list = JSON.stringify([...new Uint32Array(hashes)]);
    if (deleted) {
      sql.exec(
        `DELETE FROM signature_hashes
         WHERE signature_key = ? AND hash IN (SELECT value FROM json_each(?))`,
        key,
        list,
      );
    } else {
      sql.exec(
        "INSERT OR IGNORE INTO signature_hashes SELECT value, ? FROM json_each(?)",
        key,
        list,
      );
    }
  }
  sql.exec("DELETE FROM signature_changes");
}
