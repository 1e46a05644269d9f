import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { newId } from "../../src/ids.ts";
import { sweep } from "../../src/lifecycle/sweep.ts";
import { requireIndex } from "../../src/store/d1/indices.ts";
import { pairBindings } from "../../src/store/vectorize/vector-pairs.ts";
import { type Client, fixture, newClient } from "../support/client.ts";
import { startAsset } from "../support/ingest-helpers.ts";
import { assetRefOf, run } from "../support/store-queries.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

afterEach(() => {
  vi.restoreAllMocks();
});

interface PairCounts {
  vectors: number;
  shards: number;
}

async function setCounts(counts: Record<number, PairCounts>): Promise<void> {
  for (const [number, { vectors, shards }] of Object.entries(counts)) {
    await run(
      `INSERT INTO vector_pairs (vector_pair, vector_count, shard_count) VALUES (?1, ?2, ?3)
       ON CONFLICT DO UPDATE SET vector_count = ?2, shard_count = ?3`,
      Number(number),
      vectors,
      shards,
    );
  }
}

async function readCounts(): Promise<Record<number, PairCounts>> {
  const { results } = await env.DB.prepare("SELECT * FROM vector_pairs").all<{
    vector_pair: number;
    vector_count: number;
    shard_count: number;
  }>();
  return Object.fromEntries(
    results.map((row) => [row.vector_pair, { vectors: row.vector_count, shards: row.shard_count }]),
  );
}

async function createIndex(): Promise<{ name: string; pair: number }> {
  const name = `pairs-${crypto.randomUUID()}`;
  await client.json("POST", "/index", { json: { index_name: name } });
  const { account_id: accountId } = await client.json("POST", "/init");
  const { shards } = await requireIndex(env.DB, accountId, name);
  expect(shards).toHaveLength(1);
  return { name, pair: shards[0]!.vectorPair };
}

describe("a new shard belongs to", () => {
  it.each<[string, PairCounts, PairCounts, number]>([
    ["the first of two empty pairs", { vectors: 0, shards: 0 }, { vectors: 0, shards: 0 }, 1],
    ["the fuller of two with room", { vectors: 10, shards: 9 }, { vectors: 20, shards: 1 }, 2],
    ["the one with vectors to spare", { vectors: 14e6, shards: 1 }, { vectors: 0, shards: 0 }, 2],
    ["the one with shards to spare", { vectors: 9, shards: 200 }, { vectors: 0, shards: 0 }, 2],
    ["the emptier of two full ones", { vectors: 15e6, shards: 1 }, { vectors: 16e6, shards: 1 }, 1],
  ])("%s", async (_, first, second, expected) => {
    await setCounts({ 1: first, 2: second });
    expect((await createIndex()).pair).toBe(expected);
  });

  it("none that the deployment doesn't have", async () => {
    await setCounts({
      1: { vectors: 0, shards: 0 },
      2: { vectors: 0, shards: 0 },
      3: { vectors: 100, shards: 1 },
    });
    expect((await createIndex()).pair).toBe(1);
    expect(() => pairBindings(env, 3)).toThrow("TEXT_VECTORS_3");
  });
});

describe("the counts of a pair", () => {
  it("follow the shards of its indices that have vectors", async () => {
    await setCounts({ 1: { vectors: 0, shards: 5 }, 2: { vectors: 0, shards: 5 } });
    const { name } = await createIndex();
    expect(await readCounts()).toMatchObject({ 1: { shards: 5 }, 2: { shards: 5 } });
    for (const file of ["boats.jpg", "words.jpg"]) {
      const form = { image_file: await fixture(file) };
      await client.waitForAsset(name, await client.json("POST", `/index/${name}/image`, { form }));
    }
    expect(await readCounts()).toMatchObject({ 1: { shards: 6 }, 2: { shards: 5 } });
    const { job_id } = await client.json("DELETE", `/index/${name}`);
    await client.waitForJob(job_id);
    expect(await readCounts()).toMatchObject({ 1: { shards: 5 }, 2: { shards: 5 } });
  });

  it("are those of the fuller index, as of the last sweep", async () => {
    const index = `counted-${newId("ind").toLowerCase()}`;
    const { asset } = await startAsset(client, index);
    await client.waitForAsset(index, asset);
    await setCounts({ 1: { vectors: 0, shards: 0 }, 2: { vectors: 99, shards: 0 } });
    await sweep(env, Date.now());
    const { vectorPair: number } = await assetRefOf(asset);
    const { text, image } = pairBindings(env, number);
    const described: unknown[] = [await text.describe(), await image.describe()];
    const counts = (described as VectorizeIndexInfo[]).map(({ vectorCount }) => vectorCount);
    expect(Math.max(...counts)).toBeGreaterThan(0);
    expect(await readCounts()).toMatchObject({
      1: { vectors: Math.max(...counts) },
      2: { vectors: 0 },
    });
  });

  it("stay if Vectorize doesn't answer, and the sweep goes on", async () => {
    await setCounts({ 1: { vectors: 7, shards: 0 }, 2: { vectors: 8, shards: 0 } });
    const errors = vi.spyOn(console, "error").mockImplementation(() => {});
    const unavailable = { describe: () => Promise.reject(new Error("unavailable")) };
    const withoutSecond = Object.assign({}, env, { TEXT_VECTORS_2: unavailable });
    await sweep(withoutSecond, Date.now());
    expect(await readCounts()).toMatchObject({ 1: { vectors: 7 }, 2: { vectors: 8 } });
    expect(JSON.stringify(errors.mock.calls)).toMatch(/lifecycle\.chore_failed.*vector_counts/);
  });

  it("are an error in the log once no pair has room", async () => {
    const errors = vi.spyOn(console, "error").mockImplementation(() => {});
    const logged = () => JSON.stringify(errors.mock.calls).includes("lifecycle.vector_pairs_full");
    await setCounts({ 1: { vectors: 0, shards: 200 }, 2: { vectors: 0, shards: 199 } });
    await sweep(env, Date.now());
    expect(logged()).toBe(false);
    await setCounts({ 2: { vectors: 0, shards: 200 } });
    await sweep(env, Date.now());
    expect(logged()).toBe(true);
  });
});
