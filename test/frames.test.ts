import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { localImages } from "../local/local-images.ts";
import { localMedia } from "../local/local-media.ts";
import { type Client, fixture, type Json, newClient } from "./client.ts";
import { deliver } from "./started.ts";

const WORDS = "WEBVTT\n\n00:00.000 --> 00:06.000\nThe keeper lives here with two goats.\n";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

/** The only asset of a new index at its end. Retries come at once, not after the queue's delay. */
async function ended(name: string, type: "video" | "image"): Promise<Json> {
  await client.json("POST", "/index", { json: { index_name: name } });
  const form =
    type === "video"
      ? { transcript: new File([WORDS], "clip.vtt"), video_file: await fixture("clip.mp4") }
      : { image_file: await fixture("words.jpg") };
  const asset = await client.json("POST", `/index/${name}/${type}`, { form });
  const row = env.DB.prepare("SELECT index_id FROM assets WHERE asset_id = ?").bind(asset.asset_id);
  const indexId = await row.first("index_id");
  const body = { indexId, assetId: asset.asset_id, step: "describe", part: 0 };
  return vi.waitUntil(
    async () => {
      await deliver("sightline-ingest", body);
      const record = await client.json("GET", `/index/${name}/${type}/${asset.asset_id}`);
      return ["ready", "failed"].includes(record.state) && record;
    },
    { timeout: 50_000, interval: 200 },
  );
}

const warned = (code: string) => ({
  state: "ready",
  warnings: [{ code, message: expect.stringMatching(/^1 of \d segments can't be seen\./) }],
});

describe("a frame that can't be taken", () => {
  it.each(["9504", "9523"] as const)(
    "for a while only delays a video: %s",
    async (fault) => {
      await localMedia(env).inject(fault, 2);
      const record = await ended(`outage-${fault}`, "video");
      expect(record).toMatchObject({ state: "ready", error: null, warnings: [] });
    },
    60_000,
  ); // two pauses of ten seconds

  it("for good becomes a warning", async () => {
    await localMedia(env).inject("9412", 2); // of the sheet that is looked through, and of the keyframe
    expect(await ended("damaged", "video")).toMatchObject(warned("unreadable_frame"));
  });

  it("whole becomes a warning", async () => {
    await localMedia(env).inject("malformed", 2);
    expect(await ended("malformed", "video")).toMatchObject(warned("unreadable_frame"));
  });
});

describe("an image that can't be decoded", () => {
  it.each(["9422", "9523"] as const)("for a while is only delayed: %s", async (fault) => {
    await localImages(env).inject(fault, 2);
    const record = await ended(`image-${fault}`, "image");
    expect(record).toMatchObject({ state: "ready", error: null, warnings: [] });
  });

  it("for good fails with a remedy", async () => {
    await localImages(env).inject("9412");
    const { state, error } = await ended("image-damaged", "image");
    expect({ state, code: error?.code }).toEqual({ state: "failed", code: "unreadable_image" });
  });
});
