import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { deliver, runToEnd, startAsset } from "../support/ingest-helpers.ts";
import { waitUntil } from "../support/wait.ts";

const TRANSCRIPT = "WEBVTT\n\n00:00.000 --> 00:06.000\nThe keeper lives here with two goats.\n";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

/** Ingests an asset into a new index. Retries at once, not after the delay of the queue. */
async function ingest(name: string, type: "video" | "image"): Promise<Json> {
  await client.json("POST", "/index", { json: { index_name: name } });
  const form =
    type === "video"
      ? { transcript: new File([TRANSCRIPT], "clip.vtt"), video_file: await fixture("clip.mp4") }
      : { image_file: await fixture("words.jpg") };
  const asset = await client.json("POST", `/index/${name}/${type}`, { form });
  const row = env.DB.prepare("SELECT index_id FROM assets WHERE asset_id = ?").bind(asset.asset_id);
  const indexId = await row.first("index_id");
  const body = { indexId, assetId: asset.asset_id, step: "describe", part: 0 };
  return waitUntil(async () => {
    await deliver("sightline-local-ingest", body);
    const record = await client.json("GET", `/index/${name}/${type}/${asset.asset_id}`);
    return ["ready", "failed"].includes(record.state) && record;
  });
}

const readyWithWarning = (code: string) => ({
  state: "ready",
  warnings: [{ code, message: expect.stringMatching(/^1 of \d segments can't be described\./) }],
});

describe("a video whose frames can't be decoded", () => {
  it.each(["9504", "9523"] as const)(
    "during an outage becomes ready after it: %s",
    async (fault) => {
      await localMedia(env).inject(fault, 2);
      const record = await ingest(`outage-${fault}`, "video");
      expect(record).toMatchObject({ state: "ready", error: null, warnings: [] });
    },
  ); // two delays of ten seconds

  it.each(["9412", "9412 coded", "9412 cf_resized", "9517"] as const)(
    "because they are damaged becomes ready with a warning, after one try each: %s",
    async (fault) => {
      const times = 50;
      await localMedia(env).inject(fault, times);
      const record = await ingest(`damaged-${fault.replace(" ", "-")}`, "video");
      expect(record).toMatchObject(readyWithWarning("unreadable_frame"));
      // A contact sheet and a keyframe.
      expect(times - (await env.FAULTS.getByName("faults").clear("FRAMES"))).toBe(2);
    },
  );

  it("because the decoder returns malformed JPEGs becomes ready with a warning", async () => {
    await localMedia(env).inject("malformed", 2);
    const record = await ingest("malformed", "video");
    expect(record).toMatchObject(readyWithWarning("unreadable_frame"));
  });
});

describe("an image that can't be decoded", () => {
  it.each(["9401", "9523", "9599"] as const)(
    "during an outage becomes ready after it: %s",
    async (fault) => {
      await localImages(env).inject(fault, 2);
      const record = await ingest(`image-${fault}`, "image");
      expect(record).toMatchObject({ state: "ready", error: null, warnings: [] });
    },
  );

  it.each(["9422", "9522"] as const)(
    "for a quota or a busy platform is deferred until that has passed: %s",
    async (fault) => {
      const name = `deferred-${fault}`;
      await localImages(env).inject(fault, 25);
      const started = await startAsset(client, name);
      expect(await runToEnd(client, name, started)).toBe(25);
      const record = await client.waitForAsset(name, started.asset);
      expect(record).toMatchObject({ state: "ready", error: null, warnings: [] });
    },
  );

  it.each(["422", "9412", "9412 coded", "422 cf_resized", "9516", "9517", "9520"] as const)(
    "because it is damaged fails as unreadable_image after one try: %s",
    async (fault) => {
      await localImages(env).inject(fault);
      const { state, error } = await ingest(`image-damaged-${fault.replace(" ", "-")}`, "image");
      expect({ state, code: error?.code }).toEqual({ state: "failed", code: "unreadable_image" });
    },
  );
});
