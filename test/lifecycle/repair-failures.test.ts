import { beforeAll, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";

const { describe: vision, transcribe: speech } = MODELS;

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

/** Ingests a file into a new index while a model lacks, and returns its record. */
async function ingestWithout(model: string, index: string, file: string): Promise<Json> {
  await client.json("POST", "/index", { json: { index_name: index } });
  await localAi().inject(model, "5007", 20);
  const type = file.endsWith(".mp4") ? "video" : "image";
  const form = { [`${type}_file`]: await fixture(file) };
  const asset = await client.json("POST", `/index/${index}/${type}`, { form });
  const record = await client.waitForAsset(index, asset);
  await localAi().clearFaults(model);
  return record;
}

const recordOf = (index: string, { asset_type, asset_id }: Json) =>
  client.json("GET", `/index/${index}/${asset_type}/${asset_id}`);

async function findingsOf(index: string): Promise<string[]> {
  const { nodes } = await client.json("GET", `/index/${index}/traverse`);
  return nodes.flatMap(({ health }: Json) => health.findings.map(({ code }: Json) => code));
}

async function traverse(index: string): Promise<Json> {
  const { job_id } = await client.json("POST", `/index/${index}/traverse`);
  return (await client.waitForJob(job_id)).result;
}

describe("keyframes that couldn't be described", () => {
  it("are a finding, which a traversal repairs", async () => {
    const asset = await ingestWithout(vision.id, "undescribed", "clip.mp4");
    expect(asset).toMatchObject({ state: "ready", warnings: [{ code: "model_not_found" }] });
    expect(await findingsOf("undescribed")).toContain("keyframes_undescribed");
    const report = await traverse("undescribed");
    expect(report).toMatchObject({ repaired: { keyframes_undescribed: 1 }, unrepaired: [] });
    expect(await recordOf("undescribed", asset)).toMatchObject({ warnings: [] });
    expect(await findingsOf("undescribed")).not.toContain("keyframes_undescribed");
    const { segments } = await client.json("POST", "/index/undescribed/search", {
      json: { query: "HELLO", modes: ["text"] },
    });
    expect(segments[0].on_screen_text).toContain("HELLO");
  });

  it("stay a finding that a traversal reports while the model lacks", async () => {
    const asset = await ingestWithout(vision.id, "still-undescribed", "words.jpg");
    await localAi().inject(vision.id, "5007", 1);
    const report = await traverse("still-undescribed");
    expect(report.unrepaired).toEqual([
      {
        asset_id: asset.asset_id,
        title: asset.title,
        code: "keyframes_undescribed",
        message: expect.stringContaining(vision.id),
      },
    ]);
    expect((await recordOf("still-undescribed", asset)).warnings).toHaveLength(1);
  });

  it("are described when the ready asset is retried, which stays searchable", async () => {
    const asset = await ingestWithout(vision.id, "retried", "words.jpg");
    const path = `/index/retried/image/${asset.asset_id}`;
    expect(await client.json("POST", `${path}/retry`)).toMatchObject({ state: "ready" });
    const { jobs } = await client.json("GET", "/jobs");
    const job = jobs.find(({ kind }: Json) => kind === "repair");
    expect((await client.waitForJob(job.job_id)).result.repaired).toEqual({
      keyframes_undescribed: 1,
    });
    expect(await recordOf("retried", asset)).toMatchObject({ state: "ready", warnings: [] });
    expect((await client.send("POST", `${path}/retry`)).status).toBe(409);
  });
});

describe("sound that couldn't be transcribed", () => {
  it("is a finding, which a traversal repairs", async () => {
    const asset = await ingestWithout(speech.id, "unheard", "speech.mp4");
    expect(asset).toMatchObject({ state: "ready", warnings: [{ code: "model_not_found" }] });
    expect(await findingsOf("unheard")).toEqual(["sound_unrecognized"]);
    const report = await traverse("unheard");
    expect(report).toMatchObject({ repaired: { sound_unrecognized: 1 }, unrepaired: [] });
    const record = await recordOf("unheard", asset);
    expect(record).toMatchObject({ warnings: [], transcript: { source: "asr" } });
    expect(record.transcript.cues).toBeGreaterThan(0);
    expect(await findingsOf("unheard")).toEqual([]);
  });
});
