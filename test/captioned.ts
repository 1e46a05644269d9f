import { env } from "cloudflare:workers";
import { upsertSegments } from "../src/store/segments.ts";
import { indexWords } from "../src/store/words.ts";
import type { Segment } from "../src/types.ts";
import { type Client, fixture, type Json } from "./client.ts";
import { type Owner, ownerOf, run } from "./stores.ts";

/** An asset, without the segments that it came with. */
export async function addEmpty(
  client: Client,
  index: string,
  type: string,
  name: string,
): Promise<Owner> {
  const form = { [`${type}_file`]: await fixture(name) };
  const asset: Json = await client.json("POST", `/index/${index}/${type}`, { form });
  await client.settled(index, asset);
  await run("DELETE FROM segments WHERE asset_id = ?", asset.asset_id);
  return ownerOf(asset);
}

/** Gives an asset segments with captions, numbered from 0. */
export async function caption(owner: Owner, captions: string[]): Promise<void> {
  const { indexId, assetId } = owner;
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
  await indexWords(env.DB, segments);
  await run("UPDATE assets SET segments = ? WHERE asset_id = ?", captions.length, assetId);
}
