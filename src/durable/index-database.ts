import { DurableObject } from "cloudflare:workers";
import { encodeFtsText, type FtsSearch } from "../store/index-database/fulltext.ts";
import type {
  DatabaseResult,
  SegmentQuery,
  SegmentRows,
  TermCounts,
} from "../store/index-database/index-database.ts";
import { ANSWER_BYTES, concat, sql, type SqlFragment, type SqlRows } from "../store/sql.ts";
import { CountedStorage, exec, readObjects, readRows, type Sql } from "./counted-storage.ts";
import { INDEX_DATABASE_MIGRATIONS } from "./index-database-schema.ts";
import { migrate } from "./migrate.ts";
import { countTerms, querySegments } from "./query-segments.ts";

/**
 * The database of one media index: its segments, their full text and their image signatures. It is
 * apart from `MediaIndex`, so that a search doesn't wait for an ingest. Once its index is being
 * deleted it is closed: methods return null, and nothing is written any more. Callers use
 * `src/store/index-database/index-database.ts`.
 */
export class IndexDatabase extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    if (!this.#isClosed()) migrate(ctx.storage, INDEX_DATABASE_MIGRATIONS);
  }

  /**
   * Runs statements in one transaction, which keeps full text and hashes up to date. Returns the
   * rows of each, of which the last are cut off beyond `ANSWER_BYTES`.
   */
  async batch(statements: readonly SqlFragment[]): Promise<DatabaseResult<SqlRows[]>> {
    return this.#run((storage) =>
      this.ctx.storage.transactionSync(() => {
        const budget = { left: ANSWER_BYTES };
        const results = statements.map((statement) => readRows(storage, statement, budget));
        indexFullText(storage);
        indexHashes(storage);
        return results;
      }),
    );
  }

  /** Finds segments by full text, and returns them together with those of the query's ids. */
  async querySegments(query: SegmentQuery): Promise<DatabaseResult<SegmentRows>> {
    return this.#run((storage) => querySegments(storage, query));
  }

  /** Counts the segments with the terms of a full-text search. */
  async countTerms(search: FtsSearch): Promise<DatabaseResult<TermCounts>> {
    return this.#run((storage) => countTerms(storage, search));
  }

  /** Returns the bytes of the database, of which the platform allows 10 GB. */
  async size(): Promise<number> {
    return this.ctx.storage.sql.databaseSize;
  }

  /** Deletes all rows for good. */
  async close(): Promise<void> {
    const deleted = this.ctx.storage.deleteAll();
    this.ctx.storage.kv.put("closed", true); // before any `await`: both are stored, or neither is
    await deleted;
  }

  /** Does `work`, and tells how many rows it read and wrote. */
  #run<Value>(work: (storage: CountedStorage) => Value): DatabaseResult<Value> {
    const storage = new CountedStorage(this.ctx.storage.sql);
    const value = this.#isClosed() ? null : work(storage);
    return { value, rowsRead: storage.rowsRead, rowsWritten: storage.rowsWritten };
  }

  #isClosed(): boolean {
    return this.ctx.storage.kv.get<boolean>("closed") === true;
  }
}

/**
 * Writes the full-text rows of the segments whose text has changed, in the transaction that changed
 * it. A segment without text has no row.
 */
function indexFullText(storage: Sql): void {
  const changed = readObjects<
    Record<"caption" | "transcript" | "text" | "labels", string> & { key: number }
  >(
    storage,
    sql`SELECT segment_key AS key, caption, transcript, on_screen_text AS text, labels
      FROM segments WHERE indexed = 0`,
  );
  for (const { key, caption, transcript, text, labels } of changed) {
    exec(storage, sql`DELETE FROM segment_fts WHERE rowid = ${key}`);
    const columns = [caption, transcript, text, (JSON.parse(labels) as string[]).join(", ")];
    if (columns.some((column) => column !== "")) {
      const values = columns.map((column) => sql`${encodeFtsText(column)}`);
      exec(
        storage,
        sql`INSERT INTO segment_fts (rowid, caption, transcript, on_screen_text, labels)
          VALUES (${key}, ${concat(values, ", ")})`,
      );
    }
    exec(storage, sql`UPDATE segments SET indexed = 1 WHERE segment_key = ${key}`);
  }
}

/**
 * Writes and deletes the hashes of signatures that were inserted and deleted, in their order and in
 * the same transaction: SQL can't read the integers of a blob.
 */
function indexHashes(storage: Sql): void {
  const changes = readObjects<{ key: number; hashes: ArrayBuffer; deleted: number }>(
    storage,
    sql`SELECT signature_key AS key, hashes, deleted FROM signature_changes ORDER BY rowid`,
  );
  if (changes.length === 0) return;
  for (const { key, hashes, deleted } of changes) {
    const values = sql`json_each(${JSON.stringify([...new Uint32Array(hashes)])})`;
    exec(
      storage,
      deleted
        ? sql`DELETE FROM signature_hashes
            WHERE signature_key = ${key} AND hash IN (SELECT value FROM ${values})`
        : sql`INSERT OR IGNORE INTO signature_hashes SELECT value, ${key} FROM ${values}`,
    );
  }
  exec(storage, sql`DELETE FROM signature_changes`);
}
