import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { deleteSegmentVectors } from "../../src/store/vectorize/vectors.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { createRepairFixture, type RepairFixture, runSearches } from "../support/repair-fixture.ts";
import {
  type AssetRef,
  assetRefOf,
  OF_ASSET,
  runInIndex,
  segmentIdsOf,
} from "../support/store-queries.ts";

let client: Client;
let assets: RepairFixture;
let clip: AssetRef;
let searches: Json[];

beforeAll(async () => {
  client = await newClient();
  assets = await createRepairFixture(client, "lost");
  clip = await assetRefOf(assets.clip);
  searches = await runSearches(client, "lost");
});

/** Repairs the index, and waits for the ingests that the repair starts. */
async function repair(): Promise<Json> {
  const { job_id } = await client.json("POST", "/index/lost/traverse");
  const { result } = await client.waitForJob(job_id);
  for (const asset of Object.values(assets)) await client.waitForAsset("lost", asset);
  return result;
}

async function listFindings(): Promise<string[]> {
  const { nodes, health } = await client.json("GET", "/index/lost/traverse");
  const all = [...nodes.map((node: Json) => node.health), health];
  return all.flatMap(({ findings }) => findings.map(({ code }: Json) => code));
}

describe("a traversal with repair", () => {
  it("restores an index whose database and vectors are lost, by ingesting its files again", async () => {
    await deleteSegmentVectors(vectorPair(env, clip), await segmentIdsOf(assets.clip));
    for (const table of ["segments", "assets"]) await runInIndex(clip, `DELETE FROM ${table}`);
    const found = await client.json("POST", "/index/lost/search", { json: { query: "a clock" } });
    expect(found).toMatchObject({ segments: [], total: 0, next_cursor: null });
    expect(await listFindings()).toContain("segment_count_mismatch");
    const { assets: count, repaired, unrepaired } = await repair();
    expect({ count, unrepaired }).toEqual({ count: 6, unrepaired: [] });
    expect(repaired.segment_count_mismatch).toBe(6);
    expect(await listFindings()).toEqual([]);
    expect(await runSearches(client, "lost")).toEqual(searches);
    const video = await client.json("GET", `/index/lost/video/${clip.assetId}`);
    expect(video.transcript).toMatchObject({ source: "upload", cues: 2 });
  });

  it("reports segments that are lost again, and doesn't ingest the file for ever", async () => {
    const second = `DELETE FROM segments WHERE position = 1 AND ${OF_ASSET}`;
    await runInIndex(clip, second, clip.assetId);
    const { repaired, unrepaired } = await repair();
    expect(repaired.segment_count_mismatch).toBeUndefined();
    expect(unrepaired).toMatchObject([
      { asset_id: clip.assetId, code: "segment_count_mismatch", message: expect.any(String) },
    ]);
  });
});
