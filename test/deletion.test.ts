import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import worker from "../local/worker.ts";
import { type Client, newClient } from "./client.ts";
import { startAsset, trace } from "./started.ts";
import { run } from "./stores.ts";

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
