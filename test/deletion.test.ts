import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import worker from "../local/worker.ts";
import { inspectIndex } from "../src/care/inspect-index.ts";
import { askPictureSpace } from "../src/care/picture-space.ts";
import { type Client, fixture, type Json, newClient } from "./client.ts";
import { askDeployed } from "./deployed.ts";
import { script } from "./scripted.ts";
import { startAsset, trace } from "./started.ts";
import { ownerOf, run, segmentsOf } from "./stores.ts";
import { buildTrip } from "./trip.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

describe("deleting", () => {
  it("an asset leaves nothing behind", async () => {
    const { asset, indexId } = await startAsset(client, "bye");
    await client.settled("bye", asset);
    const { job_id } = await client.json("DELETE", `/index/bye/image/${asset.asset_id}`);
    expect(await client.finished(job_id)).toMatchObject({ state: "succeeded" });
    expect(await trace(asset, indexId)).toEqual({ rows: [], words: 0, keys: [], vectors: 0 });
    expect((await client.send("GET", `/index/bye/image/${asset.asset_id}`)).status).toBe(404);
    expect((await client.json("GET", "/index/bye")).index.counts.images).toBe(0);
  });

  it("an index frees its name at once, and empties it", async () => {
    const { asset, indexId } = await startAsset(client, "whole");
    await client.settled("whole", asset);
    const search = () => client.send("POST", "/index/whole/search", { json: { query: "words" } });
    expect(await (await search()).json()).toMatchObject({ total: 1 });
    const { job_id } = await client.json("DELETE", "/index/whole");
    expect((await client.send("GET", "/index/whole")).status).toBe(404);
    expect((await search()).status).toBe(404);
    await client.json("POST", "/index", { json: { index_name: "whole" } });
    expect((await client.json("GET", "/index/whole")).total).toBe(0);
    expect(await (await search()).json()).toMatchObject({ total: 0 });
    expect(await client.finished(job_id)).toMatchObject({
      state: "succeeded",
      result: { assets: 1 },
    });
    expect(await trace(asset, indexId)).toEqual({ rows: [], words: 0, keys: [], vectors: 0 });
  });

  it("in the middle of the work leaves nothing either", async () => {
    const { asset, indexId } = await startAsset(client, "midway", "clip.mp4");
    const { job_id } = await client.json("DELETE", `/index/midway/video/${asset.asset_id}`);
    await client.finished(job_id);
    await vi.waitUntil(async () => (await trace(asset, indexId)).keys.length === 0, {
      timeout: 10_000,
    });
    expect(await trace(asset, indexId)).toMatchObject({ rows: [], words: 0, keys: [] });
    expect(await client.json("GET", `/jobs/${asset.job_id}`)).toMatchObject({ state: "cancelled" });
  });
});

describe("what is being deleted", () => {
  let trip: Client;
  let video: Json;
  let boats: Json;
  let segment: string;

  const QUESTION = "query=Who+lives+with+the+goats%3F";
  const search = (json: object) => trip.json("POST", "/index/trip/search", { json });
  const ask = (path: string) => trip.send("GET", `/index/trip/${path}?${QUESTION}`);

  /** Its job waits in a queue that doesn't bring it. */
  async function beginDeleting({ asset_type, asset_id }: Json) {
    const stuck = { JOBS: { send: async () => {} } as unknown as Env["JOBS"] };
    const path = `/index/trip/${asset_type}/${asset_id}`;
    const { status } = await askDeployed(stuck, trip.key, path, { method: "DELETE" });
    expect(status).toBe(200);
  }

  beforeAll(async () => {
    ({ client: trip, video, boats } = await buildTrip());
    segment = (await segmentsOf(video))[0]!;
    await script("The keeper lives there with two goats. [1]"); // which is kept
    const before = await (await ask("answer")).json<Json>();
    expect(before.citations[0]).toMatchObject({ asset_id: video.asset_id });
    for (const asset of [video, boats]) await beginDeleting(asset);
  }, 60_000);

  it.each<[string, object]>([
    ["words", { query: "goats boat" }],
    ["words in a filtered index", { query: "goats boat", filter: { year: null } }],
    ["words in some kinds", { query: "goats", modes: ["video"] }],
    ["a phrase", { query: '"two goats"' }],
  ])("isn't found by %s", async (_, json) => {
    const { segments } = await search(json);
    const found = segments.map(({ asset_id }: Json) => asset_id);
    expect(found).not.toContain(video.asset_id);
    expect(found).not.toContain(boats.asset_id);
  });

  it("isn't found by its very picture", async () => {
    const form = { image_file: await fixture("boats.jpg") };
    const { segments } = await trip.json("POST", "/index/trip/search_image", { form });
    expect(segments.map(({ asset_id }: Json) => asset_id)).not.toContain(boats.asset_id);
  });

  it("is in no answer, nor in one that was given before", async () => {
    const { citations, grounded } = await (await ask("answer")).json<Json>();
    expect({ citations, grounded }).toEqual({ citations: [], grounded: false });
    expect((await ask(`${video.video_id}/answer_vqa`)).status).toBe(404);
  });

  it("is unknown by its name", async () => {
    const requests = [
      { query: "x", asset_ids: [video.asset_id] },
      { similar_to: video.asset_id },
      { similar_to: segment },
    ];
    for (const json of requests) {
      expect((await trip.send("POST", "/index/trip/search", { json })).status).toBe(404);
    }
  });

  it("isn't yet taken for what belongs to no asset", async () => {
    const inTwoDays = Date.now() + 2 * 24 * 3_600_000;
    const owner = await ownerOf(video);
    expect(await inspectIndex(env, owner, await askPictureSpace(env), inTwoDays)).toEqual([]);
  });
});

describe("the sweep", () => {
  const sweep = (bindings: Partial<Env> = {}) => {
    const scheduledTime = Date.now();
    const tick = { scheduledTime, cron: "* * * * *" } as ScheduledController;
    return worker.scheduled(tick, { ...env, ...bindings });
  };
  const left = (name: string) =>
    env.DB.prepare("SELECT COUNT(*) AS n FROM indices WHERE name = ?").bind(name).first("n");

  /** An asset that its index's object has forgotten, and an index that only seems to be deleted. */
  async function cutOff(lost: string, hidden: string) {
    const { asset, object } = await startAsset(client, lost);
    await client.settled(lost, asset);
    await object.forget(asset.asset_id);
    const long = Date.now() - 3_600_000;
    const restore =
      "UPDATE assets SET state = 'queued', revision = 0, created_at = ? WHERE asset_id = ?";
    await run(restore, long, asset.asset_id);
    await client.json("POST", "/index", { json: { index_name: hidden } });
    await run("UPDATE indices SET deleted_at = ? WHERE name = ?", long, hidden);
    return asset;
  }

  it("picks up what was cut off between two stores", async () => {
    const asset = await cutOff("lost", "hidden");
    await sweep();
    expect(await client.settled("lost", asset)).toMatchObject({ state: "ready" });
    await vi.waitUntil(async () => (await left("hidden")) === 0);
  });

  it("goes on where an index's object fails, and asks it again the next time", async () => {
    const asset = await cutOff("failing", "behind");
    const failing = () => ({ start: () => Promise.reject(new Error("overloaded")) });
    const objects = { getByName: failing } as unknown as Env["MEDIA_INDEX"];
    await sweep({ MEDIA_INDEX: objects });
    await vi.waitUntil(async () => (await left("behind")) === 0);
    await sweep();
    expect(await client.settled("failing", asset)).toMatchObject({ state: "ready" });
  });
});
