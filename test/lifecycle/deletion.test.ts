import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import worker from "../../local/worker.ts";
import { inspectIndex } from "../../src/lifecycle/inspect.ts";
import { type Client, type Json, fixture, newClient } from "../support/client.ts";
import { fetchDeployed, withoutDelivery } from "../support/deployed.ts";
import { readStoredState, startAsset } from "../support/ingest-helpers.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { scriptAnswers } from "../support/scripted-model.ts";
import { assetRefOf, run, segmentIdsOf } from "../support/store-queries.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

describe("deletion", () => {
  it("of an asset leaves nothing in any store", async () => {
    const { asset, indexId } = await startAsset(client, "bye");
    await client.waitForAsset("bye", asset);
    const { job_id } = await client.json("DELETE", `/index/bye/image/${asset.asset_id}`);
    expect(await client.waitForJob(job_id)).toMatchObject({ state: "succeeded" });
    expect(await readStoredState(asset, indexId)).toEqual({
      rows: [],
      fullTextRows: 0,
      keys: [],
      vectors: 0,
    });
    expect((await client.send("GET", `/index/bye/image/${asset.asset_id}`)).status).toBe(404);
    expect((await client.json("GET", "/index/bye")).index.counts.images).toBe(0);
  });

  it("of an index frees its name at once and deletes its content", async () => {
    const { asset, indexId } = await startAsset(client, "whole");
    await client.waitForAsset("whole", asset);
    const search = () => client.send("POST", "/index/whole/search", { json: { query: "words" } });
    expect(await (await search()).json()).toMatchObject({ total: 1 });
    const { job_id } = await client.json("DELETE", "/index/whole");
    expect((await client.send("GET", "/index/whole")).status).toBe(404);
    expect((await search()).status).toBe(404);
    await client.json("POST", "/index", { json: { index_name: "whole" } });
    expect((await client.json("GET", "/index/whole")).total).toBe(0);
    expect(await (await search()).json()).toMatchObject({ total: 0 });
    expect(await client.waitForJob(job_id)).toMatchObject({
      state: "succeeded",
      result: { assets: 1 },
    });
    expect(await readStoredState(asset, indexId)).toEqual({
      rows: [],
      fullTextRows: 0,
      keys: [],
      vectors: 0,
    });
  });

  it("of an asset during its ingest leaves nothing in any store", async () => {
    const { asset, indexId } = await startAsset(client, "midway", "clip.mp4");
    const { job_id } = await client.json("DELETE", `/index/midway/video/${asset.asset_id}`);
    await client.waitForJob(job_id);
    await waitUntil(async () => (await readStoredState(asset, indexId)).keys.length === 0);
    expect(await readStoredState(asset, indexId)).toMatchObject({
      rows: [],
      fullTextRows: 0,
      keys: [],
    });
    expect(await client.json("GET", `/jobs/${asset.job_id}`)).toMatchObject({ state: "cancelled" });
  });
});

