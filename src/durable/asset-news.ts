import type { Failure } from "../errors.ts";
import { type IngestState, shown } from "../ingest/state.ts";
import type { AssetState, AssetType, EventType } from "../types.ts";
import type { AssetRow } from "./asset-rows.ts";

/** What an event says of an asset, as it goes over the wire. */
export interface AssetNews {
  asset_id: string;
  asset_type: AssetType;
  state: AssetState;
  progress: number;
  error: Failure | null;
  job_id: string | null;
}

/** What happened to those who see the asset's record; undefined where nothing did. */
export function changeOf(before: IngestState | undefined, after: IngestState) {
  const [left, right] = [before && shown(before), shown(after)];
  if (left?.state !== right.state) return "asset.updated" satisfies EventType;
  return left.progress === right.progress ? undefined : ("asset.progress" satisfies EventType);
}

/** A failed asset's progress is what it had reached `before`. */
export function newsOf(row: AssetRow, before?: IngestState): AssetNews {
  const { state, progress } = shown(row.state);
  return {
    asset_id: row.assetId,
    asset_type: row.assetType,
    state,
    progress: progress ?? (before && shown(before).progress) ?? 0,
    error: row.state.phase === "failed" ? row.state.error : null,
    job_id: row.jobId,
  };
}
