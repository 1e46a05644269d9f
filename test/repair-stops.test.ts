import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { localImages } from "../local/local-images.ts";
import { localMedia } from "../local/local-media.ts";
import { repairAsset } from "../src/care/repair.ts";
import { newReport } from "../src/care/report.ts";
import { type Reached, traverse } from "../src/care/traverse.ts";
import { MODELS } from "../src/config.ts";
import { type AccountId, type IndexId, type JobId, newId, type SegmentId } from "../src/ids.ts";
import { getAsset } from "../src/store/assets.ts";
import { insertJob, updateJob } from "../src/store/jobs.ts";
import { keyframeKey } from "../src/store/media.ts";
import { pictureIds, textIds } from "../src/store/vectors.ts";
import { type Client, type Json, newClient } from "./client.ts";
import { answersOf, buildLot, type Lot } from "./damage.ts";
import { localAi } from "./local/bindings.ts";
import { deliver, startAsset } from "./started.ts";
import { holdings, type Owner, ownerOf, run, segmentsOf } from "./stores.ts";

let client: Client;
let lot: Lot;
let owner: Owner;
let before: Json[];

beforeAll(async () => {
  client = await newClient();
  lot = await buildLot(client, "stops");
  owner = await ownerOf(lot.clip);
  before = await answersOf(client, "stops");
}, 120_000);

const standIns = (): Env => ({ ...env, FRAMES: localMedia(env), IMAGES: localImages(env) });

/** Each asset loses its vectors. */
async function loseVectors(): Promise<void> {
  for (const asset of Object.values(lot)) {
    const ids = await segmentsOf(asset);
    await env.TEXT_VECTORS.deleteByIds(ids.flatMap(textIds));
    await env.PICTURE_VECTORS.deleteByIds(ids.flatMap(pictureIds));
  }
}

/** A repair that the queue doesn't bring. */
async function waiting(): Promise<{ jobId: JobId; accountId: AccountId; indexId: IndexId }> {
  const { accountId, indexId } = owner;
  const job = { kind: "traverse", jobId: newId("job"), accountId, indexId };
  await insertJob(env.DB, job, Date.now());
  return job;
}

const jobOf = ({ jobId }: { jobId: JobId }) => client.json("GET", `/jobs/${jobId}`);

async function repair(): Promise<Json> {
  const { job_id } = await client.json("POST", "/index/stops/traverse");
  return client.finished(job_id);
}

describe("a repair that is cut off", () => {
  beforeEach(loseVectors);

  it("at one place after the other comes to its end all the same", async () => {
    const job = await waiting();
    const reached: Reached = { ...newReport(), after: "" };
    const assets = new Set<number>();
    for (let lives = 1, isWhole = false; !isWhole; lives++) {
      let calls = 0;
      const killed = Promise.withResolvers<false>();
      const progressed = async () => {
        assets.add(reached.assets);
        if (++calls <= lives) return true;
        killed.resolve(false);
        return new Promise<boolean>(() => undefined);
      };
      isWhole = await Promise.race([
        traverse(standIns(), job, reached, progressed),
        killed.promise,
      ]);
    }
    expect([...assets]).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(reached).toMatchObject({ assets: 6, left: [] });
    expect(reached.repaired).toEqual({ vectors_missing: 6 });
    await deliver("sightline-jobs", job);
    expect((await jobOf(job)).result).toMatchObject({ assets: 6, findings: {} });
    expect(await answersOf(client, "stops")).toEqual(before);
  });

  it("goes on from where it was", async () => {
    const job = await waiting();
    const half = { ...newReport(), assets: 3, after: lot.words.asset_id };
    await updateJob(env.DB, job.jobId, { state: "running", progress: 0.5, result: half });
    await deliver("sightline-jobs", job, 2);
    const { result } = await jobOf(job);
    expect(result).toMatchObject({ assets: 6, repaired: { vectors_missing: 3 } });
    expect(result).not.toHaveProperty("after");
    expect((await repair()).result.repaired).toEqual({ vectors_missing: 3 });
    expect(await answersOf(client, "stops")).toEqual(before);
  });

  it("stops when it is cancelled, and the next does the rest", async () => {
    const job = await waiting();
    await client.json("DELETE", `/jobs/${job.jobId}`);
    expect((await deliver("sightline-jobs", job)).explicitAcks).toHaveLength(1);
    expect(await jobOf(job)).toMatchObject({ state: "cancelled", result: null });
    const reached: Reached = { ...newReport(), after: "" };
    const isWanted = async () => reached.assets < 2;
    expect(await traverse(standIns(), job, reached, isWanted)).toBe(false);
    expect(reached).toMatchObject({ assets: 2, repaired: { vectors_missing: 2 } });
    expect((await repair()).result.repaired).toEqual({ vectors_missing: 4 });
    expect(await answersOf(client, "stops")).toEqual(before);
  });

  it("for want of a model tells what it left", async () => {
    await localAi().inject(MODELS.embedText.id, "5007", 1);
    const { state, result } = await repair();
    expect(state).toBe("succeeded");
    expect(result.findings).toEqual({ vectors_missing: 6 });
    expect(result.repaired).toEqual({ vectors_missing: 5 });
    const left = { code: "vectors_missing", message: expect.stringContaining("not available") };
    expect(result.left).toMatchObject([{ asset_id: lot.clip.asset_id, ...left }]);
    expect((await repair()).result.repaired).toEqual({ vectors_missing: 1 });
    expect(await answersOf(client, "stops")).toEqual(before);
  });
});

