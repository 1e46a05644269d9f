import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, fixtureUrl, type Json, newClient } from "./support/client.ts";
import { createSampleIndex } from "./support/sample-index.ts";
import { waitFor, waitUntil } from "./support/wait.ts";

let client: Client;
let video: Json;
let words: Json;

beforeAll(async () => {
  ({ client, video, words } = await createSampleIndex());
});

describe("an account", () => {
  it("is created by its first request of any kind, and only once", async () => {
    const account = await client.json("POST", "/init");
    expect(account).toMatchObject({
      name: "Ada",
      created: false,
      scopes: ["read", "write", "admin"],
    });
    const other = await newClient();
    await other.json("GET", "/index");
    expect(await other.json("POST", "/init")).toMatchObject({ created: false });
  });
});

describe("a video", () => {
  it("is a queued asset with a job after its upload", () => {
    expect(video).toMatchObject({
      asset_type: "video",
      state: "queued",
      progress: 0,
      title: "clip.mp4",
      duplicate: false,
      metadata: { camera: "A" },
      source: { kind: "upload" },
      content_type: "video/mp4",
    });
    expect(video.video_id).toBe(video.asset_id);
  });

  it("has its technical metadata when it is ready", async () => {
    const record = await client.json("GET", `/index/trip/video/${video.video_id}`);
    expect(record).toMatchObject({
      state: "ready",
      progress: 1,
      error: null,
      warnings: [],
      width: 320,
      height: 180,
      fps: 10,
      has_audio: true,
      segments: 2,
      transcript: { source: "upload", cues: 2 },
    });
    expect(record.duration_seconds).toBeCloseTo(6, 1);
    const metadata = await client.json("GET", `/index/trip/video/${video.video_id}/metadata`);
    expect(metadata).toMatchObject({
      metadata: { camera: "A" },
      technical: { video_codec: "avc", audio_codec: "aac", rotation: 0, container: "MP4" },
    });
  });

  it("has a segment for each shot", async () => {
    const { segments } = await client.json("GET", `/index/trip/video/${video.video_id}/segments`);
    expect(segments).toMatchObject([
      { start_seconds: 0, end_seconds: 3, transcript: "Welcome to the lighthouse." },
      { start_seconds: 3, transcript: "The keeper lives here with two goats." },
    ]);
    expect(segments[1].end_seconds).toBeCloseTo(6, 1);
  });

  it("has a succeeded ingest job when it is ready", async () => {
    expect(await client.json("GET", `/jobs/${video.job_id}`)).toMatchObject({
      kind: "ingest",
      state: "succeeded",
      progress: 1,
      result: { asset_id: video.asset_id, asset_type: "video" },
    });
    const { jobs, total } = await client.json("GET", "/jobs?limit=2");
    expect(jobs).toHaveLength(2);
    expect(total).toBe(3);
  });
});

describe("a file whose bytes the index already has", () => {
  it("returns the existing asset when it is uploaded", async () => {
    const form = { image_file: await fixture("words.jpg") };
    const duplicate = await client.json("POST", "/index/trip/image", { form });
    expect(duplicate).toMatchObject({ asset_id: words.asset_id, duplicate: true, state: "ready" });
    const { index } = await client.json("GET", "/index/trip");
    expect(index.counts).toEqual({ videos: 1, images: 2, segments: 4 });
  });

  it("tells what came along and wasn't taken", async () => {
    const form = { image_file: await fixture("words.jpg"), metadata_str: '{"year":1900}' };
    const duplicate = await client.json("POST", "/index/trip/image", { form });
    expect(duplicate.warnings).toEqual([
      { code: "metadata_not_taken", message: expect.stringContaining("PATCH …/image/img_") },
    ]);
  });

  it("becomes the existing asset when it is added by URL, and leaves no record", async () => {
    const url = encodeURIComponent(fixtureUrl("words.jpg"));
    const path = "/index/duplicates/image";
    await client.json("POST", "/index", { json: { index_name: "duplicates" } });
    const first = await client.json("POST", `${path}?image_url=${url}`);
    await client.waitForAsset("duplicates", first);
    const form = { metadata_str: '{"year":1900}' };
    const second = await client.json("POST", `${path}?image_url=${url}`, { form });
    const job = await waitUntil(async () => {
      const record = await client.json("GET", `/jobs/${second.job_id}`);
      return ["succeeded", "failed", "cancelled"].includes(record.state) && record;
    });
    expect(job).toMatchObject({
      state: "succeeded",
      error: null,
      result: {
        asset_id: first.asset_id,
        duplicate: true,
        warnings: [{ code: "metadata_not_taken" }],
      },
    });
    await waitUntil(async () => (await client.json("GET", "/index/duplicates")).total === 1);
    const { index } = await client.json("GET", "/index/duplicates");
    expect(index).toMatchObject({ counts: { images: 1 }, states: { ready: 1, failed: 0 } });
    expect((await client.send("GET", `${path}/${second.asset_id}`)).status).toBe(404);
  });
});