describe("an asset that is being deleted", () => {
  let trip: Client;
  let video: Json;
  let boats: Json;
  let segment: string;

  const QUESTION = "query=Who+lives+with+the+goats%3F";
  const search = (json: object) => trip.json("POST", "/index/trip/search", { json });
  const answer = (path: string) => trip.send("GET", `/index/trip/${path}?${QUESTION}`);

  /** Deletes an asset with a queue that doesn't deliver the job. */
  async function beginDeletion({ asset_type, asset_id }: Json) {
    const path = `/index/trip/${asset_type}/${asset_id}`;
    const { status } = await fetchDeployed(withoutDelivery, trip.key, path, { method: "DELETE" });
    expect(status).toBe(200);
  }

  beforeAll(async () => {
    ({ client: trip, video, boats } = await createSampleIndex());
    segment = (await segmentIdsOf(video))[0]!;
    await scriptAnswers("The keeper lives there with two goats. [1]");
    const before = await (await answer("answer")).json<Json>();
    expect(before.citations[0]).toMatchObject({ asset_id: video.asset_id });
    for (const asset of [video, boats]) await beginDeletion(asset);
  });

  it.each<[string, object]>([
    ["a word", { query: "goats boat" }],
    ["a word with a filter", { query: "goats boat", filter: { year: null } }],
    ["a word in some modes", { query: "goats", modes: ["video"] }],
    ["a phrase", { query: '"two goats"' }],
  ])("isn't found by a search for %s", async (_, json) => {
    const { segments } = await search(json);
    const assetIds = segments.map(({ asset_id }: Json) => asset_id);
    expect(assetIds).not.toContain(video.asset_id);
    expect(assetIds).not.toContain(boats.asset_id);
  });

  it("isn't found by a search with its own image", async () => {
    const form = { image_file: await fixture("boats.jpg") };
    const { segments } = await trip.json("POST", "/index/trip/search_image", { form });
    expect(segments.map(({ asset_id }: Json) => asset_id)).not.toContain(boats.asset_id);
  });

  it("isn't cited in an answer", async () => {
    const { citations, grounded } = await (await answer("answer")).json<Json>();
    expect({ citations, grounded }).toEqual({ citations: [], grounded: false });
    expect((await answer(`${video.video_id}/answer_vqa`)).status).toBe(404);
  });

  it("can't be named in a search", async () => {
    const requests = [
      { query: "x", asset_ids: [video.asset_id] },
      { similar_to: video.asset_id },
      { similar_to: segment },
    ];
    for (const json of requests) {
      expect((await trip.send("POST", "/index/trip/search", { json })).status).toBe(404);
    }
  });

  it("isn't reported as orphaned content", async () => {
    const inTwoDays = Date.now() + 2 * 24 * 3_600_000;
    const asset = await assetRefOf(video);
    expect(await inspectIndex(env, asset, inTwoDays)).toEqual([]);
  });

  it("doesn't stand for the same file when it is added again", async () => {
    const form = { image_file: await fixture("boats.jpg") };
    const added = await trip.json("POST", "/index/trip/image", { form });
    expect(added.asset_id).not.toBe(boats.asset_id);
    expect(await trip.waitForAsset("trip", added)).toMatchObject({ state: "ready" });
  });
});

describe("the sweep", () => {
  const sweep = (bindings: Partial<Env> = {}) => {
    const scheduledTime = Date.now();
    const tick = { scheduledTime, cron: "* * * * *" } as ScheduledController;
    return worker.scheduled(tick, { ...env, ...bindings });
  };
  const countIndices = (name: string) =>
    env.DB.prepare("SELECT COUNT(*) AS n FROM indices WHERE name = ?").bind(name).first("n");

  /** Makes an asset unknown to its index's object, and an index whose deletion has no job. */
  async function interrupt(restarted: string, deleted: string) {
    const { asset, object } = await startAsset(client, restarted);
    await client.waitForAsset(restarted, asset);
    await object.deleteAsset(asset.asset_id);
    const anHourAgo = Date.now() - 3_600_000;
    const reset =
      "UPDATE assets SET state = 'queued', revision = 0, created_at = ? WHERE asset_id = ?";
    await run(reset, anHourAgo, asset.asset_id);
    await client.json("POST", "/index", { json: { index_name: deleted } });
    await run("UPDATE indices SET deleted_at = ? WHERE name = ?", anHourAgo, deleted);
    return asset;
  }

  it("resumes ingests and deletions that were interrupted between two stores", async () => {
    const asset = await interrupt("interrupted", "hidden");
    await sweep();
    expect(await client.waitForAsset("interrupted", asset)).toMatchObject({ state: "ready" });
    await waitUntil(async () => (await countIndices("hidden")) === 0);
  });

  it("continues if an index's object fails, and retries in its next run", async () => {
    const asset = await interrupt("failing", "behind");
    const failing = () => ({ start: () => Promise.reject(new Error("overloaded")) });
    const objects = { getByName: failing } as unknown as Env["MEDIA_INDEX"];
    await sweep({ MEDIA_INDEX: objects });
    await waitUntil(async () => (await countIndices("behind")) === 0);
    await sweep();
    expect(await client.waitForAsset("failing", asset)).toMatchObject({ state: "ready" });
  });
});
