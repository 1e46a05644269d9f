import type { Asset, AssetKind } from "./types.ts";

/** Returns what an asset is for a search. A video has pictures until it is probed. */
export function assetKind({ assetType, technical }: Pick<Asset, "assetType" | "technical">) {
  return isAudioOnly({ assetType, technical }) ? "audio" : (assetType satisfies AssetKind);
}

/** Whether an asset is sound without pictures. */
export function isAudioOnly({ assetType, technical }: Pick<Asset, "assetType" | "technical">) {
  return assetType === "video" && technical["has_video"] === false;
}
