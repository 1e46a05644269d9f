import { encodeFtsText, FTS_VERSION } from "../store/index-database/fulltext.ts";
import { concat, raw, sql, type SqlFragment } from "../store/sql.ts";
import { exec, readObjects, type Sql } from "./counted-storage.ts";

type SegmentText = Record<"caption" | "transcript" | "text" | "labels", string> & { key: number };

/** Selects segments with their text. */
const SEGMENT_TEXT = raw(`SELECT segment_key AS key, caption, transcript, on_screen_text AS text,
  labels FROM segments`);

/**
 * Writes the full-text rows of the segments whose text has changed, in the transaction that changed
 * it.
 */
export function writeFullText(storage: Sql): void {
  for (const segment of readObjects<SegmentText>(storage, sql`${SEGMENT_TEXT} WHERE indexed = 0`)) {
    writeRow(storage, segment);
    exec(storage, sql`UPDATE segments SET indexed = 1 WHERE segment_key = ${segment.key}`);
  }
}

/** Writes the row of a segment. One without text has no row. */
function writeRow(storage: Sql, { key, caption, transcript, text, labels }: SegmentText): void {
  exec(storage, sql`DELETE FROM segment_fts WHERE rowid = ${key}`);
  const columns = [caption, transcript, text, (JSON.parse(labels) as string[]).join(", ")];
  if (columns.every((column) => column === "")) return;
  const values: SqlFragment[] = columns.map((column) => sql`${encodeFtsText(column)}`);
  exec(
    storage,
    sql`INSERT INTO segment_fts (rowid, caption, transcript, on_screen_text, labels)
      VALUES (${key}, ${concat(values, ", ")})`,
  );
}

/** Which version of `encodeFtsText` wrote the full text, and up to which segment. */
interface FullTextState {
  version: number;
  /** Key of the last segment that this version has written; null if all are. */
  writtenTo: number | null;
}

const STATE_KEY = "full_text";

/**
 * Writes the full text of the next `limit` segments again if another version of `encodeFtsText`
 * wrote it, in one transaction. Rows that aren't written yet are found by what they have. Returns
 * whether some are left.
 */
export function rebuildFullText(storage: DurableObjectStorage, limit: number): boolean {
  const stored = storage.kv.get<FullTextState>(STATE_KEY);
  const state = stored?.version === FTS_VERSION ? stored : { version: FTS_VERSION, writtenTo: 0 };
  const { writtenTo } = state;
  if (writtenTo === null) return false;
  return storage.transactionSync(() => {
    const next = readObjects<SegmentText>(
      storage.sql,
      sql`${SEGMENT_TEXT} WHERE segment_key > ${writtenTo} ORDER BY segment_key LIMIT ${limit + 1}`,
    );
    const batch = next.slice(0, limit);
    for (const segment of batch) writeRow(storage.sql, segment);
    const isLeft = next.length > limit;
    const lastKey = batch.at(-1)?.key ?? writtenTo;
    storage.kv.put(STATE_KEY, { ...state, writtenTo: isLeft ? lastKey : null });
    return isLeft;
  });
}
