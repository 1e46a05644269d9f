import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { localAi } from "../local/bindings.ts";
import { type Call, type Client, fixture, fixtureUrl, newClient } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import { deliver, setState, startAsset } from "../support/ingest-helpers.ts";
import { storedBytes } from "../support/quota-accounts.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;
let accountId: string;

beforeAll(async () => {
  client = await newClient();
  accountId = (await client.json("POST", "/init")).account_id;
});

beforeEach(async () => {
  await env.DB.prepare("DELETE FROM usage WHERE account_id = ?").bind(accountId).run();
});

async function setLimits(limits: object) {
  await env.DB.prepare("UPDATE accounts SET limits = ? WHERE account_id = ?")
    .bind(JSON.stringify(limits), accountId)
    .run();
}

const usage = async () => (await client.json("GET", "/stats")).usage.today;
const ingested = async () => {
  const { ingested_seconds, ingested_images } = await usage();
  return { seconds: ingested_seconds, images: ingested_images };
};

describe("an ingest is metered once if", () => {
  it("its messages are delivered repeatedly", async () => {
    const { asset, indexId } = await startAsset(client, "redelivered");
    await client.waitForAsset("redelivered", asset);
    for (const step of ["fetch", "segment", "describe", "embed", "finish", "finish"]) {
      await deliver("sightline-local-ingest", { indexId, assetId: asset.asset_id, step, part: 0 });
    }
    expect(await ingested()).toEqual({ seconds: 0, images: 1 });
  });

  it("its last step was interrupted and runs twice at the same time", async () => {
    const { asset, indexId, object } = await startAsset(client, "interrupted");
    await client.waitForAsset("interrupted", asset);
    // The object didn't record that the step was done.
    const part = { status: "leased", attempts: 1, dispatches: 1, dueAt: 0 };
    await setState(object, { step: "finish", parts: [part] });
    const body = { indexId, assetId: asset.asset_id, step: "finish", part: 0 };
    await Promise.all([deliver("sightline-local-ingest", body), deliver("sightline-ingest", body)]);
    expect(await client.waitForAsset("interrupted", asset)).toMatchObject({ state: "ready" });
    expect(await ingested()).toEqual({ seconds: 0, images: 1 });
  });

  it("it is restarted from the first step", async () => {
    const { asset, indexId, object } = await startAsset(client, "restarted", "clip.mp4");
    const { duration_seconds: seconds } = await client.waitForAsset("restarted", asset);
    await object.start(indexId, asset.asset_id, "video");
    await waitUntil(
      async () => (await client.json("GET", "/index/restarted?state=ready")).total === 0,
    );
    expect(await client.waitForAsset("restarted", asset)).toMatchObject({ state: "ready" });
    expect(await ingested()).toEqual({ seconds, images: 0 });
  });

  it("it succeeds after a failure", async () => {
    await client.json("POST", "/index", { json: { index_name: "retried" } });
    await setLimits({ stored_bytes: (await storedBytes(client)) + 1 });
    const path = `/index/retried/image?image_url=${fixtureUrl("boats.jpg")}`;
    const asset = await client.json("POST", path);
    expect(await client.waitForAsset("retried", asset)).toMatchObject({ state: "failed" });
    expect(await ingested()).toEqual({ seconds: 0, images: 0 });
    await setLimits({});
    await client.json("POST", `/index/retried/image/${asset.asset_id}/retry`);
    expect(await client.waitForAsset("retried", asset)).toMatchObject({ state: "ready" });
    expect(await ingested()).toEqual({ seconds: 0, images: 1 });
  });

  it("it was requested twice with the same Idempotency-Key", async () => {
    await client.json("POST", "/index", { json: { index_name: "once" } });
    const headers = { "idempotency-key": crypto.randomUUID() };
    const call = async (): Promise<Call> => ({
      form: { image_file: await fixture("boats.jpg") },
      headers,
    });
    const first = await client.json("POST", "/index/once/image", await call());
    const second = await client.json("POST", "/index/once/image", await call());
    expect(second.asset_id).toBe(first.asset_id);
    await client.waitForAsset("once", first);
    expect(await ingested()).toEqual({ seconds: 0, images: 1 });
  });
});

describe("a search", () => {
  const search: Call = { json: { query: "lantern" } };
  const waitForUsage = (name: string) => waitUntil(async () => (await usage())[name] > 0);

  beforeAll(async () => {
    await client.json("POST", "/index", { json: { index_name: "searched" } });
    const form = { image_file: await fixture("words.jpg") };
    const asset = await client.json("POST", "/index/searched/image", { form });
    await client.waitForAsset("searched", asset);
  });

  it("is metered with its model calls when it succeeds", async () => {
    await client.json("POST", "/index/searched/search", search);
    await waitForUsage("searches");
    expect(await usage()).toMatchObject({ searches: 1, model_calls: 1 });
  });

  it("isn't metered if the request is refused", async () => {
    expect((await client.send("POST", "/index/searched/search", { json: {} })).status).toBe(422);
    expect((await client.send("POST", "/index/nothing/search", search)).status).toBe(404);
    const form = { image_file: await fixture("truncated.jpg") };
    expect((await client.send("POST", "/index/searched/search_image", { form })).status).toBe(422);
    expect(await usage()).toMatchObject({ searches: 0, model_calls: 0 });
  });

  it("isn't metered if it fails, but its model calls are", async () => {
    const body = new FormData();
    body.append("image_file", await fixture("clock.jpg"));
    await localAi().inject(MODELS.embedText.id, "3036");
    // Without an image model, the image is described and its caption embedded.
    const settings = { IMAGE_EMBEDDINGS_URL: "" };
    const init = { method: "POST", body };
    const failed = await fetchDeployed(settings, client.key, "/index/searched/search_image", init);
    expect(failed.status).toBeGreaterThanOrEqual(500);
    await waitForUsage("model_calls");
    expect(await usage()).toMatchObject({ searches: 0, model_calls: 2 });
  });
});
