import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { segmentId as segmentIdOf } from "../../src/ids.ts";
import { purgeAsset } from "../../src/lifecycle/purge.ts";
import { sweep } from "../../src/lifecycle/sweep.ts";
import {
  isAssetLive,
  mirrorAsset,
  softDeleteAssets,
  updateAsset,
  writeAssetState,
} from "../../src/store/asset-changes.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import { upsertSegments } from "../../src/store/index-database/segments.ts";
import { type Client, type Json, fixture, newClient } from "../support/client.ts";
import { cutOffEverywhere } from "../support/cut-off.ts";
import { createOrphanSegment } from "../support/repair-fixture.ts";
import {
  type AssetRef,
  assetRefOf,
  countStored,
  run,
  runInIndex,
} from "../support/store-queries.ts";

let client: Client;
let words: Json;
let ref: AssetRef;

async function addWords(): Promise<[asset: Json, ref: AssetRef]> {
  const form = { image_file: await fixture("words.jpg") };
  const asset = await client.json("POST", "/index/copy/image", { form });
  await client.waitForAsset("copy", asset);
  return [asset, await assetRefOf(asset)];
}

async function search(query = "lantern"): Promise<Json[]> {
  return (await client.json("POST", "/index/copy/search", { json: { query } })).segments;
}
const titles = async () => (await search()).map(({ title }) => title);
const recordedTitle = async () =>
  (await client.json("GET", `/index/copy/image/${words.asset_id}`)).title;

async function traverse(): Promise<Json> {
  const { job_id } = await client.json("POST", "/index/copy/traverse");
  return (await client.waitForJob(job_id)).result;
}
const readHealth = async () => {
  const { nodes, health } = await client.json("GET", "/index/copy/traverse");
  return [...nodes.map((node: Json) => node.health), health].flatMap(({ findings }) => findings);
};
const sweepLater = () => sweep(env, Date.now() + 120_000);

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "copy" } });
  [words, ref] = await addWords();
});

describe("the copy of an asset's facts in its index's database", () => {
  it("has a new title at once", async () => {
    await client.json("PATCH", `/index/copy/image/${words.asset_id}`, { json: { title: "new" } });
    expect(await titles()).toEqual(["new"]);
  });

  it("isn't overwritten by facts that arrive late", async () => {
    const lateDb = {
      prepare: () => ({
        bind: () => ({ all: async () => ({ results: [late], meta: {} }) }),
      }),
    } as unknown as D1Database;
    const late = await env.DB.prepare(
      `SELECT asset_id, asset_type, title, metadata, technical, duration_ms, created_at,
         searchable_at, deleted_at, facts_revision, shard FROM assets WHERE asset_id = ?`,
    )
      .bind(ref.assetId)
      .first();
    await updateAsset(env, ref, { title: "newer" }, Date.now());
    await mirrorAsset({ ...env, DB: lateDb }, ref);
    expect(await titles()).toEqual(["newer"]);
    await mirrorAsset(env, ref);
    expect(await titles()).toEqual(["newer"]);
  });

  it("is brought up to date by the sweep", async () => {
    await run("UPDATE assets SET title = 'swept' WHERE asset_id = ?", ref.assetId);
    expect(await titles()).toEqual(["newer"]);
    await sweepLater();
    expect(await titles()).toEqual(["swept"]);
  });

  it("that is wrong is a finding, and is repaired by a traversal", async () => {
    await runInIndex(ref, "UPDATE assets SET title = 'wrong', facts_revision = 900");
    expect(await readHealth()).toMatchObject([{ code: "facts_mismatch" }]);
    expect(await traverse()).toMatchObject({ repaired: { facts_mismatch: 1 }, unrepaired: [] });
    expect(await titles()).toEqual(["swept"]);
    expect(await readHealth()).toEqual([]);
  });

  it("of an asset without a record is a finding, and is deleted by a traversal", async () => {
    await createOrphanSegment(ref, "a lantern");
    expect(await search("lantern")).toHaveLength(2);
    expect(await readHealth()).toMatchObject([{ code: "segments_orphaned" }]);
    expect(await traverse()).toMatchObject({ repaired: { segments_orphaned: 1 } });
    expect(await search("lantern")).toHaveLength(1);
    expect(await readHealth()).toEqual([]);
  });
});

describe("an operation that is cut off between two calls of the stores", () => {
  it("and changes a title leaves the old one or the new one, and the sweep makes both equal", async () => {
    await cutOffEverywhere(
      (cutEnv) => updateAsset(cutEnv, ref, { title: crypto.randomUUID() }, Date.now() - 120_000),
      async () => {
        await sweepLater();
        expect(await titles()).toEqual([await recordedTitle()]);
        expect(await readHealth()).toEqual([]);
      },
    );
  });

  it("and makes an asset ready never says so before a search finds it", async () => {
    const { indexId, assetId } = ref;
    const hide = { state: "queued", progress: 0, error: null } as const;
    const ready = { state: "ready", progress: 1, error: null } as const;
    let revision = 1000;
    const calls = await cutOffEverywhere(
      async (cutEnv) => {
        await writeAssetState(env, ref, { ...hide, revision: revision++ });
        expect(await search()).toEqual([]);
        await writeAssetState(cutEnv, { indexId, assetId }, { ...ready, revision: revision++ });
      },
      async (_, isComplete) => {
        const isReady = (await getAsset(env.DB, assetId))!.state === "ready";
        expect(isReady).toBe(isComplete);
        if (isReady) expect(await search()).toHaveLength(1);
      },
    );
    expect(calls).toBeGreaterThan(3);
    expect(await readHealth()).toEqual([]);
  });

  it("and begins a deletion isn't acknowledged until no search finds the asset", async () => {
    await cutOffEverywhere(
      (cutEnv) => softDeleteAssets(cutEnv, [ref], Date.now()),
      async (_, isComplete) => {
        if (isComplete) expect(await search()).toEqual([]);
        await sweepLater();
        expect(await search()).toHaveLength((await isAssetLive(env.DB, ref.assetId)) ? 1 : 0);
        await run("UPDATE assets SET deleted_at = NULL WHERE asset_id = ?", ref.assetId);
        await mirrorAsset(env, ref);
        expect(await search()).toHaveLength(1);
      },
    );
  });

  it("and purges an asset leaves nothing after one traversal", async () => {
    const calls = await cutOffEverywhere(
      (cutEnv) => purgeAsset(cutEnv, ref),
      async (count) => {
        const isHidden = count > 2; // marked in D1, read, and copied
        if (isHidden) expect(await search()).toEqual([]);
        const isBegun = count > 0;
        await traverse();
        expect(await search()).toHaveLength(isBegun ? 0 : 1);
        expect(await readHealth()).toEqual([]);
        if (!isBegun) return;
        expect(await countStored(ref.indexId)).toEqual({ indices: 1, shards: 1 });
        [words, ref] = await addWords();
      },
    );
    expect(calls).toBeGreaterThan(8);
  });
});

it("a segment that arrives after its asset's deletion isn't stored", async () => {
  await purgeAsset(env, ref);
  const segment = { ...ref, position: 0, startMs: null, endMs: null, keyframeMs: 0 };
  const segmentId = await segmentIdOf(ref.assetId, 0);
  const asset = { assetId: ref.assetId, assetType: "image" } as const;
  await upsertSegments(indexDatabase(env, ref), asset, [{ ...segment, segmentId }]);
  expect(await countStored(ref.indexId)).toEqual({ indices: 1, shards: 1 });
});
