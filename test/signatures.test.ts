import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { SIGNATURE } from "../src/config.ts";
import { localImages } from "../local/local-images.ts";
import { type IndexId, newId, type SegmentId, segmentId as segmentIdOf } from "../src/ids.ts";
import { greyPixels } from "../src/media/pixels.ts";
import { querySignatures, signPicture } from "../src/media/signature.ts";
import { findSignatures, putSignature } from "../src/store/signatures.ts";
import { type Client, fixture, type Json, newClient } from "./client.ts";
import { startAsset } from "./started.ts";

const images = localImages(env);
let client: Client;
let indexId: IndexId;
let boats: Json;
let segmentId: SegmentId;

beforeAll(async () => {
  client = await newClient();
  ({ asset: boats, indexId } = await startAsset(client, "harbour", "boats.jpg"));
  for (const name of ["words.jpg", "turned.jpg"]) {
    const form = { image_file: await fixture(name) };
    const asset = await client.json("POST", "/index/harbour/image", { form });
    await client.settled("harbour", asset);
  }
  await client.settled("harbour", boats);
  segmentId = await segmentOf(boats);
}, 60_000);

async function segmentOf({ asset_id }: Json): Promise<SegmentId> {
  const id = await env.DB.prepare("SELECT segment_id FROM segments WHERE asset_id = ?")
    .bind(asset_id)
    .first<SegmentId>("segment_id");
  return id!;
}

async function find(name: string, limit = 5, index = indexId) {
  const pixels = await greyPixels(images, (await fixture(name)).stream());
  return findSignatures(env.DB, index, querySignatures(pixels), limit);
}

async function countRows(id: string): Promise<[signatures: number, keys: number]> {
  const counts = await env.DB.batch<{ n: number }>(
    ["signatures", "signature_keys"].map((table) =>
      env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table} WHERE index_id = ?`).bind(id),
    ),
  );
  return [counts[0]!.results[0]!.n, counts[1]!.results[0]!.n];
}

describe("an image is found again", () => {
  it("as it is, with a similarity of 1", async () => {
    const [first] = await find("boats.jpg");
    expect(first!.segmentId).toBe(segmentId);
    expect(first!.similarity).toBeGreaterThan(0.99);
  });

  it.each(["mirror", "crop", "grey", "barred", "all"])("edited: boats-%s.jpg", async (edit) => {
    const hits = await find(`boats-${edit}.jpg`);
    expect(hits[0]!.segmentId).toBe(segmentId);
    expect(hits[0]!.similarity).toBeGreaterThanOrEqual(SIGNATURE.same);
    expect(hits.map(({ similarity }) => similarity)).toEqual(
      hits.map(({ similarity }) => similarity).toSorted((a, b) => b - a),
    );
  });

  it("and no more often than asked for", async () => {
    expect(await find("boats.jpg", 1)).toHaveLength(1);
    expect(await find("boats.jpg", 0)).toEqual([]);
  });

  it("in its own index only", async () => {
    expect(await find("boats.jpg", 5, newId("ind"))).toEqual([]);
  });
});

describe("a video's moment", () => {
  it("is found by the picture it shows", async () => {
    const { asset, indexId } = await startAsset(client, "film", "clip.mp4");
    await client.settled("film", asset);
    const frame = await env.MEDIA.list({ prefix: "" }).then(({ objects }) =>
      objects.find(({ key }) => key.includes(asset.asset_id) && key.includes("keyframes")),
    );
    const { body } = (await env.MEDIA.get(frame!.key))!;
    const query = querySignatures(await greyPixels(images, body));
    const [first] = await findSignatures(env.DB, indexId, query, 5);
    expect(first).toMatchObject({ similarity: 1 });
  });
});

describe("a glance at something else in a segment", () => {
  it("makes no segment of its own, and is found", async () => {
    const { asset, indexId } = await startAsset(client, "glance", "glance.mp4");
    const { segments } = await client.settled("glance", asset);
    expect(segments).toBe(1);
    const signed = await env.DB.prepare(
      "SELECT still_ms FROM signatures WHERE index_id = ? ORDER BY still_ms",
    )
      .bind(indexId)
      .raw<[number | null]>();
    expect(signed).toEqual([[null], [expect.any(Number)]]);
    expect([3000, 3500]).toContain(signed[1]![0]);
    const [boats] = await find("glance.jpg", 5, indexId);
    expect(boats!.segmentId).toBe(await segmentOf(asset));
    expect(boats!.similarity).toBeGreaterThan(SIGNATURE.same);
  });
});

describe("a signature", () => {
  it("takes the place of an earlier one", async () => {
    const before = await countRows(indexId);
    const pixels = await greyPixels(images, (await fixture("boats.jpg")).stream());
    const signature = signPicture(pixels);
    await putSignature(env.DB, segmentId, { keys: [7], thumbnail: signature.thumbnail });
    expect(await countRows(indexId)).toEqual([before[0], before[1] - signature.keys.length + 1]);
    await putSignature(env.DB, segmentId, signature);
    expect(await countRows(indexId)).toEqual(before);
  });

  it("of a segment that is gone isn't kept", async () => {
    const [before] = await countRows(indexId);
    const gone = await segmentIdOf(newId("img"), 0);
    await putSignature(env.DB, gone, { keys: [7], thumbnail: "" });
    expect(await countRows(indexId)).toMatchObject({ 0: before });
    const orphans = env.DB.prepare("SELECT COUNT(*) AS n FROM signatures WHERE segment_id = ?");
    expect(await orphans.bind(gone).first("n")).toBe(0);
  });

  it("goes with its asset", async () => {
    const { asset, indexId } = await startAsset(client, "leaving", "boats.jpg");
    await client.settled("leaving", asset);
    expect(await countRows(indexId)).toEqual([1, expect.any(Number)]);
    expect(await find("boats-mirror.jpg", 5, indexId)).toHaveLength(1);
    const { job_id } = await client.json("DELETE", `/index/leaving/image/${asset.asset_id}`);
    await client.finished(job_id);
    expect(await countRows(indexId)).toEqual([0, 0]);
  });
});

it("an outage of the Images binding is one of the service, a broken file is the file's", async () => {
  await images.inject("9422");
  const boats = async () => greyPixels(images, (await fixture("boats.jpg")).stream());
  await expect(boats()).rejects.toMatchObject({ code: "upstream_unavailable" });
  await images.inject("9523");
  await expect(boats()).rejects.toMatchObject({ code: "upstream_failed" });
  const cut = greyPixels(images, (await fixture("cut.jpg")).stream());
  await expect(cut).rejects.toMatchObject({ code: "unreadable_image" });
});
