import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import { MODELS } from "../../src/config.ts";
import { newInvocationCalls } from "../../src/counts.ts";
import { type AccountId, type IndexId, type JobId, type SegmentId, newId } from "../../src/ids.ts";
import { newReport, repairAsset } from "../../src/lifecycle/repair.ts";
import { SlicePaused } from "../../src/lifecycle/slice.ts";
import { type TraversalCheckpoint, traverse } from "../../src/lifecycle/traverse.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { insertJob, updateJob } from "../../src/store/d1/jobs.ts";
import { keyframeKey } from "../../src/store/r2/object-keys.ts";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { deleteVectorsOf, possibleIds, textIds } from "../../src/store/vectorize/vectors.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { deliver, startAsset } from "../support/ingest-helpers.ts";
import { type RepairFixture, createRepairFixture, runSearches } from "../support/repair-fixture.ts";
import {
  type AssetRef,
  assetRefOf,
  countStored,
  runInIndex,
  segmentIdsOf,
} from "../support/store-queries.ts";

let client: Client;
let assets: RepairFixture;
let clipRef: AssetRef;
let before: Json[];

beforeAll(async () => {
  client = await newClient();
  assets = await createRepairFixture(client, "stops");
  clipRef = await assetRefOf(assets.clip);
  before = await runSearches(client, "stops");
});

const standIns = (): Env => ({ ...env, FRAMES: localMedia(env), IMAGES: localImages(env) });

/** Deletes the vectors of all assets. */
async function deleteAllVectors(): Promise<void> {
  for (const asset of Object.values(assets)) {
    const ids = await segmentIdsOf(asset);
    await deleteVectorsOf(vectorPair(env, await assetRefOf(asset)), ids.flatMap(possibleIds));
  }
}

/** Inserts the job of a repair without sending its message. */
async function insertTraverseJob(): Promise<{
  jobId: JobId;
  accountId: AccountId;
  indexId: IndexId;
}> {
  const { accountId, indexId } = clipRef;
  const job = { kind: "traverse", jobId: newId("job"), accountId, indexId } as const;
  await insertJob(env.DB, job, Date.now());
  return job;
}

const getJob = ({ jobId }: { jobId: JobId }) => client.json("GET", `/jobs/${jobId}`);

async function repair(): Promise<Json> {
  const { job_id } = await client.json("POST", "/index/stops/traverse");
  return client.waitForJob(job_id);
}

describe("a repair that stops early", () => {
  beforeEach(deleteAllVectors);

  it("because of a rate limit is deferred, and repairs the rest once that has passed", async () => {
    const job = await insertTraverseJob();
    await localAi().inject(MODELS.embedText.id, "3021", 3);
    for (let i = 1; i <= 3; i++) {
      expect((await deliver("sightline-local-jobs", job, i)).explicitAcks).toHaveLength(1);
      const error = { code: "upstream_unavailable" };
      expect(await getJob(job)).toMatchObject({ state: "running", error });
    }
    await deliver("sightline-local-jobs", job);
    const { result, error } = await getJob(job);
    expect(error).toBeNull();
    expect(result).toMatchObject({ assets: 6, repaired: { vectors_missing: 6 }, unrepaired: [] });
    expect(await runSearches(client, "stops")).toEqual(before);
  });

  it("completes after being killed at each checkpoint in turn", async () => {
    const job = await insertTraverseJob();
    const progress: TraversalCheckpoint = { ...newReport(), after: "" };
    const assetCounts = new Set<number>();
    for (let checkpointCount = 1, isComplete = false; !isComplete; checkpointCount++) {
      let calls = 0;
      const killed = Promise.withResolvers<false>();
      const onProgress = async () => {
        assetCounts.add(progress.assets);
        if (++calls <= checkpointCount) return true;
        killed.resolve(false);
        return new Promise<boolean>(() => undefined);
      };
      const traversing = traverse(standIns(), job, progress, newInvocationCalls(), onProgress);
      isComplete = await Promise.race([traversing.then(() => true), killed.promise]);
    }
    expect([...assetCounts]).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(progress).toMatchObject({ assets: 6, unrepaired: [] });
    expect(progress.repaired).toEqual({ vectors_missing: 6 });
    await deliver("sightline-local-jobs", job);
    expect((await getJob(job)).result).toMatchObject({ assets: 6, findings: {} });
    expect(await runSearches(client, "stops")).toEqual(before);
  });

  it("continues at its checkpoint", async () => {
    const job = await insertTraverseJob();
    const checkpoint = { ...newReport(), assets: 3, after: assets.textImage.asset_id };
    await updateJob(env.DB, job.jobId, { state: "running", progress: 0.5, result: checkpoint });
    await deliver("sightline-local-jobs", job, 2);
    const { result } = await getJob(job);
    expect(result).toMatchObject({ assets: 6, repaired: { vectors_missing: 3 } });
    expect(result).not.toHaveProperty("after");
    expect((await repair()).result.repaired).toEqual({ vectors_missing: 3 });
    expect(await runSearches(client, "stops")).toEqual(before);
  });

  it("stops when it is cancelled, and the next repair does the rest", async () => {
    const job = await insertTraverseJob();
    await client.json("DELETE", `/jobs/${job.jobId}`);
    expect((await deliver("sightline-local-jobs", job)).explicitAcks).toHaveLength(1);
    expect(await getJob(job)).toMatchObject({ state: "cancelled", result: null });
    const progress: TraversalCheckpoint = { ...newReport(), after: "" };
    const isRunning = async () => progress.assets < 2;
    const traversing = traverse(standIns(), job, progress, newInvocationCalls(), isRunning);
    await expect(traversing).rejects.toBeInstanceOf(SlicePaused);
    expect(progress).toMatchObject({ assets: 2, repaired: { vectors_missing: 2 } });
    expect((await repair()).result.repaired).toEqual({ vectors_missing: 4 });
    expect(await runSearches(client, "stops")).toEqual(before);
  });

  it("because a model is missing reports the finding in `unrepaired`", async () => {
    await localAi().inject(MODELS.embedText.id, "5007", 1);
    const { state, result } = await repair();
    expect(state).toBe("succeeded");
    expect(result.findings).toEqual({ vectors_missing: 6 });
    expect(result.repaired).toEqual({ vectors_missing: 5 });
    const finding = { code: "vectors_missing", message: expect.stringContaining("not available") };
    expect(result.unrepaired).toMatchObject([{ asset_id: assets.clip.asset_id, ...finding }]);
    expect((await repair()).result.repaired).toEqual({ vectors_missing: 1 });
    expect(await runSearches(client, "stops")).toEqual(before);
  });
});

