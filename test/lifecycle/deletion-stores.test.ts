import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { LIFECYCLE } from "../../src/config.ts";
import { newId, type SegmentId } from "../../src/ids.ts";
import { embed } from "../../src/ingest/steps/embed.ts";
import { purgeAsset, purgeIndex } from "../../src/lifecycle/purge.ts";
import { SlicePaused } from "../../src/lifecycle/slice.ts";
import { runJob } from "../../src/queues/jobs.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { insertJob, updateJob } from "../../src/store/d1/jobs.ts";
import { assetPrefix, deletePrefix, sourceKey } from "../../src/store/r2/object-keys.ts";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { deleteSegmentVectors, imageIds, textIds } from "../../src/store/vectorize/vectors.ts";
import { type Client, newClient } from "../support/client.ts";
import { cutOffEverywhere } from "../support/cut-off.ts";
import { deliver, startAsset } from "../support/ingest-helpers.ts";
import { createOrphans, createOrphanSegment } from "../support/repair-fixture.ts";
import {
  countStored,
  type AssetRef,
  assetRefOf,
  run,
  runInIndex,
  segmentIdsOf,
} from "../support/store-queries.ts";
import { WATCHDOG_MS } from "../support/watchdog.ts";

let client: Client;
let name: string;
let asset: AssetRef;
let segments: SegmentId[];

beforeEach(async () => {
  client = await newClient();
  name = `deleted-${crypto.randomUUID()}`;
});

async function addAsset(file: string): Promise<void> {
  const started = await startAsset(client, name, file);
  await client.waitForAsset(name, started.asset);
  asset = await assetRefOf(started.asset);
  segments = await segmentIdsOf(started.asset);
}

/** Contents that a deletion had deleted when it was interrupted. */
const INTERRUPTIONS: [string, () => Promise<unknown>][] = [
  ["nothing", async () => undefined],
  ["some vectors", () => vectorPair(env, asset).text.deleteByIds(textIds(segments[0]!))],
  ["all text vectors", () => vectorPair(env, asset).text.deleteByIds(segments.flatMap(textIds))],
  ["all vectors", () => deleteSegmentVectors(vectorPair(env, asset), segments)],
  ["all vectors and one object", () => deleteVectorsAndObjects(sourceKey(asset))],
  ["all vectors and objects", () => deleteVectorsAndObjects(assetPrefix(asset))],
];

async function deleteVectorsAndObjects(prefix: string): Promise<void> {
  await deleteSegmentVectors(vectorPair(env, asset), segments);
  await deletePrefix(env.MEDIA, prefix);
}

/** Inserts a deletion job, delivers its message, and waits for its other slices. */
async function deliverDeletion(kind: "delete_asset" | "delete_index"): Promise<void> {
  const { shards: _, ...ref } = asset;
  const job = { kind, jobId: newId("job"), ...ref };
  await insertJob(env.DB, job, Date.now());
  expect((await deliver("sightline-local-jobs", job)).explicitAcks).toHaveLength(1);
  expect(await client.waitForJob(job.jobId)).toMatchObject({ state: "succeeded" });
}

describe("a repeated deletion of a video", () => {
  it.each(INTERRUPTIONS)(
    "leaves nothing behind after an interrupted one deleted %s",
    async (_, interrupt) => {
      await addAsset("speech.mp4");
      expect(await countStored(asset.indexId)).toMatchObject({ segments: 2 });
      await interrupt();
      await deliverDeletion("delete_asset");
      expect(await countStored(asset.indexId)).toEqual({ indices: 1, shards: 1 });
      await deliverDeletion("delete_asset");
      expect(await countStored(asset.indexId)).toEqual({ indices: 1, shards: 1 });
    },
  );

  it("is done by the next repair if the deletion's message was lost", async () => {
    await addAsset("words.jpg");
    await run("UPDATE assets SET deleted_at = 1 WHERE asset_id = ?", asset.assetId);
    const { job_id } = await client.json("POST", `/index/${name}/traverse`);
    await client.waitForJob(job_id);
    expect(await countStored(asset.indexId)).toEqual({ indices: 1, shards: 1 });
  });
});

