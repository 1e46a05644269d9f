import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { INGEST, SEARCH } from "../../src/config.ts";
import type { AssetId } from "../../src/ids.ts";
import { embed, smallObjects } from "../../src/ingest/steps/embed.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import { listSegments } from "../../src/store/index-database/segments.ts";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { queryVectors, regionIds } from "../../src/store/vectorize/vectors.ts";
import type { Segment } from "../../src/types.ts";
import { type Client, newClient } from "../support/client.ts";
import { startAsset } from "../support/ingest-helpers.ts";
import { assetRefOf, updateSegments } from "../support/store-queries.ts";

let client: Client;
let assetId: AssetId;
let segment: Segment;

beforeAll(async () => {
  client = await newClient();
  const { asset } = await startAsset(client, "small", "boats.jpg");
  await client.waitForAsset("small", asset);
  assetId = asset.asset_id;
  const db = indexDatabase(env, await assetRefOf(asset));
  [segment] = (await listSegments(db, assetId, 0, 1)) as [Segment];
});

const images = () => vectorPair(env, { ...segment, vectorPair: 1 }).image;
const listRegionVectors = () => images().getByIds(regionIds(segment.segmentId));

/** Replaces the boxes of the segment and embeds it again. */
async function embedBoxes(boxes: Segment["boxes"]) {
  await updateSegments({ asset_id: assetId }, "boxes = ?", JSON.stringify(boxes));
  const asset = await getAsset(env.DB, assetId);
  await embed({ ...env, IMAGES: localImages(env) }, asset!, 0);
}

const boat = { label: "boat", score: 0.9, x: 0.1, y: 0.1, width: 0.2, height: 0.2 };

describe("the small objects of an image", () => {
  it("have region vectors as soon as the asset is ready", async () => {
    expect(await listRegionVectors()).toHaveLength(smallObjects(segment.boxes).length);
  });

  it("are found as the segment of the image, at a penalty", async () => {
    const bird = { ...boat, label: "bird", x: 0.7, y: 0.7 };
    await embedBoxes([boat, bird]);
    const found = await listRegionVectors();
    expect(found.map(({ id }) => id)).toEqual(regionIds(segment.segmentId).slice(0, 2));
    expect(found[0]!.metadata).toMatchObject({ kind: "region", asset_id: assetId });
    const [first, second] = found.map(({ values }) => Array.from(values));
    expect(first).not.toEqual(second);
    const filter = { kind: { $in: ["region"] } };
    const hits = await queryVectors(images(), segment.indexId, second!, 5, filter);
    expect(hits).toHaveLength(2);
    expect(hits[0]).toMatchObject({ segmentId: segment.segmentId, kind: "image" });
    expect(hits[0]!.cosine).toBeCloseTo(1 - SEARCH.regionPenalty, 3);
  });

  it("have a limited number of vectors, which are deleted with their boxes", async () => {
    await embedBoxes(Array.from({ length: 9 }, (_, i) => ({ ...boat, x: i / 10 })));
    expect(await listRegionVectors()).toHaveLength(INGEST.regions.maxCount);
    await embedBoxes([boat]);
    expect(await listRegionVectors()).toHaveLength(1);
    await embedBoxes([]);
    expect(await listRegionVectors()).toEqual([]);
  });

  it("lose their vectors when the image is deleted", async () => {
    await embedBoxes([boat]);
    const { job_id } = await client.json("DELETE", `/index/small/image/${assetId}`);
    await client.waitForJob(job_id);
    expect(await listRegionVectors()).toEqual([]);
  });
});
