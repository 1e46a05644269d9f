import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import type { ModelClass } from "../../src/models/call-limiter.ts";
import { keyframeKey } from "../../src/store/r2/object-keys.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, fixture, newClient } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import {
  deliver,
  endDeferral,
  isDeferred,
  readParts,
  runToEnd,
  setState,
  startAsset,
} from "../support/ingest-helpers.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { scriptAnswers } from "../support/scripted-model.ts";
import { assetRefOf, run, updateSegments } from "../support/store-queries.ts";
import { waitFor, waitUntil } from "../support/wait.ts";

describe("an ingest whose model meets a limit in 25 deliveries", () => {
  let client: Client;
  beforeAll(async () => {
    client = await newClient();
  });

  it.each(["3021", "3036", "3040"] as const)(
    "spends no attempt and makes the image ready once the limit has passed: %s",
    async (fault) => {
      const name = `limit-${fault}`;
      await localAi().inject(MODELS.describe.id, fault, 25);
      const ingest = await startAsset(client, name);
      expect(await runToEnd(client, name, ingest)).toBe(25);
      const record = await client.waitForAsset(name, ingest.asset);
      expect(record).toMatchObject({ state: "ready", error: null, warnings: [], segments: 1 });
    },
  );

  it.each([
    ["describes keyframes", MODELS.describe.id, "clip.mp4"],
    ["recognises speech", MODELS.transcribe.id, "speech.mp4"],
  ])("leaves no hole in a video: the model that %s", async (title, model, file) => {
    const name = title.split(" ")[0]!;
    await localAi().inject(model, "3021", 25);
    const ingest = await startAsset(client, name, file);
    expect(await runToEnd(client, name, ingest)).toBeGreaterThan(12);
    const record = await client.waitForAsset(name, ingest.asset);
    expect(record).toMatchObject({ state: "ready", error: null, warnings: [] });
  });

  it("isn't taken for stuck while it waits", async () => {
    await localAi().inject(MODELS.describe.id, "3036", 1);
    const { asset, object } = await startAsset(client, "waiting");
    await waitUntil(async () => (await readParts(object)).some(isDeferred));
    const [part] = await readParts(object);
    expect(part!.dueAt).toBeLessThanOrEqual(Date.now() + 900_000);
    await run("UPDATE assets SET updated_at = 0 WHERE asset_id = ?", asset.asset_id);
    await localAi().inject(MODELS.describe.id, "3036", 1);
    await endDeferral(object);
    await waitUntil(async () => (await readParts(object)).some(isDeferred));
    await waitFor(async () => {
      const row = await env.DB.prepare("SELECT updated_at AS at FROM assets WHERE asset_id = ?")
        .bind(asset.asset_id)
        .first<{ at: number }>();
      expect(row!.at).toBeGreaterThan(0);
    });
    await endDeferral(object);
    expect(await client.waitForAsset("waiting", asset)).toMatchObject({ state: "ready" });
  });
});