describe("one repair at a time", () => {
  it("of an index: whoever asks meanwhile is told of it", async () => {
    const asked = await Promise.all(
      Array.from({ length: 5 }, () => client.json("POST", "/index/stops/traverse")),
    );
    const ids = new Set(asked.map(({ job_id }) => job_id));
    expect(ids.size).toBe(1);
    await client.finished(asked[0].job_id);
    const job = await waiting();
    await updateJob(env.DB, job.jobId, { state: "running", progress: 0 });
    expect(await client.json("POST", "/index/stops/traverse")).toEqual({
      job_id: job.jobId,
      state: "running",
    });
    await deliver("sightline-jobs", job);
    expect((await client.json("POST", "/index/stops/traverse")).job_id).not.toBe(job.jobId);
  });

  it("and of one's own only", async () => {
    const other = await newClient();
    expect((await other.send("POST", "/index/stops/traverse")).status).toBe(404);
    const reader = await newClient(["read"]);
    expect((await reader.send("POST", "/index/stops/traverse")).status).toBe(403);
  });
});

describe("while an index is repaired", () => {
  it("a search finds what it found, by vectors of the model before", async () => {
    for (const asset of [lot.clip, lot.told, lot.words]) {
      const ids = (await segmentsOf(asset)).flatMap(textIds);
      const found = (await Promise.all(ids.map((id) => env.TEXT_VECTORS.getByIds([id])))).flat();
      await env.TEXT_VECTORS.upsert(
        found.map(({ id, namespace, values, metadata }) => {
          return { id, namespace: namespace!, values, metadata: { ...metadata, model: "older" } };
        }),
      );
    }
    await run("UPDATE segments SET text_model = 'older' WHERE text_model IS NOT NULL");
    const { job_id } = await client.json("POST", "/index/stops/traverse");
    let searches = 0;
    for (let isOver = false; !isOver; searches++) {
      isOver = (await client.json("GET", `/jobs/${job_id}`)).state === "succeeded";
      expect(await answersOf(client, "stops")).toEqual(before);
    }
    expect(searches).toBeGreaterThan(0);
    const { result } = await client.finished(job_id);
    expect(result.repaired.vectors_stale).toBeGreaterThanOrEqual(3);
    expect(result).toMatchObject({ repaired: result.findings, left: [] });
    const models = "SELECT COUNT(*) AS n FROM segments WHERE text_model = 'older'";
    expect(await env.DB.prepare(models).first("n")).toBe(0);
  });

  it("an asset that is deleted stays so", async () => {
    const { asset: gone, indexId } = await startAsset(client, "gone");
    await client.settled("gone", gone);
    const asset = (await getAsset(env.DB, gone.asset_id))!;
    const [segment] = (await segmentsOf(gone)) as [SegmentId];
    await env.MEDIA.delete(keyframeKey(asset, asset.keyframeMs!));
    await env.TEXT_VECTORS.deleteByIds(textIds(segment));
    await env.PICTURE_VECTORS.deleteByIds(pictureIds(segment));
    let isGone = false;
    const pause = async () => {
      if (isGone) return;
      isGone = true;
      const { job_id } = await client.json("DELETE", `/index/gone/image/${gone.asset_id}`);
      await client.finished(job_id);
    };
    const work = { env: standIns(), asset, jobId: newId("job"), pause };
    await repairAsset(work, "silent", newReport(), Date.now());
    expect(isGone).toBe(true);
    expect(await holdings(indexId)).toEqual({ indices: 1 });
  });
});
