import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../local/local-images.ts";
import { INGEST, SEARCH } from "../src/config.ts";
import type { AssetId } from "../src/ids.ts";
import { embed } from "../src/ingest/embed.ts";
import { smallThings } from "../src/ingest/small-things.ts";
import { getAsset } from "../src/store/assets.ts";
import { listSegments } from "../src/store/segments.ts";
import { queryVectors, regionIds } from "../src/store/vectors.ts";
import type { Segment } from "../src/types.ts";
import { type Client, newClient } from "./client.ts";
import { startAsset } from "./started.ts";

let client: Client;
let assetId: AssetId;
let segment: Segment;

beforeAll(async () => {
  client = await newClient();
  const { asset } = await startAsset(client, "small", "boats.jpg");
  await client.settled("small", asset);
  assetId = asset.asset_id;
  [segment] = (await listSegments(env.DB, assetId, 0, 1)) as [Segment];
}, 60_000);

const regions = () => env.PICTURE_VECTORS.getByIds(regionIds(segment.segmentId));

/** Writes other boxes and embeds the picture again. */
async function embedWith(boxes: Segment["boxes"]) {
  await env.DB.prepare("UPDATE segments SET boxes = ? WHERE segment_id = ?")
    .bind(JSON.stringify(boxes), segment.segmentId)
    .run();
  const asset = await getAsset(env.DB, assetId);
  await embed({ ...env, IMAGES: localImages(env) }, asset!, 0);
}

const thing = { label: "boat", score: 0.9, x: 0.1, y: 0.1, width: 0.2, height: 0.2 };

describe("small things in a picture", () => {
  it("have vectors of their own as soon as it is ready", async () => {
    expect(await regions()).toHaveLength(smallThings(segment.boxes).length);
  });

  it("are found as the picture that they are in", async () => {
    const far = { ...thing, label: "bird", x: 0.7, y: 0.7 };
    await embedWith([thing, far]);
    const found = await regions();
    expect(found.map(({ id }) => id)).toEqual(regionIds(segment.segmentId).slice(0, 2));
    expect(found[0]!.metadata).toMatchObject({ kind: "region", asset_id: assetId });
    const [first, second] = found.map(({ values }) => Array.from(values));
    expect(first).not.toEqual(second);
    const filter = { kind: { $in: ["region"] } };
    const hits = await queryVectors(env.PICTURE_VECTORS, segment.indexId, second!, 5, filter);
    expect(hits).toHaveLength(2);
    expect(hits[0]).toMatchObject({ segmentId: segment.segmentId, kind: "picture" });
    expect(hits[0]!.cosine).toBeCloseTo(1 - SEARCH.regionHandicap, 3);
  });

  it("are at most so many, and forgotten when they are no more", async () => {
    await embedWith(Array.from({ length: 9 }, (_, i) => ({ ...thing, x: i / 10 })));
    expect(await regions()).toHaveLength(INGEST.regions.most);
    await embedWith([thing]);
    expect(await regions()).toHaveLength(1);
    await embedWith([]);
    expect(await regions()).toEqual([]);
  });

  it("go with the picture", async () => {
    await embedWith([thing]);
    const { job_id } = await client.json("DELETE", `/index/small/image/${assetId}`);
    await client.finished(job_id);
    expect(await regions()).toEqual([]);
  });
});
