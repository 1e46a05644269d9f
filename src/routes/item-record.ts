import type { JobItem } from "../store/imports.ts";

/** Of an import's result: what became of one thing. */
export function toItemRecord(item: JobItem) {
  const isVideo = item.assetType === "video";
  return {
    platform_id: item.platformId,
    title: item.title,
    url: item.url,
    outcome: item.outcome,
    asset_type: item.assetType,
    video_id: isVideo ? item.assetId : null,
    image_id: isVideo ? null : item.assetId,
    state: item.state,
    error: item.error,
  };
}
