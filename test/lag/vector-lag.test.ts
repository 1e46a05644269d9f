import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { CHECKED_INDEX } from "../../src/ids.ts";
import { vectorPair, pairBindings } from "../../src/store/vectorize/vector-pairs.ts";
import { vectorLagSeconds } from "../../src/store/vectorize/vectors.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { startAsset } from "../support/ingest-helpers.ts";
import { type AssetRef, assetRefOf, countStored, segmentIdsOf } from "../support/store-queries.ts";
import { waitUntil } from "../support/wait.ts";
import { WATCHDOG_MS } from "../support/watchdog.ts";

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

  it(
    "deletes orphaned vectors, also those that others have hidden",
    { timeout: WATCHDOG_MS },
    async () => {
      const ref = await addOrphans("orphans");
      const deletions = await countMutations("delete");
      expect((await repair("orphans")).unrepaired).toEqual([]);
      await waitForLag();
      expect(await countStored(ref.indexId)).toMatchObject({
        "sightline-text-1": 2,
      });
      expect((await countMutations("delete")) - deletions).toBeLessThan(10);
    },
  );
});

const ORPHANS = 150;

/** Makes an index with an image, and more vectors without a segment than one query returns. */
async function addOrphans(name: string): Promise<AssetRef> {
  const asset = await addImage(name);
  await waitForLag();
  const [segmentId] = await segmentIdsOf(asset);
  const ref = await assetRefOf(asset);
  const { text } = vectorPair(env, ref);
  const [vector] = await text.getByIds([`${segmentId}:text`]);
  const orphans = Array.from({ length: ORPHANS }, (_, i) => {
    return { id: `seg_gone${i}:text`, values: vector!.values, namespace: ref.indexId };
  });
  await text.upsert(orphans);
  await waitForLag();
  return ref;
}

describe("a deletion", () => {
  it("of an image whose vectors don't show yet deletes these, too", async () => {
    const asset = await addImage("brief");
    const ref = await assetRefOf(asset);
    const { job_id } = await client.json("DELETE", `/index/brief/image/${asset.asset_id}`);
    await client.waitForJob(job_id);
    await waitForLag();
    expect(await countStored(ref.indexId)).toEqual({ indices: 1, shards: 1 });
  });

  it(
    "of an index deletes all orphaned vectors, and doesn't spin",
    { timeout: WATCHDOG_MS },
    async () => {
      const ref = await addOrphans("whole");
      const deletions = await countMutations("delete");
      const { job_id } = await client.json("DELETE", "/index/whole");
      expect(await client.waitForJob(job_id)).toMatchObject({ state: "succeeded" });
      expect(await countStored(ref.indexId)).toEqual({});
      expect((await countMutations("delete")) - deletions).toBeLessThan(10);
    },
  );
});

it("a search by an image finds the same image once Vectorize shows it", async () => {
  const asset = await addImage("picture");
  await waitForLag();
  const form = { image_file: await fixture("words.jpg") };
  const { segments } = await client.json("POST", "/index/picture/search_image", { form });
  expect(segments[0]).toMatchObject({ asset_id: asset.asset_id });
});

describe("observing the bindings", () => {
  let operator: Client;
  beforeAll(async () => {
    operator = await newClient(["read", "write", "operator"]);
  });
  const observe = (json: object): Promise<Json> =>
    operator.json("POST", "/health/bindings", { json });

  it("returns how long a vector takes to be found", async () => {
    const { value } = (await observe({})).vectors;
    expect(value).toMatchObject({ waiting: null });
    expect(value.found_after_seconds).toBeGreaterThanOrEqual(0);
    expect(value.score).toBeCloseTo(value.cosine, 4);
  });

  it("continues with a vector that an earlier request has written", async () => {
    const id = `observed_${Date.now() - 60_000}_0123abcd`;
    const values = Array.from({ length: 1024 }, (_, i) => Math.sin(i));
    const { text } = pairBindings(env, 2); // the newest
    await text.upsert([{ id, namespace: CHECKED_INDEX, values }]);
    const { vectors, database } = await observe({ vector: id });
    expect(vectors.value.found_after_seconds).toBeGreaterThan(60);
    expect(database).toEqual([]);
  });

  it("gives a vector up that isn't found after five minutes", async () => {
    const { value } = (await observe({ vector: `observed_${Date.now()}_0123abcd` })).vectors;
    expect(value).toMatchObject({ found_after_seconds: null, score: null });
    expect(value.waiting).toMatch(/^observed_/);
    const old = `observed_${Date.now() - 300_000}_0123abcd`;
    expect((await observe({ vector: old })).vectors.value.waiting).toBeNull();
  });

  it("takes no other id of a vector", async () => {
    const json = { vector: "seg_0:caption" };
    expect((await operator.send("POST", "/health/bindings", { json })).status).toBe(422);
  });
});
