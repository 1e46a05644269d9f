import type { Failure } from "../errors.ts";
import { type IngestState, publicState } from "../ingest/state.ts";
import type { AssetState, AssetType, EventType } from "../types.ts";
import type { AssetStateRow } from "./asset-rows.ts";

/** Data of an asset event, as webhooks and event streams carry it. */
export interface AssetEventData {
  asset_id: string;
  asset_type: AssetType;
  state: AssetState;
  progress: number;
  error: Failure | null;
  job_id: string | null;
}

/**
 * Returns the type of the event for a state transition. Undefined if public state and progress stay
 * the same.
 */
export function changeEventType(before: IngestState | undefined, after: IngestState) {
  const [previous, next] = [before && publicState(before), publicState(after)];
  if (previous?.state !== next.state) return "asset.updated" satisfies EventType;
  return previous.progress === next.progress ? undefined : ("asset.progress" satisfies EventType);
}

/** Returns an asset's event data. A failed asset keeps the progress of the state `before`. */
export function toAssetEventData(row: AssetStateRow, before?: IngestState): AssetEventData {
  const { state, progress } = publicState(row.state);
  return {
    asset_id: row.assetId,
    asset_type: row.assetType,
    state,
    progress: progress ?? (before && publicState(before).progress) ?? 0,
    error: row.state.phase === "failed" ? row.state.error : null,
    job_id: row.jobId,
  };
}
