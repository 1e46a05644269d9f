import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { INGEST } from "../../src/config.ts";
import { sweep } from "../../src/lifecycle/sweep.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, fixture, fixtureUrl, newClient } from "../support/client.ts";
import { deliver, setState, startAsset, readStoredState } from "../support/ingest-helpers.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

describe("an ingest message", () => {
  it("that is delivered again after the asset is ready changes nothing", async () => {
    const { asset, indexId } = await startAsset(client, "twice");
    await client.waitForAsset("twice", asset);
    const before = await readStoredState(asset, indexId);
    expect(before).toMatchObject({ fullTextRows: 1, vectors: 1 });
    expect(before.keys).toHaveLength(2); // file, keyframe
    for (const step of ["fetch", "segment", "describe", "embed", "finish"]) {
      const body = { indexId, assetId: asset.asset_id, step, part: 0 };
      expect((await deliver("sightline-local-ingest", body)).explicitAcks).toHaveLength(1);
    }
    expect(await readStoredState(asset, indexId)).toEqual(before);
    expect((await client.json("GET", "/stats")).usage.today.ingested_images).toBeGreaterThan(0);
  });

  it("that is delivered three times at once is claimed at most once", async () => {
    const { asset, indexId, object } = await startAsset(client, "race");
    await client.waitForAsset("race", asset);
    await object.start(indexId, asset.asset_id, "image");
    const part = { step: "fetch", part: 0 } as const;
    const claims = await Promise.all([1, 2, 3].map(() => object.claim(asset.asset_id, part)));
    expect(claims.filter((claim) => claim === "ok").length).toBeLessThanOrEqual(1);
  });

  it("for a part that the asset doesn't have is acknowledged", async () => {
    const { asset, indexId } = await startAsset(client, "other-part");
    const body = { indexId, assetId: asset.asset_id, step: "embed", part: 99 };
    expect((await deliver("sightline-local-ingest", body)).explicitAcks).toHaveLength(1);
    expect(await client.waitForAsset("other-part", asset)).toMatchObject({ state: "ready" });
  });

  it.each([null, "text", {}, { indexId: "x", assetId: 1, step: "fly", part: -1 }])(
    "that doesn't match its schema is acknowledged: %j",
    async (body) => {
      for (const queue of [
        "sightline-local-ingest",
        "sightline-local-ingest-dead",
        "sightline-local-jobs",
        "sightline-local-jobs-dead",
        "sightline-local-webhooks",
      ]) {
        expect((await deliver(queue, body)).explicitAcks).toHaveLength(1);
      }
    },
  );

  it("in the dead-letter queue fails the asset and its job with the last failure", async () => {
    const { asset, indexId, object } = await startAsset(client, "dead");
    await client.waitForAsset("dead", asset);
    const part = { status: "dispatched", attempts: 9, dispatches: 1, dueAt: Date.now() + 60_000 };
    const failure = { code: "upstream_unavailable", message: "The model is out." };
    await setState(object, { step: "describe", parts: [{ ...part, failure }] });
    const body = { indexId, assetId: asset.asset_id, step: "describe", part: 0 };
    await deliver("sightline-local-ingest-dead", body);
    expect(await client.waitForAsset("dead", asset)).toMatchObject({
      state: "failed",
      error: failure,
    });
    const job = await client.json("GET", `/jobs/${asset.job_id}`);
    expect(job).toMatchObject({ state: "failed", error: failure });
  });
});

describe("an overdue part", () => {
  it("is dispatched again by the alarm", async () => {
    const { asset, indexId, object } = await startAsset(client, "lost");
    await client.waitForAsset("lost", asset);
    // The state after the sender stopped right after storing its intent.
    const part = { status: "dispatched", attempts: 0, dispatches: 1, dueAt: 0 };
    await setState(object, { step: "embed", parts: [part] });
    await env.DB.prepare("UPDATE assets SET state = 'embedding' WHERE asset_id = ?")
      .bind(asset.asset_id)
      .run();
    expect(await runDurableObjectAlarm(object)).toBe(true);
    expect(await client.waitForAsset("lost", asset)).toMatchObject({ state: "ready", progress: 1 });
    expect(indexId).toMatch(/^ind_/);
  });

  it("is dispatched again by the sweep if the object has lost its alarm", async () => {
    const { asset, object } = await startAsset(client, "no-alarm");
    await client.waitForAsset("no-alarm", asset);
    const part = { status: "dispatched", attempts: 0, dispatches: 1, dueAt: 0 };
    await setState(object, { step: "embed", parts: [part] });
    await runInDurableObject(object, (_, { storage }) => storage.deleteAlarm());
    await env.DB.prepare("UPDATE assets SET state = 'embedding', updated_at = ? WHERE asset_id = ?")
      .bind(Date.now() - 3 * 60_000, asset.asset_id)
      .run();
    await sweep(env, Date.now());
    expect(await client.waitForAsset("no-alarm", asset)).toMatchObject({ state: "ready" });
  });

  it("whose workers were cut off three times fails the asset as too complex", async () => {
    const { asset, object } = await startAsset(client, "cut-off");
    await client.waitForAsset("cut-off", asset);
    const part = { status: "leased", attempts: 3, cutOffs: 2, dispatches: 3, dueAt: 0 };
    await setState(object, { step: "embed", parts: [part] });
    await runDurableObjectAlarm(object);
    const record = await client.waitForAsset("cut-off", asset);
    expect(record).toMatchObject({ state: "failed", error: { code: "too_complex" } });
  });

  it("with too many attempts fails the asset, which a retry then ingests", async () => {
    const { asset, object } = await startAsset(client, "exhausted");
    await client.waitForAsset("exhausted", asset);
    const part = { status: "leased", attempts: INGEST.maxAttempts, dispatches: 9, dueAt: 0 };
    await setState(object, { step: "embed", parts: [part] });
    await runDurableObjectAlarm(object);
    const record = await client.waitForAsset("exhausted", asset);
    expect(record).toMatchObject({ state: "failed", error: { code: "attempts_exhausted" } });
    expect(await client.json("GET", `/jobs/${asset.job_id}`)).toMatchObject({
      state: "failed",
      error: { code: "attempts_exhausted" },
    });
    await client.json("POST", `/index/exhausted/image/${asset.asset_id}/retry`);
    expect(await client.waitForAsset("exhausted", asset)).toMatchObject({
      state: "ready",
      error: null,
    });
  });
});

