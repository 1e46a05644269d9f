import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { MODELS } from "../src/config.ts";
import { type Client, fixture, type Json, newClient } from "./client.ts";
import { localAi } from "./local/bindings.ts";
import { deliver, setState, startAsset } from "./started.ts";

let client: Client;
/** Whether this machine has a recogniser; without one the same film is indexed with a warning. */
let canHear: boolean;

beforeAll(async () => {
  client = await newClient();
  const health: Json = await (await fetch(`${env.ENGINE_URL}/health`)).json();
  canHear = health.abilities.speech.ready;
});

function getVideo(index: string, asset: Json): Promise<Json> {
  return client.json("GET", `/index/${index}/video/${asset.asset_id}`);
}

async function spokenWords(index: string, asset: Json): Promise<string[]> {
  const path = `/index/${index}/video/${asset.asset_id}/segments`;
  const { segments } = await client.json("GET", path);
  return segments.map(({ transcript }: Json) => transcript);
}

/** Waits for an asset, and does what the queue does after its delay. */
async function settledBy(index: string, asset: Json, body: object): Promise<Json> {
  return vi.waitUntil(
    async () => {
      await deliver("sightline-ingest", body);
      const record = await getVideo(index, asset);
      return ["ready", "failed"].includes(record.state) && record;
    },
    { timeout: 25_000, interval: 200 },
  );
}

describe("a film in which someone speaks", () => {
  it("is found by what is said, where there is a recogniser", async () => {
    const { asset } = await startAsset(client, "told", "told.mp4");
    const record = await client.settled("told", asset);
    expect(record).toMatchObject({ state: "ready", has_audio: true });
    if (!canHear) {
      expect(record).toMatchObject({ transcript: null, warnings: [{ code: "model_missing" }] });
      expect(record.warnings[0].message).toMatch(/^The sound can't be transcribed\./);
      return;
    }
    expect(record).toMatchObject({ warnings: [], transcript: { source: "asr", language: "en" } });
    expect((await spokenWords("told", asset)).join(" ")).toMatch(/carpenter .* river/);
    const query = { query: "carpenter" };
    const { segments } = await client.json("POST", "/index/told/search", { json: query });
    const [first] = segments;
    expect(first).toMatchObject({ start_seconds: 0, end_seconds: 4.5 });
    expect(first.evidence[0]).toMatchObject({
      kind: "speech",
      text: expect.stringContaining("<mark>carpenter</mark>"),
    });
  });

  it("is not listened to where a transcript came with it", async () => {
    await client.json("POST", "/index", { json: { index_name: "given" } });
    const cues = "WEBVTT\n\n00:01.000 --> 00:02.000\nThe words that count.\n";
    const transcript = new File([cues], "words.vtt");
    const form = { video_file: await fixture("told.mp4"), transcript };
    const asset = await client.json("POST", "/index/given/video", { form });
    const record = await client.settled("given", asset);
    expect(record).toMatchObject({ warnings: [], transcript: { source: "upload", cues: 1 } });
    expect((await spokenWords("given", asset)).join("")).toBe("The words that count.");
    const { objects } = await env.MEDIA.list();
    const heard = objects.filter(({ key }) => key.includes(`${asset.asset_id}/heard/`));
    expect(heard).toEqual([]);
  });

  it("is listened to where that has no times", async () => {
    await client.json("POST", "/index", { json: { index_name: "plain" } });
    const sentences = ["The old carpenter built this house alone.", "It looks toward the river."];
    const transcript = new File([sentences.join("\n")], "words.txt");
    const form = { video_file: await fixture("told.mp4"), transcript };
    const asset = await client.json("POST", "/index/plain/video", { form });
    const record = await client.settled("plain", asset);
    expect(record).toMatchObject({ warnings: [], transcript: { source: "upload", cues: 2 } });
    const path = `/index/plain/video/${asset.asset_id}/transcript`;
    const { cues } = await client.json("GET", path);
    expect(cues.map(({ text }: Json) => text)).toEqual(sentences);
    // Spread over the film where nobody could listen: the voice begins half a second into it.
    expect(cues[0].start > 0.2 && cues[0].start < 1).toBe(canHear);
    expect(cues[1].end < 8.5).toBe(canHear);
  });

  it.each(["3040", "3007", "malformed"] as const)(
    "waits for a model that fails: %s",
    async (fault) => {
      await localAi().inject(MODELS.transcribe.id, fault, 1);
      const name = `unheard-${fault}`;
      const { asset, indexId } = await startAsset(client, name, "told.mp4");
      const body = { indexId, assetId: asset.asset_id, step: "listen", part: 0 };
      const record = await settledBy(name, asset, body);
      const codes = record.warnings.map(({ code }: Json) => code);
      expect(codes).toEqual(canHear ? [] : ["model_missing"]);
    },
  );

  it("is indexed by its looks where there is no model", async () => {
    await localAi().inject(MODELS.transcribe.id, "5007", 1);
    const { asset } = await startAsset(client, "deaf", "told.mp4");
    const record = await client.settled("deaf", asset);
    expect(record).toMatchObject({ state: "ready", warnings: [{ code: "model_missing" }] });
    expect(await spokenWords("deaf", asset)).toEqual(["", ""]);
  });
});

it("a film with nothing but a tone says nothing, and needs no recogniser", async () => {
  const { asset } = await startAsset(client, "tone", "clip.mp4");
  expect(await client.settled("tone", asset)).toMatchObject({
    warnings: [],
    transcript: { source: "asr", cues: 0 },
  });
});

it("the words heard in each piece come together in order", async () => {
  const { asset, indexId, object } = await startAsset(client, "joined", "told.mp4");
  await client.settled("joined", asset);
  const { objects } = await env.MEDIA.list();
  const key = objects
    .map((one) => one.key)
    .find((one) => one.includes(`${asset.asset_id}/heard/0`))!;
  const cue = (start: number, text: string) => ({ start, end: start + 1, text });
  const cues = [cue(6, "and goats"), cue(1, "boats")];
  await env.MEDIA.put(key, JSON.stringify({ language: "en", cues, problem: null }));
  const part = { status: "waiting", attempts: 0, asks: 1, dueAt: Date.now() + 60_000 };
  await setState(object, { assetType: "video", step: "transcribe", parts: [part] });
  await deliver("sightline-ingest", {
    indexId,
    assetId: asset.asset_id,
    step: "transcribe",
    part: 0,
  });
  expect(await spokenWords("joined", asset)).toEqual(["boats", "and goats"]);
});
