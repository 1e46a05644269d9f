import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type IndexId, newId, type SegmentId, segmentId as segmentIdOf } from "../../src/ids.ts";
import { computeQuerySignature, computeSignature } from "../../src/media/pixels/image-signature.ts";
import { lumaPixels } from "../../src/media/pixels/jpeg.ts";
import { SIGNATURE } from "../../src/parameters.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import {
  findSignatures,
  putSignature,
  type SignatureMatch,
} from "../../src/store/index-database/signatures.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { startAsset } from "../support/ingest-helpers.ts";
import { countStored, runInIndex, segmentIdsOf } from "../support/store-queries.ts";

let client: Client;
let indexId: IndexId;
let boats: Json;
let segmentId: SegmentId;

beforeAll(async () => {
  client = await newClient();
  ({ asset: boats, indexId } = await startAsset(client, "harbour", "boats.jpg"));
  for (const name of ["words.jpg", "rotated.jpg"]) {
    const form = { image_file: await fixture(name) };
    const asset = await client.json("POST", "/index/harbour/image", { form });
    await client.waitForAsset("harbour", asset);
  }
  await client.waitForAsset("harbour", boats);
  segmentId = await getSegmentId(boats);
});

async function getSegmentId(asset: Json): Promise<SegmentId> {
  const [id] = await segmentIdsOf(asset);
  return id!;
}

async function findCopies(name: string, index = indexId): Promise<SignatureMatch[]> {
  const pixels = await lumaPixels(await (await fixture(name)).bytes());
  const db = indexDatabase(env, { indexId: index, shard: 0 });
  const [matches] = await findSignatures([db], [computeQuerySignature(pixels)]);
  return matches!;
}

async function countRows(id: IndexId): Promise<[signatures: number, hashes: number]> {
  const stored = await countStored(id);
  return [stored["signatures"] ?? 0, stored["signature_hashes"] ?? 0];
}

describe("a copy of a stored image", () => {
  it("that is identical is found with a similarity of 1", async () => {
    const [first] = await findCopies("boats.jpg");
    expect(first!.segmentId).toBe(segmentId);
    expect(first!.similarity).toBeGreaterThan(0.99);
  });

  it.each(["mirror", "crop", "grey", "barred", "all"])(
    "that is edited is found: boats-%s.jpg",
    async (edit) => {
      const hits = await findCopies(`boats-${edit}.jpg`);
      expect(hits[0]!.segmentId).toBe(segmentId);
      expect(hits[0]!.similarity).toBeGreaterThanOrEqual(SIGNATURE.minCopySimilarity);
      expect(hits.map(({ similarity }) => similarity)).toEqual(
        hits.map(({ similarity }) => similarity).toSorted((a, b) => b - a),
      );
    },
  );

  it("isn't found in another index", async () => {
    expect(await findCopies("boats.jpg", newId("ind"))).toEqual([]);
  });
});

describe("a segment of a video", () => {
  it("is found by its keyframe", async () => {
    const { asset, indexId } = await startAsset(client, "film", "clip.mp4");
    await client.waitForAsset("film", asset);
    const keyframe = await env.MEDIA.list({ prefix: "" }).then(({ objects }) =>
      objects.find(({ key }) => key.includes(asset.asset_id) && key.includes("keyframes")),
    );
    const object = (await env.MEDIA.get(keyframe!.key))!;
    const query = computeQuerySignature(await lumaPixels(await object.bytes()));
    const [matches] = await findSignatures([indexDatabase(env, { indexId, shard: 0 })], [query]);
    expect(matches![0]).toMatchObject({ similarity: 1 });
  });
});

describe("a short insert in a segment", () => {
  it("isn't a segment but has a signature that finds it", async () => {
    const { asset, indexId } = await startAsset(client, "glance", "glance.mp4");
    const { segments } = await client.waitForAsset("glance", asset);
    expect(segments).toBe(1);
    const rows = await runInIndex<{ ms: number | null }>(
      { indexId },
      "SELECT frame_ms AS ms FROM signatures ORDER BY frame_ms",
    );
    expect(rows).toEqual([{ ms: null }, { ms: expect.any(Number) }]);
    expect([3000, 3500]).toContain(rows[1]!.ms);
    const [copy] = await findCopies("glance.jpg", indexId);
    expect(copy!.segmentId).toBe(await getSegmentId(asset));
    expect(copy!.similarity).toBeGreaterThan(SIGNATURE.minCopySimilarity);
  });
});

describe("an image signature", () => {
  it("replaces an earlier one of its segment", async () => {
    const before = await countRows(indexId);
    const pixels = await lumaPixels(await (await fixture("boats.jpg")).bytes());
    const signature = computeSignature(pixels);
    await putSignature(indexDatabase(env, { indexId, shard: 0 }), segmentId, {
      hashes: [7],
      lumaThumbnail: signature.lumaThumbnail,
    });
    expect(await countRows(indexId)).toEqual([before[0], before[1] - signature.hashes.length + 1]);
    await putSignature(indexDatabase(env, { indexId, shard: 0 }), segmentId, signature);
    expect(await countRows(indexId)).toEqual(before);
  });

  it("of a deleted segment isn't stored", async () => {
    const [before] = await countRows(indexId);
    const deletedId = await segmentIdOf(newId("img"), 0);
    const signature = { hashes: [7], lumaThumbnail: new Uint8Array(1) };
    await putSignature(indexDatabase(env, { indexId, shard: 0 }), deletedId, signature);
    expect(await countRows(indexId)).toMatchObject({ 0: before });
  });

  it("is deleted with its asset", async () => {
    const { asset, indexId } = await startAsset(client, "leaving", "boats.jpg");
    await client.waitForAsset("leaving", asset);
    expect(await countRows(indexId)).toEqual([1, expect.any(Number)]);
    expect(await findCopies("boats-mirror.jpg", indexId)).toHaveLength(1);
    const { job_id } = await client.json("DELETE", `/index/leaving/image/${asset.asset_id}`);
    await client.waitForJob(job_id);
    expect(await countRows(indexId)).toEqual([0, 0]);
  });
});
