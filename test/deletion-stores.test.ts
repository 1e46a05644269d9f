import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { localImages } from "../local/local-images.ts";
import { purgeAsset, purgeIndex } from "../src/lifecycle/purge.ts";
import { embed } from "../src/ingest/steps/embed.ts";
import { newId, type SegmentId } from "../src/ids.ts";
import { getAsset } from "../src/store/assets.ts";
import { insertJob } from "../src/store/jobs.ts";
import { assetPrefix, deletePrefix, sourceKey } from "../src/store/object-keys.ts";
import { vectorPair } from "../src/store/vector-pairs.ts";
import { deleteSegmentVectors, imageIds, textIds } from "../src/store/vectors.ts";
import { type Client, newClient } from "./client.ts";
import { createOrphans, createOrphanSegment } from "./repair-fixture.ts";
import { cutOffEverywhere } from "./cut-off.ts";
import { deliver, startAsset } from "./ingest-helpers.ts";
import { countStored, type AssetRef, assetRefOf, run, segmentIdsOf } from "./store-queries.ts";

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
  ["some vectors", () => env.TEXT_VECTORS_1.deleteByIds(textIds(segments[0]!))],
  ["all text vectors", () => env.TEXT_VECTORS_1.deleteByIds(segments.flatMap(textIds))],
  ["all vectors", () => deleteSegmentVectors(vectorPair(env, asset), segments)],
  ["all vectors and one object", () => deleteVectorsAndObjects(sourceKey(asset))],
  ["all vectors and objects", () => deleteVectorsAndObjects(assetPrefix(asset))],
];

async function deleteVectorsAndObjects(prefix: string): Promise<void> {
  await deleteSegmentVectors(vectorPair(env, asset), segments);
  await deletePrefix(env.MEDIA, prefix);
}

/** Inserts a deletion job and delivers its message. */
async function deliverDeletion(kind: "delete_asset" | "delete_index"): Promise<void> {
  const { shards: _, ...ref } = asset;
  const job = { kind, jobId: newId("job"), ...ref };
  await insertJob(env.DB, job, Date.now());
  expect((await deliver("sightline-jobs", job)).explicitAcks).toHaveLength(1);
  expect(await client.json("GET", `/jobs/${job.jobId}`)).toMatchObject({ state: "succeeded" });
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
    { timeout: 120_000 },
    async () => {
      const calls = await cutOffEverywhere(
        async (cutEnv) => {
          name = `deleted-${crypto.randomUUID()}`;
          await addAsset("words.jpg");
          await purgeIndex(cutEnv, asset, async () => true);
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
    const [text] = await env.TEXT_VECTORS_1.getByIds([`${segments[0]}:text`]);
    const [image] = await env.IMAGE_VECTORS_1.getByIds([`${segments[0]}:image`]);
    const namespace = asset.indexId;
    await env.TEXT_VECTORS_1.upsert([
      { id: "seg_gone:caption", values: text!.values, namespace },
      { id: "seg_orphaned:caption", values: text!.values, namespace },
    ]);
    await env.IMAGE_VECTORS_1.upsert([{ id: "seg_gone:image", values: image!.values, namespace }]);
    await createOrphans(asset.accountId, asset.indexId, asset.assetId);
    await createOrphanSegment(asset, "a lantern");
    await purgeAsset(env, asset);
    expect(Object.keys(await countStored(namespace))).toContain("sightline-image-1");
    await deliverDeletion("delete_index");
    expect(await countStored(namespace)).toEqual({});
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
  expect(await env.IMAGE_VECTORS_1.getByIds(imageIds(segments[0]!))).toEqual([]);
});
