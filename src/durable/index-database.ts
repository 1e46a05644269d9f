import { DurableObject } from "cloudflare:workers";
import type { FtsSearch } from "../store/fulltext.ts";
import type { DatabaseResult } from "../store/index-database.ts";
import type { SegmentQuery, SegmentRows, TermCounts } from "../store/segment-query.ts";
import type { SqlFragment, SqlRows } from "../store/sql.ts";
import { INDEX_DATABASE_MIGRATIONS } from "./index-database-schema.ts";
import { indexFullText } from "./index-full-text.ts";
import { indexHashes } from "./index-hashes.ts";
import { migrate } from "./migrate.ts";
import { countTerms } from "./full-text-search.ts";
import { CountedStorage } from "./counted-storage.ts";
import { querySegments } from "./query-segments.ts";
import { readRows } from "./read-rows.ts";

/**
 * The database of one media index: its segments, their full text and their image signatures. It is
 * apart from `MediaIndex`, so that a search doesn't wait for an ingest. Once its index is being
 * deleted it is closed: methods return null, and nothing is written any more. Callers use
 * `src/store/index-database.ts`.
 */
export class IndexDatabase extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    if (!this.#isClosed()) migrate(ctx.storage, INDEX_DATABASE_MIGRATIONS);
  }

  /**
   * Runs statements in one transaction, which keeps full text and hashes up to date.
   * Returns the rows of each.
   */
  async batch(statements: readonly SqlFragment[]): Promise<DatabaseResult<SqlRows[]>> {
    return this.#run((storage) =>
      this.ctx.storage.transactionSync(() => {
        const results = statements.map((statement) => readRows(storage, statement));
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
