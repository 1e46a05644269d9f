import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import { type AccountId, type AssetId, type IndexId, newId } from "../../src/ids.ts";
import { detectAssetShots, indexFrames } from "../../src/ingest/steps/detect-shots.ts";
import { inferColumns } from "../../src/media/shots/contact-sheet.ts";
import type { JobMessage } from "../../src/messages.ts";
import { COPY_DETECTION } from "../../src/parameters.ts";
import { makeSearchRequest } from "../../src/search/request.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { insertJob } from "../../src/store/d1/jobs.ts";
import { queryClipKey, referenceFramesKey } from "../../src/store/r2/object-keys.ts";
import { listReferenceFrames } from "../../src/store/r2/reference-frames.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { deliver, startAsset } from "../support/ingest-helpers.ts";
import { assetRefOf, countStored, OF_ASSET, runInIndex } from "../support/store-queries.ts";
import { waitUntil } from "../support/wait.ts";

const frames = localMedia(env);
const bindings = { ...env, FRAMES: frames, IMAGES: localImages(env) };
const PATH = "/index/copies/search_video";

let client: Client;
let video: Json;
let indexId: IndexId;

beforeAll(async () => {
  client = await newClient();
  ({ asset: video, indexId } = await startAsset(client, "copies", "clip.mp4"));
  await client.waitForAsset("copies", video);
});

/** Reads the stored frames and signatures of a video, without ids that change. */
async function readCopyData(assetId: AssetId) {
  const asset = (await getAsset(env.DB, assetId))!;
  const range = { assetId, startMs: 0, endMs: asset.durationMs };
  return {
    referenceFrames: await listReferenceFrames(env.MEDIA, asset, [range]),
    signatures: await runInIndex<Json>(
      asset,
      `SELECT segment_id, frame_ms, hashes, luma_thumbnail FROM signatures
       JOIN segments USING (segment_key) WHERE ${OF_ASSET} ORDER BY segment_id, frame_ms`,
      assetId,
    ),
  };
}

async function searchBy(fields: Record<string, string> = {}, file = "clip.mp4", parameters = "") {
  const form = { video_file: await fixture(file), ...fields };
  return client.json("POST", `${PATH}?${parameters}`, { form });
}

async function countClips(): Promise<number> {
  return (await env.MEDIA.list({ prefix: `clips/${indexId}/` })).objects.length;
}

describe("copy detection data of a ready video", () => {
  it("has reference frames at regular times, and signatures of distinct frames", async () => {
    const { referenceFrames, signatures } = await readCopyData(video.asset_id);
    expect(referenceFrames).toHaveLength(1);
    const { times, lumaThumbnails } = referenceFrames[0]!;
    expect(times).toHaveLength(6 * COPY_DETECTION.referenceFramesPerSecond);
    const thumbnailBytes = times.length * COPY_DETECTION.thumbnailSide ** 2;
    expect(lumaThumbnails).toHaveLength(thumbnailBytes);
    // Two static segments: on-screen text, then a house.
    expect(signatures.map(({ frame_ms }) => frame_ms)).toEqual([null, null]);
  });

  it("is the same after repeated steps", async () => {
    const asset = (await getAsset(env.DB, video.asset_id))!;
    const before = await readCopyData(video.asset_id);
    await indexFrames(bindings, asset, 0); // late: the window analysis was deleted
    expect(await readCopyData(video.asset_id)).toEqual(before);
    await detectAssetShots(bindings, asset, 0, 1);
    await indexFrames(bindings, asset, 0);
    expect(await readCopyData(video.asset_id)).toEqual(before);
  });

  it("stays unchanged if frames can't be decoded, or a binding is unavailable", async () => {
    const asset = (await getAsset(env.DB, video.asset_id))!;
    const before = await readCopyData(video.asset_id);
    for (const fault of ["malformed", "9412"] as const) {
      await frames.inject(fault);
      await detectAssetShots(bindings, asset, 0, 1);
      await indexFrames(bindings, asset, 0);
    }
    await frames.inject("9504");
    await expect(detectAssetShots(bindings, asset, 0, 1)).rejects.toMatchObject({
      code: "upstream_timeout",
    });
    expect(await readCopyData(video.asset_id)).toEqual(before);
  });

  it("is deleted with the video, even if steps run late", async () => {
    const { asset } = await startAsset(client, "deleted", "clip.mp4");
    await client.waitForAsset("deleted", asset);
    const stored = (await getAsset(env.DB, asset.asset_id))!;
    const { job_id } = await client.json("DELETE", `/index/deleted/video/${asset.asset_id}`);
    await client.waitForJob(job_id);
    await detectAssetShots(bindings, stored, 0, 1).catch(() => {}); // its bytes are gone
    await indexFrames(bindings, stored, 0);
    const range = { assetId: stored.assetId, startMs: 0, endMs: stored.durationMs };
    expect(await listReferenceFrames(env.MEDIA, stored, [range])).toEqual([]);
    expect(await countStored(stored.indexId)).not.toHaveProperty("signatures");
  });
});