describe("a repeated deletion of an index", () => {
  it.each(INTERRUPTIONS)(
    "leaves nothing behind after an interrupted one deleted %s",
    async (_, interrupt) => {
      await addAsset("words.jpg");
      await interrupt();
      await deliverDeletion("delete_index");
      expect(await countStored(asset.indexId)).toEqual({});
    },
  );

  it(
    "leaves nothing behind, wherever the first one was cut off",
    { timeout: WATCHDOG_MS },
    async () => {
      const calls = await cutOffEverywhere(
        async (cutEnv) => {
          name = `deleted-${crypto.randomUUID()}`;
          await addAsset("words.jpg");
          await purgeIndex(
            cutEnv,
            asset,
            () => {},
            async () => {},
          );
        },
        async () => {
          await deliverDeletion("delete_index");
          expect(await countStored(asset.indexId)).toEqual({});
        },
      );
      expect(calls).toBeGreaterThan(15);
    },
  );

  it("leaves no orphans in any store after its only image was deleted", async () => {
    await addAsset("words.jpg");
    const { text } = vectorPair(env, asset);
    const [vector] = await text.getByIds([`${segments[0]}:text`]);
    const namespace = asset.indexId;
    await text.upsert([{ id: "seg_orphaned:caption", values: vector!.values, namespace }]);
    await createOrphans(asset.accountId, asset.indexId);
    await createOrphanSegment(asset, "a lantern");
    await purgeAsset(env, asset);
    expect(Object.keys(await countStored(namespace))).toContain("sightline-text-1");
    await deliverDeletion("delete_index");
    expect(await countStored(namespace)).toEqual({});
  });
});

describe("a deletion of an index in slices", () => {
  const ASSETS = 120;
  const SEGMENTS = 3;

  /** Copies the only asset of the index, with its segments and objects. */
  async function copyAsset(): Promise<void> {
    const columns = `asset_type, account_id, index_id, shard, title, state, source, content_type,
      size_bytes, job_id, created_at, updated_at`;
    const ids = Array.from({ length: ASSETS - 1 }, () => newId("img"));
    await run(
      `INSERT INTO assets (asset_id, ${columns})
       SELECT value, ${columns} FROM assets, json_each(?) WHERE asset_id = ?`,
      JSON.stringify(ids),
      asset.assetId,
    );
    await runInIndex(
      asset,
      `INSERT INTO assets (asset_id, asset_type)
       SELECT value, asset_type FROM assets, json_each(?)`,
      JSON.stringify(ids),
    );
    await runInIndex(
      asset,
      `INSERT INTO segments (segment_id, asset_key, position, keyframe_ms)
       SELECT 'seg_' || asset_key || '_' || value, asset_key, value, 0
       FROM assets, json_each('[1, 2, 3]')`,
    );
    for (const assetId of ids) {
      await env.MEDIA.put(sourceKey({ ...asset, assetId }), "bytes");
    }
  }

  it("does a part in each, counts all assets, and may be repeated anywhere", async () => {
    await addAsset("words.jpg");
    await copyAsset();
    const before = await countStored(asset.indexId);
    expect(before).toMatchObject({ assets: ASSETS, segments: SEGMENTS * ASSETS + 1 });
    const { shards: _, assetId: __, ...ref } = asset;
    const job = { kind: "delete_index", jobId: newId("job"), ...ref } as const;
    await insertJob(env.DB, job, Date.now());
    const calls = { queries: LIFECYCLE.slice.maxQueries, subrequests: 0 }; // spent at the start
    const counts: number[] = [];
    const onProgress = async (_progress: number, result?: unknown) => {
      counts.push((result as { assets: number }).assets);
      return updateJob(env.DB, job.jobId, { state: "running", progress: 0, result });
    };
    const left: number[] = [];
    for (;;) {
      try {
        expect(await runJob(env, job, { calls, onProgress })).toEqual({ assets: ASSETS });
        break;
      } catch (error) {
        if (!(error instanceof SlicePaused)) throw error;
        left.push((await countStored(asset.indexId))["assets"] ?? 0);
      }
    }
    expect(new Set(left).size).toBeGreaterThan(2);
    expect(left).toEqual(left.toSorted((a, b) => b - a));
    expect(counts.at(-1)).toBe(ASSETS);
    expect(await countStored(asset.indexId)).toEqual({});
  });

  it("sends the next one by the queue until nothing is left", async () => {
    await addAsset("words.jpg");
    await copyAsset();
    await deliverDeletion("delete_index");
    expect(await countStored(asset.indexId)).toEqual({});
  });
});

it("vectors that an ingest writes while its asset is deleted are deleted", async () => {
  await addAsset("words.jpg");
  const stored = await getAsset(env.DB, asset.assetId);
  const deletingAi = Object.create(env.AI, {
    run: {
      value: async (...call: Parameters<Ai["run"]>) => {
        await purgeAsset(env, asset);
        return env.AI.run(...call);
      },
    },
  }) as Ai;
  await embed({ ...env, IMAGES: localImages(env), AI: deletingAi }, stored!, 0);
  expect(await countStored(asset.indexId)).toEqual({ indices: 1, shards: 1 });
  expect(await vectorPair(env, asset).image.getByIds(imageIds(segments[0]!))).toEqual([]);
});
