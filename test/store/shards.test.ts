import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/ids.ts";
import { finish } from "../../src/ingest/steps/finish.ts";
import { newAsset } from "../../src/lifecycle/create-asset.ts";
import { sweep } from "../../src/lifecycle/sweep.ts";
import { parseQuery, toFtsQuery } from "../../src/search/query.ts";
import { makeSearchRequest, toSearchScope } from "../../src/search/request.ts";
import { writeAssetState } from "../../src/store/asset-changes.ts";
import { getAsset, insertAsset } from "../../src/store/d1/assets.ts";
import { requireIndex } from "../../src/store/d1/indices.ts";
import { listShards, openShardIfFull } from "../../src/store/d1/shards.ts";
import { findSegments } from "../../src/store/index-database/find-segments.ts";
import { indexDatabases } from "../../src/store/index-database/index-database.ts";
import { QueryTerms } from "../../src/text/query-terms.ts";
import { captionSegments } from "../support/caption-fixtures.ts";
import { type Client, type Json, fixture, newClient } from "../support/client.ts";
import { startAsset } from "../support/ingest-helpers.ts";
import { assetRefOf, countStored, runInIndex } from "../support/store-queries.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

async function addImage(index: string, name: string): Promise<Json> {
  const form = { image_file: await fixture(name) };
  const asset = await client.json("POST", `/index/${index}/image`, { form });
  await client.waitForAsset(index, asset);
  return asset;
}

const FULL = [
  ["database", { SHARD_BYTES: "1" }, 1],
  ["pair of Vectorize indexes", { VECTORS_PER_PAIR: "1" }, 2],
] as const;

describe.each(FULL)("an index whose %s is full", (_, settings, pairOfSecond) => {
  const name = `grown-${pairOfSecond}`;
  let words: Json;
  let boats: Json;

  const assetIds = ({ segments }: Json): string[] =>
    segments.map(({ asset_id }: Json) => asset_id as string);
  const search = async (json: object) =>
    assetIds(await client.json("POST", `/index/${name}/search`, { json }));

  beforeAll(async () => {
    const started = await startAsset(client, name, "words.jpg");
    words = started.asset;
    await client.waitForAsset(name, words);
    const asset = (await getAsset(env.DB, words.asset_id))!;
    await sweep({ ...env, ...settings }, Date.now());
    for (let i = 0; i < 2; i++) await finish({ ...env, ...settings }, asset);
    boats = await addImage(name, "boats.jpg");
  });

  it("has opened one more, for new assets", async () => {
    const [first, second] = [await assetRefOf(words), await assetRefOf(boats)];
    const shards = [
      { shard: 0, vectorPair: 1 },
      { shard: 1, vectorPair: pairOfSecond },
    ];
    expect(first).toMatchObject({ ...shards[0], shards });
    expect(second).toMatchObject({ ...shards[1], shards });
    const stored = await countStored(first.indexId);
    const spaces = ["sightline-text-1", "sightline-text-2"].map((space) => stored[space]! > 0);
    expect(spaces).toEqual([true, pairOfSecond === 2]);
    for (const ref of [first, second]) {
      expect(await runInIndex(ref, "SELECT asset_id AS assetId FROM assets")).toEqual([
        { assetId: ref.assetId },
      ]);
    }
  });

  it("is searched in both by text, by a filter, by example and by an image", async () => {
    expect(await search({ query: "lantern" })).toContain(words.asset_id);
    expect(await search({ query: "boats" })).toContain(boats.asset_id);
    expect(new Set(await search({ query: "picture", top_k: 10 }))).toEqual(
      new Set([words.asset_id, boats.asset_id]),
    );
    const filter = { created_at: { $gt: "2020-01-01" } };
    expect(await search({ query: "lantern", filter })).toContain(words.asset_id);
    expect(await search({ similar_to: words.asset_id })).toEqual([boats.asset_id]);
    const form = { image_file: await fixture("boats-crop.jpg") };
    const byImage = await client.json("POST", `/index/${name}/search_image`, { form });
    expect(assetIds(byImage)[0]).toBe(boats.asset_id);
  });

  it("is healthy, and is repaired in both", async () => {
    const healths = async () => {
      const { nodes, health } = await client.json("GET", `/index/${name}/traverse`);
      return [...nodes.map((node: Json) => node.health), health].map(({ ok }) => ok);
    };
    expect(await healths()).toEqual([true, true, true]);
    for (const asset of [words, boats]) {
      const ref = await assetRefOf(asset);
      await runInIndex(ref, "UPDATE assets SET title = 'wrong'");
    }
    expect(await healths()).toEqual([false, false, true]);
    const { job_id } = await client.json("POST", `/index/${name}/traverse`);
    const { result } = await client.waitForJob(job_id);
    expect(result).toMatchObject({ repaired: { facts_mismatch: 2 }, unrepaired: [] });
    expect(await healths()).toEqual([true, true, true]);
  });

  it("loses the content of a deleted asset, and all of it when it is deleted", async () => {
    const { indexId } = await assetRefOf(boats);
    const deletion = await client.json("DELETE", `/index/${name}/image/${boats.asset_id}`);
    await client.waitForJob(deletion.job_id);
    expect(await search({ query: "boats" })).not.toContain(boats.asset_id);
    expect(await countStored(indexId)).toMatchObject({ segments: 1 });
    const { job_id } = await client.json("DELETE", `/index/${name}`);
    await client.waitForJob(job_id);
    expect(await countStored(indexId)).toEqual({});
    for (const shard of [0, 1]) {
      expect(await runInIndex({ indexId, shard }, "SELECT 1 FROM assets")).toEqual([]);
    }
  });
});

