import type { JobItem } from "../store/imports.ts";
import { idsOf } from "./asset-record.ts";

/** Of an import's result: what became of one thing. */
export function toItemRecord(item: JobItem) {
  return {
    platform_id: item.platformId,
    title: item.title,
    url: item.url,
    outcome: item.outcome,
    ...idsOf(item.assetType, item.assetId),
    state: item.state,
    error: item.error,
  };
}
