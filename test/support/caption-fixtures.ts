import { env } from "cloudflare:workers";
import { type SegmentId, trustedId } from "../../src/ids.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import { upsertSegments } from "../../src/store/index-database/segments.ts";
import type { ContentRef } from "../../src/types.ts";
import { type Client, fixture, type Json } from "./client.ts";
import { type AssetRef, assetRefOf, OF_ASSET, run, runInIndex } from "./store-queries.ts";

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
  const ref = await assetRefOf(asset);
  await runInIndex(ref, `DELETE FROM segments WHERE ${OF_ASSET}`, ref.assetId);
  return ref;
}

/** Inserts a segment per caption, numbered from 0. */
export async function captionSegments(asset: ContentRef, captions: string[]): Promise<void> {
  const { indexId, assetId } = asset;
  const segments = captions.map((_, position) => ({
    segmentId: trustedId<SegmentId>(`${assetId}-${position}`),
    assetId,
    indexId,
    position,
    startMs: position,
    endMs: position + 1,
    keyframeMs: position,
  }));
  const assetType = assetId.startsWith("img") ? "image" : "video";
  await upsertSegments(indexDatabase(env, asset), { assetId, assetType }, segments);
  await runInIndex(
    asset,
    `UPDATE segments SET caption = value FROM json_each(?) WHERE position = key AND ${OF_ASSET}`,
    JSON.stringify(captions),
    assetId,
  );
  await run("UPDATE assets SET segments = ? WHERE asset_id = ?", captions.length, assetId);
}
