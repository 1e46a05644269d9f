import { env } from "cloudflare:workers";
import { upsertSegments } from "../src/store/segments.ts";
import { indexFullText } from "../src/store/fulltext.ts";
import type { Segment } from "../src/types.ts";
import { type Client, fixture, type Json } from "./client.ts";
import { type AssetRef, assetRefOf, run } from "./store-queries.ts";

/** Adds an asset, and deletes its segments. */
export async function addAssetWithoutSegments(
  client: Client,
  index: string,
  type: string,
  name: string,
): Promise<AssetRef> {
  const form = { [`${type}_file`]: await fixture(name) };
  const asset: Json = await client.json("POST", `/index/${index}/${type}`, { form });
  await client.waitForAsset(index, asset);
  await run("DELETE FROM segments WHERE asset_id = ?", asset.asset_id);
  return assetRefOf(asset);
}

/** Inserts a segment per caption, numbered from 0. */
export async function captionSegments(asset: AssetRef, captions: string[]): Promise<void> {
  const { indexId, assetId } = asset;
  const segments = captions.map((caption, position) => ({
    segmentId: `${assetId}-${position}`,
    assetId,
    indexId,
    position,
    startMs: position,
    endMs: position + 1,
    keyframeMs: position,
    caption,
    transcript: "",
    onScreenText: "",
    labels: [],
  })) as unknown as Segment[];
  await upsertSegments(env.DB, segments);
  await indexFullText(env.DB, segments);
  await run("UPDATE assets SET segments = ? WHERE asset_id = ?", captions.length, assetId);
}