describe("a request for a repair", () => {
  it("returns the unfinished repair of the index if there is one", async () => {
    const jobs = await Promise.all(
      Array.from({ length: 5 }, () => client.json("POST", "/index/stops/traverse")),
    );
    const ids = new Set(jobs.map(({ job_id }) => job_id));
    expect(ids.size).toBe(1);
    await client.waitForJob(jobs[0].job_id);
    const job = await insertTraverseJob();
    await updateJob(env.DB, job.jobId, { state: "running", progress: 0 });
    expect(await client.json("POST", "/index/stops/traverse")).toEqual({
      job_id: job.jobId,
      state: "running",
    });
    await deliver("sightline-local-jobs", job);
    expect((await client.json("POST", "/index/stops/traverse")).job_id).not.toBe(job.jobId);
  });

  it("for another account's index returns 404, and with a read-only key 403", async () => {
    const other = await newClient();
    expect((await other.send("POST", "/index/stops/traverse")).status).toBe(404);
    const reader = await newClient(["read"]);
    expect((await reader.send("POST", "/index/stops/traverse")).status).toBe(403);
  });
});

describe("while an index is being repaired", () => {
  it("searches return the same results, by the vectors of the earlier model", async () => {
    for (const asset of [assets.clip, assets.speech, assets.textImage]) {
      const ids = (await segmentIdsOf(asset)).flatMap(textIds);
      const { text } = vectorPair(env, await assetRefOf(asset));
      const vectors = (await Promise.all(ids.map((id) => text.getByIds([id])))).flat();
      await text.upsert(
        vectors.map(({ id, namespace, values, metadata }) => {
          return { id, namespace: namespace!, values, metadata: { ...metadata, model: "older" } };
        }),
      );
    }
    const index = await assetRefOf(assets.clip);
    await runInIndex(index, "UPDATE segments SET text_model = 'older' WHERE text_model NOT NULL");
    const { job_id } = await client.json("POST", "/index/stops/traverse");
    let searches = 0;
    for (let hasEnded = false; !hasEnded; searches++) {
      hasEnded = (await client.json("GET", `/jobs/${job_id}`)).state === "succeeded";
      expect(await runSearches(client, "stops")).toEqual(before);
    }
    expect(searches).toBeGreaterThan(0);
    const { result } = await client.waitForJob(job_id);
    expect(result.repaired.vectors_stale).toBeGreaterThanOrEqual(3);
    expect(result).toMatchObject({ repaired: result.findings, unrepaired: [] });
    const older = "SELECT segment_id FROM segments WHERE text_model = 'older'";
    expect(await runInIndex(index, older)).toEqual([]);
  });

  it("an asset that is deleted meanwhile stays deleted", async () => {
    const { asset: record, indexId } = await startAsset(client, "gone");
    await client.waitForAsset("gone", record);
    const asset = (await getAsset(env.DB, record.asset_id))!;
    const [segment] = (await segmentIdsOf(record)) as [SegmentId];
    await env.MEDIA.delete(keyframeKey(asset, asset.keyframeMs!));
    await deleteVectorsOf(vectorPair(env, asset), possibleIds(segment));
    let isDeleted = false;
    const checkpoint = async () => {
      if (isDeleted) return;
      isDeleted = true;
      const { job_id } = await client.json("DELETE", `/index/gone/image/${record.asset_id}`);
      await client.waitForJob(job_id);
    };
    const context = { env: standIns(), asset, jobId: newId("job"), checkpoint };
    await repairAsset(context, "unavailable", newReport(), Date.now());
    expect(isDeleted).toBe(true);
    expect(await countStored(indexId)).toEqual({ indices: 1, shards: 1 });
  });
});
