import type { AssetId, JobId } from "../ids.ts";
import type { IngestState } from "../ingest/state.ts";
import { parseColumns, raw, sql, type SqlFragment } from "../store/sql.ts";
import type { AssetType } from "../types.ts";
import { exec, readObjects, type Sql } from "./counted-storage.ts";

/** Stored state of one asset. `revision` grows by one with each state. */
export interface AssetStateRow {
  assetId: AssetId;
  assetType: AssetType;
  /** The ingest job. Null if no caller of `start` has named one. */
  jobId: JobId | null;
  state: IngestState;
  revision: number;
}

const SELECT_ASSETS = raw(`SELECT asset_id AS assetId, asset_type AS assetType, job_id AS jobId,
  state, revision FROM assets`);

/** Table of an index's assets in the storage of its `MediaIndex` object. */
export class AssetRows {
  readonly #storage: Sql;
  constructor(storage: Sql) {
    this.#storage = storage;
  }

  get(assetId: AssetId): AssetStateRow | undefined {
    return this.#read(sql`WHERE asset_id = ${assetId}`)[0];
  }

  /** Lists assets that are due for the alarm, longest overdue first. */
  due(now: number, limit: number): AssetStateRow[] {
    return this.#read(sql`WHERE due_at <= ${now} ORDER BY due_at LIMIT ${limit}`);
  }

  /** Stores a row. `dueAt` is when the alarm must handle it, in epoch ms. Infinity means never. */
  put(row: AssetStateRow, dueAt: number): void {
    exec(
      this.#storage,
      sql`INSERT INTO assets (asset_id, asset_type, job_id, state, revision, due_at)
        VALUES (${row.assetId}, ${row.assetType}, ${row.jobId}, ${JSON.stringify(row.state)},
          ${row.revision}, ${dueAt === Infinity ? null : dueAt})
        ON CONFLICT DO UPDATE SET job_id = excluded.job_id, state = excluded.state,
          revision = excluded.revision, due_at = excluded.due_at`,
    );
  }

  delete(assetId: AssetId): void {
    exec(this.#storage, sql`DELETE FROM assets WHERE asset_id = ${assetId}`);
  }

  clear(): void {
    exec(this.#storage, sql`DELETE FROM assets`);
  }

  #read(where: SqlFragment): AssetStateRow[] {
    const rows = readObjects<AssetStateRow>(this.#storage, sql`${SELECT_ASSETS} ${where}`);
    return rows.map((row) => parseColumns(row, ["state"]));
  }
}