describe("a search with a clip of a stored video", () => {
  it.each([
    [{ start_seconds: "1", end_seconds: "5" }, 1, 5],
    [{ start_seconds: "2.2", end_seconds: "3.7" }, 2.2, 3.7],
    [{}, 0, 6],
  ])("finds the time range %j", async (region, start, end) => {
    const { segments } = await searchBy(region);
    expect(segments[0].asset_id).toBe(video.asset_id);
    expect(Math.abs(segments[0].start_seconds - start)).toBeLessThan(0.5);
    expect(Math.abs(segments[0].end_seconds - end)).toBeLessThan(0.5);
  });

  it("finds the segment without times if there are no reference frames", async () => {
    const { asset } = await startAsset(client, "early", "clip.mp4");
    await client.waitForAsset("early", asset);
    await env.MEDIA.delete(referenceFramesKey(await assetRefOf(asset), 0));
    const form = { video_file: await fixture("clip.mp4") };
    const { segments } = await client.json("POST", "/index/early/search_video", { form });
    const { start_seconds, end_seconds } = segments[0];
    expect([
      [0, 3],
      [3, 6],
    ]).toContainEqual([start_seconds, end_seconds]);
    expect(segments[0].evidence[0].score).toBeGreaterThan(0.93);
  });
});

describe("a queued search by video", () => {
  /** Removes URLs, whose signatures change. */
  const withoutUrls = (result: Json): Json =>
    JSON.parse(JSON.stringify(result, (key, value) => (key.endsWith("_url") ? null : value)));

  /** Inserts a job whose message was never sent. */
  async function insertUnsentJob(key: string) {
    const row = await env.DB.prepare("SELECT account_id FROM assets WHERE asset_id = ?")
      .bind(video.asset_id)
      .first<{ account_id: AccountId }>();
    const job: JobMessage = {
      kind: "search",
      jobId: newId("job"),
      accountId: row!.account_id,
      indexId,
      indexName: "copies",
      request: makeSearchRequest({ topK: 5 }),
      clip: { key, range: { start: 0, end: 6 } },
    };
    await insertJob(env.DB, job, Date.now());
    return job;
  }

  it("has the result of a direct search, and deletes the clip", async () => {
    const region = { start_seconds: "1", end_seconds: "5" };
    const { job_id, state } = await searchBy({ ...region, queue_job: "true" });
    expect(state).toBe("queued");
    const job = await client.waitForJob(job_id);
    expect(job).toMatchObject({ kind: "search", state: "succeeded", error: null });
    expect(withoutUrls(job.result)).toEqual(
      withoutUrls(await searchBy({ ...region, queue_job: "false" })),
    );
    await waitUntil(async () => (await countClips()) === 0);
  });

  it("has no next page", async () => {
    const { job_id } = await searchBy({ queue_job: "true" }, "clip.mp4", "top_k=1");
    const { result } = await client.waitForJob(job_id);
    expect(result).toMatchObject({ segments: [{ rank: 1 }], total: 2, next_cursor: null });
    expect(withoutUrls(result)).toEqual(withoutUrls(await searchBy({}, "clip.mp4", "top_k=1")));
  });

  it("is validated before it is queued", async () => {
    for (const [fields, issue] of [
      [{ queue_job: "soon" }, [["body", "queue_job"], "bool_parsing"]],
      [{ queue_job: "true", start_seconds: "7" }, [["body", "start_seconds"], "value_error"]],
    ] as const) {
      const form = { video_file: await fixture("clip.mp4"), ...fields };
      expect(await client.issues("POST", PATH, { form })).toEqual([issue]);
    }
    await waitUntil(async () => (await countClips()) === 0);
  });

  it.each(["cancelled", "failed"])("that is %s deletes the clip", async (end) => {
    const key = queryClipKey(indexId, newId("upl"));
    await env.MEDIA.put(key, "not a video");
    const job = await insertUnsentJob(key);
    if (end === "cancelled") await client.json("DELETE", `/jobs/${job.jobId}`);
    expect((await deliver("sightline-local-jobs", job)).explicitAcks).toHaveLength(1);
    expect(await client.json("GET", `/jobs/${job.jobId}`)).toMatchObject({ state: end });
    expect(await env.MEDIA.head(key)).toBeNull();
  });

  it("that is delivered again after its end doesn't change", async () => {
    const { job_id } = await searchBy({ queue_job: "true" });
    const ended = await client.waitForJob(job_id);
    const job = { ...(await insertUnsentJob("clips/gone")), jobId: job_id };
    await deliver("sightline-local-jobs", job);
    expect(withoutUrls(await client.json("GET", `/jobs/${job_id}`))).toEqual(withoutUrls(ended));
  });
});

describe("the columns of a contact sheet", () => {
  it.each<[columns: number, count: number, width: number, height: number]>([
    [1, 1, 171, 96],
    [1, 80, 171, 96],
    [7, 80, 171, 96],
    [10, 80, 171, 96],
    [12, 96, 96, 171],
    [13, 85, 226, 96],
    [80, 80, 128, 96],
  ])("are %d for %d tiles of %d × %d", (columns, count, width, height) => {
    const sheet = { width: columns * width, height: Math.ceil(count / columns) * height };
    expect(inferColumns(sheet, count, width / height)).toBe(columns);
    // The binding may scale the whole sheet.
    const half = { width: Math.round(sheet.width / 2), height: Math.round(sheet.height / 2) };
    expect(inferColumns(half, count, width / height)).toBe(columns);
  });
});
