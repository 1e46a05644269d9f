import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { deliver, setState, startAsset } from "../support/ingest-helpers.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

function getVideo(index: string, asset: Json): Promise<Json> {
  return client.json("GET", `/index/${index}/video/${asset.asset_id}`);
}

async function segmentTexts(index: string, asset: Json): Promise<string[]> {
  const path = `/index/${index}/video/${asset.asset_id}/segments`;
  const { segments } = await client.json("GET", path);
  return segments.map(({ transcript }: Json) => transcript);
}

/**
 * Waits for an asset while delivering a message again and again, as the queue does after a delay.
 */
async function settledWithDeliveries(index: string, asset: Json, body: object): Promise<Json> {
  return waitUntil(async () => {
    await deliver("sightline-local-ingest", body);
    const record = await getVideo(index, asset);
    return ["ready", "failed"].includes(record.state) && record;
  });
}

describe("a video with speech", () => {
  it("is found by its recognised speech", async () => {
    const { asset } = await startAsset(client, "spoken", "speech.mp4");
    const record = await client.waitForAsset("spoken", asset);
    expect(record).toMatchObject({ state: "ready", has_audio: true });
    expect(record).toMatchObject({ warnings: [], transcript: { source: "asr", language: "en" } });
    expect((await segmentTexts("spoken", asset)).join(" ")).toMatch(/carpenter .* river/);
    const query = { query: "carpenter" };
    const { segments } = await client.json("POST", "/index/spoken/search", { json: query });
    const [first] = segments;
    expect(first).toMatchObject({ start_seconds: 0, end_seconds: 4.5 });
    expect(first.evidence[0]).toMatchObject({
      kind: "speech",
      text: expect.stringContaining("<mark>carpenter</mark>"),
    });
  });

  it("whose transcript has times isn't recognised", async () => {
    await client.json("POST", "/index", { json: { index_name: "given" } });
    const cues = "WEBVTT\n\n00:01.000 --> 00:02.000\nThe submitted text.\n";
    const transcript = new File([cues], "words.vtt");
    const form = { video_file: await fixture("speech.mp4"), transcript };
    const asset = await client.json("POST", "/index/given/video", { form });
    const record = await client.waitForAsset("given", asset);
    expect(record).toMatchObject({ warnings: [], transcript: { source: "upload", cues: 1 } });
    expect((await segmentTexts("given", asset)).join("")).toBe("The submitted text.");
    const { objects } = await env.MEDIA.list();
    const recognized = objects.filter(({ key }) => key.includes(`${asset.asset_id}/asr/`));
    expect(recognized).toEqual([]);
  });

  it("whose transcript has no times gets those of the recognised speech", async () => {
    await client.json("POST", "/index", { json: { index_name: "plain" } });
    const sentences = ["The old carpenter built this house alone.", "It looks toward the river."];
    const transcript = new File([sentences.join("\n")], "words.txt");
    const form = { video_file: await fixture("speech.mp4"), transcript };
    const asset = await client.json("POST", "/index/plain/video", { form });
    const record = await client.waitForAsset("plain", asset);
    expect(record).toMatchObject({ warnings: [], transcript: { source: "upload", cues: 2 } });
    const path = `/index/plain/video/${asset.asset_id}/transcript`;
    const { cues } = await client.json("GET", path);
    expect(cues.map(({ text }: Json) => text)).toEqual(sentences);
    // The speech begins at 0.5 s. Without it the cues would be distributed over the whole video.
    expect(cues[0].start > 0.2 && cues[0].start < 1).toBe(true);
    expect(cues[1].end < 8.5).toBe(true);
  });

  it("whose transcript has no times gets cues over its whole length without a model", async () => {
    await localAi().inject(MODELS.transcribe.id, "5007", 1);
    await client.json("POST", "/index", { json: { index_name: "untimed" } });
    const transcript = new File(["The old carpenter.\nBuilt this house."], "words.txt");
    const form = { video_file: await fixture("speech.mp4"), transcript };
    const asset = await client.json("POST", "/index/untimed/video", { form });
    await client.waitForAsset("untimed", asset);
    const path = `/index/untimed/video/${asset.asset_id}/transcript`;
    const { cues } = await client.json("GET", path);
    expect(cues).toHaveLength(2);
    expect(cues[0].start).toBeLessThan(0.2);
    expect(cues[1].end).toBeGreaterThanOrEqual(8.5);
  });

  it.each(["3040", "3007", "malformed"] as const)(
    "is recognised after the model has failed once: %s",
    async (fault) => {
      await localAi().inject(MODELS.transcribe.id, fault, 1);
      const name = `fault-${fault}`;
      const { asset, indexId } = await startAsset(client, name, "speech.mp4");
      const body = { indexId, assetId: asset.asset_id, step: "recognize_speech", part: 0 };
      const record = await settledWithDeliveries(name, asset, body);
      expect(record.warnings).toEqual([]);
    },
  );

  it("is ready with a warning if there is no recognition model", async () => {
    await localAi().inject(MODELS.transcribe.id, "5007", 1);
    const { asset } = await startAsset(client, "no-model", "speech.mp4");
    const record = await client.waitForAsset("no-model", asset);
    expect(record).toMatchObject({
      state: "ready",
      transcript: null,
      warnings: [{ code: "model_not_found" }],
    });
    expect(record.warnings[0].message).toMatch(/^The audio can't be transcribed\./);
    expect(await segmentTexts("no-model", asset)).toEqual(["", ""]);
  });
});

it("a video with nothing but a tone has an empty transcript and no warning", async () => {
  const { asset } = await startAsset(client, "tone", "clip.mp4");
  expect(await client.waitForAsset("tone", asset)).toMatchObject({
    warnings: [],
    transcript: { source: "asr", cues: 0 },
  });
});

it("the transcript of a segment has the cues of all audio chunks in order", async () => {
  const { asset, indexId, object } = await startAsset(client, "merged", "speech.mp4");
  await client.waitForAsset("merged", asset);
  const { objects } = await env.MEDIA.list();
  const key = objects
    .map((object) => object.key)
    .find((name) => name.includes(`${asset.asset_id}/asr/0`))!;
  const cue = (start: number, text: string) => ({ start, end: start + 1, text });
  const cues = [cue(6, "and goats"), cue(1, "boats")];
  await env.MEDIA.put(key, JSON.stringify({ language: "en", cues, error: null }));
  const part = { status: "dispatched", attempts: 0, dispatches: 1, dueAt: Date.now() + 60_000 };
  await setState(object, { assetType: "video", step: "align_transcript", parts: [part] });
  await deliver("sightline-local-ingest", {
    indexId,
    assetId: asset.asset_id,
    step: "align_transcript",
    part: 0,
  });
  expect(await segmentTexts("merged", asset)).toEqual(["boats", "and goats"]);
});