it("a shard of a pair that takes no new shards opens none while the pair takes vectors", async () => {
  const { indexId } = await startAsset(client, "settled");
  const settings = { ...env, SHARDS_PER_PAIR: "1" };
  for (let i = 0; i < 2; i++) await openShardIfFull(settings, { indexId, shard: 0 }, 0);
  expect(await listShards(env.DB, indexId)).toHaveLength(1);
});

it("a full shard opens no more than the next one", async () => {
  const { indexId } = await startAsset(client, "once");
  for (const shard of [0, 0, 1, 0, 1])
    await openShardIfFull(env, { indexId, shard }, Number.MAX_SAFE_INTEGER);
  expect(await listShards(env.DB, indexId)).toHaveLength(3);
});

describe("the full-text search of several databases", () => {
  const CAPTIONS = Array.from({ length: 400 }, (_, i) => {
    const animal = i % 7 === 0 ? "wolf" : i % 3 === 0 ? "bear" : "lynx";
    return `${animal} ${i % 50 === 1 ? "kite" : "tree"} ${i % 2 === 0 ? "river" : "stone"} n${i}`;
  });
  const LIMIT = 30;

  /** Creates an index with the captions in `shards` databases, as unequal parts. */
  async function createIndex(shards: number) {
    const name = `captions-${crypto.randomUUID()}`;
    await client.json("POST", "/index", { json: { index_name: name } });
    const { account_id: accountId } = await client.json("POST", "/init");
    const { indexId } = await requireIndex(env.DB, accountId, name);
    for (let i = 1; i < shards; i++)
      await openShardIfFull(env, { indexId, shard: i - 1 }, Number.MAX_SAFE_INTEGER);
    for (let shard = 0; shard < shards; shard++) {
      // the rare word is in the first database only
      const captions = CAPTIONS.filter((caption, i) =>
        shards === 1 ? true : (caption.includes("kite") || i < 90 ? 0 : 1) === shard,
      );
      const identity = {
        assetId: newId("vid"),
        indexId,
        accountId,
        assetType: "video",
        shard,
        vectorPair: 1,
      } as const;
      // the same title in both, since a title's words count, and a name has random digits
      const title = "captions";
      const description = { title, source: { kind: "upload" }, metadata: {} } as const;
      const file = { name: title, settings: {} };
      await insertAsset(env.DB, newAsset(identity, file, undefined, description, Date.now()));
      await captionSegments(identity, captions);
      const ready = { state: "ready", progress: 1, error: null, revision: 1 } as const;
      await writeAssetState(env, identity, ready);
    }
    return indexDatabases(env, { indexId, shards: await listShards(env.DB, indexId) });
  }

  async function find(databases: Parameters<typeof findSegments>[0], text: string) {
    const parsed = parseQuery(text);
    const terms = new QueryTerms(parsed.words, parsed.plainText);
    const [query, { tokens }] = [toFtsQuery(parsed, terms), terms];
    const { assets, columns, useNames } = toSearchScope(makeSearchRequest({ topK: LIMIT }));
    const found = await findSegments(databases, {
      scope: assets,
      fullText: { query, tokens, columns, useNames, limit: LIMIT },
      ids: [],
      excludedIds: [],
      rules: { must: null, mustNot: null, mustOfNames: null },
    });
    const captions = new Map(
      found.segments.map((row) => [row.segment.segmentId, row.segment.caption]),
    );
    const hits = found.fullTextHits.map(({ segmentId, bm25 }) => {
      return { caption: captions.get(segmentId)!, bm25: Math.round(bm25 * 1e6) };
    });
    return { ...found, segments: found.segments.length, hits };
  }

  it.each(["kite", "wolf river", "bear kite stone", '"wolf tree"', "lynx -river", "n7 n300"])(
    "ranks as that of one: %s",
    async (text) => {
      const [one, two] = [await createIndex(1), await createIndex(2)];
      const [expected, actual] = [await find(one, text), await find(two, text)];
      expect(actual.hits.map(({ bm25 }) => bm25)).toEqual(expected.hits.map(({ bm25 }) => bm25));
      const best = expected.hits.at(-1)?.bm25 ?? 0;
      const above = (hits: typeof expected.hits) =>
        new Set(hits.filter(({ bm25 }) => bm25 > best).map(({ caption }) => caption));
      expect(above(actual.hits)).toEqual(above(expected.hits));
      expect(actual.frequencies).toEqual(expected.frequencies);
      expect(actual.segments).toBe(expected.segments);
    },
  );
});