describe("a request whose model meets its rate limit", () => {
  let key: string;
  let client: Client;
  beforeAll(async () => {
    ({ client } = await createSampleIndex());
    ({ key } = client);
  });

  function expectLater(response: Response) {
    expect(response.status).toBe(503);
    const seconds = Number(response.headers.get("retry-after"));
    expect(seconds).toBeGreaterThanOrEqual(65);
    expect(seconds).toBeLessThanOrEqual(90);
  }

  it("for an answer quotes the index", async () => {
    await localAi().inject(MODELS.answer.id, "3021");
    const answer = await client.json("GET", "/index/trip/answer?query=Who+lives+with+the+goats%3F");
    expect(answer).toMatchObject({ model: "extractive", grounded: true });
  });

  it("for an answer that nothing can be quoted for returns the closest moments", async () => {
    const query = "query=Which+zebra+pays+taxes+in+Norway%3F&search_term=goats";
    await localAi().inject(MODELS.answer.id, "3021");
    const answer = await client.json("GET", `/index/trip/answer_vqa?${query}`);
    expect(answer).toMatchObject({ model: "extractive", grounded: false, citations: [] });
    expect(answer.answer).toMatch(/language model failed/);
    expect(answer.related.length).toBeGreaterThan(0);
  });

  it("for a search without another channel returns 503 with `Retry-After`", async () => {
    await localAi().inject(MODELS.describe.id, "3021");
    const body = new FormData();
    body.append("image_file", await fixture("clock.jpg"));
    const init = { method: "POST", body };
    const settings = { IMAGE_EMBEDDINGS_URL: "" };
    expectLater(await fetchDeployed(settings, key, "/index/trip/search_image", init));
  });

  describe("of the deployment", () => {
    let limiter: Env["MODEL_LIMITER"];
    beforeEach(() => {
      const stub = env.MODEL_LIMITER.getByName(crypto.randomUUID());
      limiter = Object.create(env.MODEL_LIMITER, { getByName: { value: () => stub } });
    });

    const settingsOf = (MODEL_RATES: Partial<Record<ModelClass, number>>) => ({
      MODEL_RATES,
      MODEL_LIMITER: limiter,
    });

    /** Uses up the share of a limit of ten that background work has. */
    const useUp = (modelClass: ModelClass) =>
      limiter
        .getByName("models")
        .take("model", modelClass, { callsPerMinute: 10, priority: "background", count: 8 });

    /** Searches by text, and returns whether the text's embedding was used. */
    async function searchUsesVectors(settings: Partial<Env>): Promise<boolean> {
      const response = await fetchDeployed(settings, key, "/index/trip/search", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query: `a keeper with animals ${crypto.randomUUID()}` }),
      });
      const { segments } = await response.json<{ segments: { signals: object }[] }>();
      return segments.some(({ signals }) => "text_margin" in signals);
    }

    /** Starts a step of a ready image anew, and returns its message. */
    async function restartStep(name: string, step: "describe" | "embed") {
      const ingest = await startAsset(client, name);
      const { asset, indexId, object } = ingest;
      await client.waitForAsset(name, asset);
      const dueAt = Date.now() + 60_000;
      const parts = [{ status: "dispatched", attempts: 0, dispatches: 1, dueAt }];
      await setState(object, { step, parts });
      return { ...ingest, message: { indexId, assetId: asset.asset_id, step, part: 0 } };
    }

    it("an ingest waits while an answer's and a search's models are called", async () => {
      const { object, message } = await restartStep("background", "embed");
      const settings = settingsOf({ embeddings: 10, text: 10 });
      await Promise.all([useUp("embeddings"), useUp("text")]);
      const outcome = await deliver("sightline-local-ingest", message, 1, settings);
      expect(outcome.explicitAcks).toHaveLength(1);
      const [part] = await readParts(object);
      expect(part).toMatchObject({ status: "dispatched", attempts: 0, dispatches: 0 });
      expect(part!.dueAt).toBeGreaterThan(Date.now() + 50_000);
      await scriptAnswers("The keeper lives with goats. [1]");
      const path = "/index/trip/answer?query=Who+keeps+the+goats%3F";
      const answer = await fetchDeployed(settings, key, path);
      expect(await answer.json()).toMatchObject({ answer: "The keeper lives with goats. [1]" });
      expect(await searchUsesVectors(settings)).toBe(true);
    });

    it("an ingest's and a search's limits are counted for an hour", async () => {
      const { message } = await restartStep("counted", "embed");
      const settings = settingsOf({ embeddings: 10 });
      await useUp("embeddings");
      await deliver("sightline-local-ingest", message, 1, settings);
      await localAi().inject(MODELS.embedText.id, "3040", 2);
      expect(await searchUsesVectors(settings)).toBe(false);
      expect(await searchUsesVectors(settings)).toBe(false);
      const object = limiter.getByName("models");
      const model = MODELS.embedText.id;
      const counts = [
        { model, code: "3040", count: 2 },
        { model, code: "refused", count: 1 },
      ];
      await expect.poll(() => object.listLimits()).toEqual(counts);
      await runInDurableObject(object, (_, { storage }) =>
        storage.sql.exec("UPDATE limits_met SET minute = minute - 60 WHERE code = 'refused'"),
      );
      expect(await object.listLimits()).toEqual(counts.slice(0, 1));
    });

    it("calls still count after the limiter was evicted from memory", async () => {
      await Promise.all([useUp("text"), useUp("embeddings")]);
      await evictDurableObject(limiter.getByName("models"));
      expect(await useUp("text")).toMatchObject({ granted: 0 });
      expect(await useUp("vision")).toMatchObject({ granted: 8 });
      await evictDurableObject(limiter.getByName("models"));
      const { granted, waitMs } = await useUp("embeddings");
      expect(granted).toBe(0);
      expect(waitMs).toBeGreaterThan(50_000);
    });

    it("searches use up the share of an ingest", async () => {
      const { object, message } = await restartStep("after-searches", "embed");
      const request = { callsPerMinute: 10, priority: "interactive", count: 8 } as const;
      await limiter.getByName("models").take("model", "embeddings", request);
      const settings = settingsOf({ embeddings: 10 });
      await deliver("sightline-local-ingest", message, 1, settings);
      expect((await readParts(object)).every(isDeferred)).toBe(true);
    });

    it("a part that has to wait extracts no keyframe", async () => {
      const { asset, object, message } = await restartStep("no-frames", "describe");
      await updateSegments(asset, "described_at = NULL");
      const keyframe = keyframeKey(await assetRefOf(asset), 0);
      await env.MEDIA.delete(keyframe);
      await useUp("text");
      await deliver("sightline-local-ingest", message, 1, settingsOf({ text: 10 }));
      expect((await readParts(object)).every(isDeferred)).toBe(true);
      expect(await env.MEDIA.head(keyframe)).toBeNull();
      await deliver("sightline-local-ingest", message, 1, settingsOf({ text: 100 }));
      expect(await env.MEDIA.head(keyframe)).not.toBeNull();
      expect(await client.waitForAsset("no-frames", asset)).toMatchObject({ state: "ready" });
    });

    it("an ingest and a search go on while the limiter can't be reached", async () => {
      const { asset, message } = await restartStep("unreachable", "embed");
      const unreachable = { take: () => Promise.reject(new Error("Network connection lost")) };
      const MODEL_LIMITER = Object.create(env.MODEL_LIMITER, {
        getByName: { value: () => unreachable },
      });
      await deliver("sightline-local-ingest", message, 1, { MODEL_LIMITER });
      expect(await client.waitForAsset("unreachable", asset)).toMatchObject({ state: "ready" });
      expect(await searchUsesVectors({ MODEL_LIMITER })).toBe(true);
    });
  });
});
