import type { AssetId, JobId } from "../ids.ts";
import type { IngestState } from "../ingest/state.ts";
import type { AssetType } from "../types.ts";

/** Stored state of one asset. `revision` grows by one with each state. */
export interface AssetStateRow {
  assetId: AssetId;
  assetType: AssetType;
  /** The ingest job. Null if no caller of `start` has named one. */
  jobId: JobId | null;
  state: IngestState;
  revision: number;
}

const COLUMNS = "asset_id AS assetId, asset_type AS assetType, job_id AS jobId, state, revision";

/** Table of an index's assets in the storage of its `MediaIndex` object. */
export class AssetRows {
  readonly #sql: SqlStorage;
  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get(assetId: AssetId): AssetStateRow | undefined {
    return this.#read("WHERE asset_id = ?", assetId)[0];
  }

  /** Lists assets that are due for the alarm, longest overdue first. */
  due(now: number, limit: number): AssetStateRow[] {
    return this.#read("WHERE due_at <= ? ORDER BY due_at LIMIT ?", now, limit);
  }

  /** Stores a row. `dueAt` is when the alarm must handle it, in epoch ms. Infinity means never. */
  put(row: AssetStateRow, dueAt: number): void {
    this.#sql.exec(
      `INSERT INTO assets (asset_id, asset_type, job_id, state, revision, due_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT DO UPDATE SET job_id = ?3, state = ?4, revision = ?5, due_at = ?6`,
      row.assetId,
      row.assetType,
      row.jobId,
      JSON.stringify(row.state),
      row.revision,
      dueAt === Infinity ? null : dueAt,
    );
  }

  delete(assetId: AssetId): void {
    this.#sql.exec("DELETE FROM assets WHERE asset_id = ?", assetId);
  }

  clear(): void {
    this.#sql.exec("DELETE FROM assets");
  }

  #read(where: string, ...bindings: (string | number)[]): AssetStateRow[] {
    type Stored = Record<string, SqlStorageValue> &
      Omit<AssetStateRow, "state"> & { state: string };
    return this.#sql
      .exec<Stored>(`SELECT ${COLUMNS} FROM assets ${where}`, ...bindings)
      .toArray()
      .map(({ assetId, assetType, jobId, state, revision }) => {
        return { assetId, assetType, jobId, state: JSON.parse(state) as IngestState, revision };
      });
  }
}
