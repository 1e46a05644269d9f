import type { AssetId, JobId } from "../ids.ts";
import type { IngestState } from "../ingest/state.ts";
import type { AssetType } from "../types.ts";

/** What is known of one asset. `revision` grows with each state. */
export interface AssetRow {
  assetId: AssetId;
  assetType: AssetType;
  /** Its ingest job; null where whoever started it didn't say. */
  jobId: JobId | null;
  state: IngestState;
  revision: number;
}

const COLUMNS = "asset_id AS assetId, asset_type AS assetType, job_id AS jobId, state, revision";

/** The assets of one index, in its object's storage. */
export class AssetRows {
  readonly #sql: SqlStorage;
  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get(assetId: AssetId): AssetRow | undefined {
    return this.#read("WHERE asset_id = ?", assetId)[0];
  }

  /** Those that the alarm must look at, longest overdue first. */
  due(now: number, limit: number): AssetRow[] {
    return this.#read("WHERE due_at <= ? ORDER BY due_at LIMIT ?", now, limit);
  }

  /** `dueAt` is when the alarm must look at the asset, epoch ms; Infinity: never. */
  put(row: AssetRow, dueAt: number): void {
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

  #read(where: string, ...bindings: (string | number)[]): AssetRow[] {
    type Stored = Record<string, SqlStorageValue> & Omit<AssetRow, "state"> & { state: string };
    return this.#sql
      .exec<Stored>(`SELECT ${COLUMNS} FROM assets ${where}`, ...bindings)
      .toArray()
      .map(({ assetId, assetType, jobId, state, revision }) => {
        return { assetId, assetType, jobId, state: JSON.parse(state) as IngestState, revision };
      });
  }
}
