import type { Asset, MediaKind } from "./types.ts";

/** Returns what an asset is for a search. A video counts as one with pictures until it is probed. */
export function mediaKind({ assetType, technical }: Pick<Asset, "assetType" | "technical">) {
  return isAudioOnly({ assetType, technical }) ? "audio" : (assetType satisfies MediaKind);
}

/** Whether an asset is sound without pictures. */
export function isAudioOnly({ assetType, technical }: Pick<Asset, "assetType" | "technical">) {
  return assetType === "video" && technical["has_video"] === false;
}