it("an ingest continues after its object was evicted", async () => {
  const { asset, object } = await startAsset(client, "evicted", "clip.mp4");
  await waitUntil(async () => {
    const { state } = await client.json("GET", `/index/evicted/video/${asset.asset_id}`);
    return state !== "queued";
  });
  await evictDurableObject(object);
  expect(await client.waitForAsset("evicted", asset)).toMatchObject({ state: "ready" });
});

describe("an ingest whose model fails once", () => {
  it.each(["3040", "3007", "malformed"] as const)("retries and succeeds: %s", async (fault) => {
    await localAi().inject("@cf/google/gemma-4-26b-a4b-it", fault, 1);
    const name = `fault-${fault}`;
    const { asset, indexId } = await startAsset(client, name);
    const path = `/index/${name}/image/${asset.asset_id}`;
    const body = { indexId, assetId: asset.asset_id, step: "describe", part: 0 };
    await waitUntil(async () => {
      await deliver("sightline-local-ingest", body); // what the queue does after its delay
      return (await client.json("GET", path)).state === "ready";
    });
    expect(await client.json("GET", path)).toMatchObject({
      error: null,
      warnings: [],
      segments: 1,
    });
  });
});

it("the size of a rotated image is that of the image as displayed", async () => {
  const { asset } = await startAsset(client, "rotated", "rotated.jpg");
  const record = await client.waitForAsset("rotated", asset);
  expect(record).toMatchObject({ state: "ready", width: 200, height: 400 });
});

describe("an asset that can't be indexed", () => {
  it.each<[string, string]>([
    ["truncated.mp4", "unreadable_container"],
    ["truncated.jpg", "unreadable_image"],
  ])("fails with a code and a remedy: %s", async (file, code) => {
    const { asset } = await startAsset(client, file, file);
    const { state, error } = await client.waitForAsset(file, asset);
    expect({ state, code: error?.code }).toEqual({ state: "failed", code });
    expect(error.message).toMatch(/[.]$/);
  });

  it("doesn't affect the other assets of its index", async () => {
    const { asset } = await startAsset(client, "beside", "truncated.mp4");
    const form = { image_file: await fixture("words.jpg") };
    const image = await client.json("POST", "/index/beside/image", { form });
    expect(await client.waitForAsset("beside", image)).toMatchObject({ state: "ready" });
    expect(await client.waitForAsset("beside", asset)).toMatchObject({ state: "failed" });
    const { index } = await client.json("GET", "/index/beside");
    expect(index.states).toEqual({ queued: 0, processing: 0, ready: 1, failed: 1 });
  });

  it("fails after three attempts if its URL doesn't answer", async () => {
    await client.json("POST", "/index", { json: { index_name: "no-answer" } });
    const url = encodeURIComponent("http://no-server.invalid/a.mp4");
    const asset = await client.json("POST", `/index/no-answer/video?video_url=${url}`);
    const path = `/index/no-answer/video/${asset.asset_id}`;
    const row = await env.DB.prepare("SELECT index_id AS id FROM assets WHERE asset_id = ?")
      .bind(asset.asset_id)
      .first<{ id: string }>();
    const body = { indexId: row!.id, assetId: asset.asset_id, step: "fetch", part: 0 };
    await waitUntil(async () => (await client.json("GET", path)).state === "fetching");
    const record = await waitUntil(async () => {
      await deliver("sightline-local-ingest", body, 3);
      const now = await client.json("GET", path);
      return now.state === "failed" && now;
    });
    expect(record.error.code).toBe("download_failed");
  });

  it.each<[string, string]>([
    ["/nothing.mp4", "download_refused"],
    ["/words.jpg", "not_a_video"],
  ])("fails with a code if its URL has no usable file: %s", async (path, code) => {
    const name = `url${path.replace("/", "-")}`;
    await client.json("POST", "/index", { json: { index_name: name } });
    const url = encodeURIComponent(fixtureUrl(path.slice(1)));
    const asset = await client.json("POST", `/index/${name}/video?video_url=${url}`);
    expect(asset).toMatchObject({ source: { kind: "url" }, sha256: null, media_url: null });
    expect((await client.waitForAsset(name, asset)).error.code).toBe(code);
  });
});
