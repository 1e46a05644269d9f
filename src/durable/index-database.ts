import { DurableObject } from "cloudflare:workers";
import type { FtsSearch } from "../store/index-database/fulltext.ts";
import type {
  DatabaseResult,
  SegmentQuery,
  SegmentRows,
  TermCounts,
} from "../store/index-database/index-database.ts";
import { ANSWER_BYTES, sql, type SqlFragment, type SqlRows } from "../store/sql.ts";
import { CountedStorage, exec, readObjects, readRows, type Sql } from "./counted-storage.ts";
import { rebuildFullText, writeFullText } from "./full-text-rows.ts";
import { INDEX_DATABASE_MIGRATIONS } from "./index-database-schema.ts";
import { migrate, refuseLaterCallers } from "./migrate.ts";
import { countTerms, querySegments } from "./query-segments.ts";

/** Segments whose full text is written again at once: by an alarm, and before a search. */
const ALARM_SEGMENTS = 1000;
const SEARCH_SEGMENTS = 500;

/**
 * The database of one media index: its segments, their full text and their image signatures. It is
 * apart from `MediaIndex`, so that a search doesn't wait for an ingest. Once its index is being
 * deleted it is closed: methods return null, and nothing is written any more. Callers use
 * `src/store/index-database/index-database.ts`.
 */
export class IndexDatabase extends DurableObject<Env> {
  static {
    refuseLaterCallers(this, "INDEX_DATABASE", INDEX_DATABASE_MIGRATIONS);
  }

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    if (this.#isClosed()) return;
    migrate(ctx.storage, INDEX_DATABASE_MIGRATIONS);
    if (rebuildFullText(ctx.storage, 0)) void ctx.storage.setAlarm(Date.now());
  }

  /** Writes full text again that an earlier version of the Worker wrote, part by part. */
  override async alarm(): Promise<void> {
    if (this.#isClosed()) return;
    if (rebuildFullText(this.ctx.storage, ALARM_SEGMENTS)) {
      await this.ctx.storage.setAlarm(Date.now());
    }
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
        writeFullText(storage);
        indexHashes(storage);
        return results;
      }),
    );
  }

  async querySegments(query: SegmentQuery): Promise<DatabaseResult<SegmentRows>> {
    this.#rebuildSome();
    return this.#run((storage) => querySegments(storage, query));
  }

  async countTerms(search: FtsSearch): Promise<DatabaseResult<TermCounts>> {
    this.#rebuildSome();
    return this.#run((storage) => countTerms(storage, search));
  }

  /** Returns the bytes of the database, of which the platform allows 10 GB. */
  async size(): Promise<number> {
    return this.ctx.storage.sql.databaseSize;
  }

  async close(): Promise<void> {
    const deleted = this.ctx.storage.deleteAll();
    this.ctx.storage.kv.put("closed", true); // before any `await`: both are stored, or neither is
    await deleted;
  }

  /** Rebuilds full text before a search, so that a small index is searched in its new form. */
  #rebuildSome(): void {
    if (!this.#isClosed()) rebuildFullText(this.ctx.storage, SEARCH_SEGMENTS);
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
        : sql`INSERT OR IGNORE INTO signature_hashes (hash, signature_key)
            SELECT value, ${key} FROM ${values}`,
    );
  }
  exec(storage, sql`DELETE FROM signature_changes`);
}