describe("the lists of an index", () => {
  it("agree with its totals", async () => {
    const { assets, index } = await client.json("GET", "/index/trip");
    expect(assets).toHaveLength(3);
    const { videos } = await client.json("GET", "/index/trip/videos");
    const { images } = await client.json("GET", "/index/trip/images?limit=1");
    expect([videos.length, images.length]).toEqual([1, 1]);
    const sizes = assets.reduce((sum: number, asset: Json) => sum + asset.size_bytes, 0);
    expect(index).toMatchObject({
      counts: { videos: 1, images: 2, segments: 4 },
      states: { queued: 0, processing: 0, ready: 3, failed: 0 },
      size_bytes: sizes,
      duration_seconds: videos[0].duration_seconds,
      metadata: { year: 2026 },
    });
  });

  it("can be filtered by state and type", async () => {
    expect((await client.json("GET", "/index/trip?type=image")).total).toBe(2);
    expect((await client.json("GET", "/index/trip?state=failed")).assets).toEqual([]);
  });

  it("return each item once, over pages by cursor", async () => {
    const assetIds: string[] = [];
    let cursor: string | null = "";
    do {
      const more = cursor ? `&cursor=${cursor}` : "";
      const page: Json = await client.json("GET", `/index/trip?limit=1${more}`);
      expect(page.total).toBe(3);
      assetIds.push(...page.assets.map(({ asset_id }: Json) => asset_id));
      cursor = page.next_cursor;
    } while (cursor);
    expect(assetIds.map((id) => id.slice(0, 3))).toEqual(["vid", "img", "img"]); // oldest first
    expect(new Set(assetIds).size).toBe(3);
  });

  it("agree with the account's statistics", async () => {
    const { indices } = await client.json("GET", "/index");
    const stats = await client.json("GET", "/stats");
    const sum = (pick: (index: Json) => number) =>
      indices.reduce((total: number, index: Json) => total + pick(index), 0);
    expect(stats).toMatchObject({
      indices: indices.length,
      videos: sum(({ counts }) => counts.videos),
      images: sum(({ counts }) => counts.images),
      segments: sum(({ counts }) => counts.segments),
      size_bytes: sum(({ size_bytes }) => size_bytes),
      states: { ready: sum(({ states }) => states.ready) },
    });
    expect(stats.usage.today.ingested_images).toBeGreaterThanOrEqual(2);
    expect(stats.usage.today.ingested_seconds).toBeCloseTo(6, 1);
  });
});

it("each search and answer is metered once", async () => {
  const query = "lantern";
  for (let i = 0; i < 3; i++) await client.json("POST", "/index/trip/search", { json: { query } });
  await client.json("GET", `/index/trip/answer?query=${query}`);
  await waitFor(async () => {
    const { usage } = await client.json("GET", "/stats");
    expect(usage.today).toMatchObject({ searches: 3, answers: 1 });
    // One call to describe each of five segments, and one to embed each of their four assets. The
    // query, sent four times, is embedded once; the answer model is called once.
    expect(usage.today.model_calls).toBe(5 + 4 + 1 + 1);
    expect(usage.today.neurons_estimate).toBeGreaterThan(1);
    expect(usage.last_30_days[0]).toEqual(usage.today);
  });
});

describe("an index", () => {
  it("keeps the fields that an update doesn't name", async () => {
    const patched = await client.json("PATCH", "/index/trip", {
      json: { description: "The coast", settings: { language: "en" } },
    });
    expect(patched).toMatchObject({ description: "The coast", metadata: { year: 2026 } });
    expect(patched.settings).toEqual({ language: "en" });
  });

  it("gets a generated name unless one is given", async () => {
    const { index_name } = await client.json("POST", "/index");
    expect(index_name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
    const named = await client.json("POST", "/index?index_name=by-query");
    expect(named.index_name).toBe("by-query");
  });
});
