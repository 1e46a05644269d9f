import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { vectorLagSeconds } from "../../src/store/vectorize/vectors.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { startAsset } from "../support/ingest-helpers.ts";
import { assetRefOf, countStored, segmentIdsOf } from "../support/store-queries.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

/** Adds an image to a new index, and waits until it is ready. */
async function addImage(name: string): Promise<Json> {
  const { asset } = await startAsset(client, name);
  await client.waitForAsset(name, asset);
  return asset;
}

async function repair(name: string): Promise<Json> {
  const { job_id } = await client.json("POST", `/index/${name}/traverse`);
  const job = await client.waitForJob(job_id);
  expect(job).toMatchObject({ state: "succeeded" });
  return job.result;
}

/** Returns the image's hit by its vectors, once Vectorize shows them. */
async function findByMeaning(name: string): Promise<Json> {
  const json = { query: "a celebration with lights in the evening" };
  return waitUntil(async () => {
    const { segments } = await client.json("POST", `/index/${name}/search`, { json });
    return segments.find(({ signals }: Json) => signals.text_margin !== undefined);
  });
}

const waitForLag = () => scheduler.wait(vectorLagSeconds(env) * 1000);

/** Counts the write jobs that an index of vectors was given. */
const countMutations = (kind: "upsert" | "delete"): Promise<number> =>
  runInDurableObject(
    env.VECTOR_SPACES.getByName("sightline-text-1"),
    (_, { storage }) =>
      storage.sql
        .exec<{ n: number }>("SELECT COUNT(*) AS n FROM mutations WHERE kind = ?", kind)
        .one().n,
  );

it("an image is found by its text at once, and by meaning once Vectorize shows it", async () => {
  await addImage("late");
  const json = { query: "lantern" };
  expect((await client.json("POST", "/index/late/search", { json })).total).toBe(1);
  expect(await findByMeaning("late")).toMatchObject({ asset_type: "image" });
});

it("an ingest deletes no vectors, since none were written before", async () => {
  const before = await countMutations("delete");
  await addImage("fresh");
  expect(await countMutations("delete")).toBe(before);
});

describe("a repair", () => {
  it("leaves alone the vectors that an ingest has just written", async () => {
    await addImage("settling");
    const before = await countMutations("upsert");
    expect(await repair("settling")).toMatchObject({ findings: {} });
    expect(await countMutations("upsert")).toBe(before);
  });

  it("writes missing vectors once, though Vectorize doesn't show them yet", async () => {
    const asset = await addImage("missing");
    const [segmentId] = await segmentIdsOf(asset);
    const { text: textVectors } = vectorPair(env, await assetRefOf(asset));
    await textVectors.deleteByIds([`${segmentId}:text`]);
    await waitForLag();
    expect((await repair("missing")).repaired).toEqual({ vectors_missing: 1 });
    expect((await repair("missing")).findings).toEqual({});
    await waitForLag();
    expect((await repair("missing")).findings).toEqual({});
  });
});

describe("a deletion", () => {
  it("of an image whose vectors don't show yet deletes these, too", async () => {
    const asset = await addImage("brief");
    const ref = await assetRefOf(asset);
    const { job_id } = await client.json("DELETE", `/index/brief/image/${asset.asset_id}`);
    await client.waitForJob(job_id);
    await waitForLag();
    expect(await countStored(ref.indexId)).toEqual({ indices: 1, shards: 1 });
  });
});

it("a search by an image finds the same image once Vectorize shows it", async () => {
  const asset = await addImage("picture");
  await waitForLag();
  const form = { image_file: await fixture("words.jpg") };
  const { segments } = await client.json("POST", "/index/picture/search_image", { form });
  expect(segments[0]).toMatchObject({ asset_id: asset.asset_id });
});
