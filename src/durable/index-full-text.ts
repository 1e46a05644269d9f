import type { Sql } from "./counted-storage.ts";
import { encodeFtsText } from "../store/fulltext.ts";

/**
 * Writes the full-text rows of the segments whose text has changed, in the transaction that changed
 * it. A segment without text has no row.
 */
export function indexFullText(sql: Sql): void {
  const changed = sql
    .exec<{ key: number; caption: string; transcript: string; text: string; labels: string }>(
      `SELECT segment_key AS key, caption, transcript, on_screen_text AS text, labels
       FROM segments WHERE indexed = 0`,
    )
    .toArray(); // a table must not change while it is read
  for (const { key, caption, transcript, text, labels } of changed) {
    sql.exec("DELETE FROM segment_fts WHERE rowid = ?", key);
    const columns = [caption, transcript, text, (JSON.parse(labels) as string[]).join(", ")];
    if (columns.some((column) => column !== "")) {
      sql.exec(
        `INSERT INTO segment_fts (rowid, caption, transcript, on_screen_text, labels)
         VALUES (?, ?, ?, ?, ?)`,
        key,
        ...columns.map(encodeFtsText),
      );
    }
    sql.exec("UPDATE segments SET indexed = 1 WHERE segment_key = ?", key);
  }
}
