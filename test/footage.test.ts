import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { localImages } from "../local/local-images.ts";
import { localMedia } from "../local/local-media.ts";
import { FOOTAGE } from "../src/config.ts";
import { type AccountId, type IndexId, newId } from "../src/ids.ts";
import { look } from "../src/ingest/look.ts";
import { watch } from "../src/ingest/watch.ts";
import { columnsOf } from "../src/media/sheets.ts";
import { searchFor } from "../src/search/request.ts";
import { getAsset } from "../src/store/assets.ts";
import { insertJob } from "../src/store/jobs.ts";
import { clipKey } from "../src/store/media.ts";
import { type Client, fixture, type Json, newClient } from "./client.ts";
import { deliver, startAsset } from "./started.ts";

const frames = localMedia(env);
const bindings = { ...env, FRAMES: frames, IMAGES: localImages(env) };
const PATH = "/index/film/search_video";

let client: Client;
let video: Json;
let indexId: IndexId;

beforeAll(async () => {
  client = await newClient();
  ({ asset: video, indexId } = await startAsset(client, "film", "clip.mp4"));
  await client.settled("film", video);
}, 60_000);

/** What is known of a video's looks, without ids that are new each time. */
async function known(assetId: string) {
  const [stills, signatures] = await env.DB.batch([
    env.DB.prepare("SELECT * FROM stills WHERE asset_id = ?").bind(assetId),
    env.DB.prepare(
      `SELECT segment_id, still_ms, keys, thumbnail FROM signatures JOIN segments USING (segment_id)
       WHERE asset_id = ? ORDER BY segment_id, still_ms`,
    ).bind(assetId),
  ]);
  return { stills: stills!.results as Json[], signatures: signatures!.results as Json[] };
}

async function searchBy(fields: Record<string, string> = {}, file = "clip.mp4", parameters = "") {
  const form = { video_file: await fixture(file), ...fields };
  return client.json("POST", `${PATH}?${parameters}`, { form });
}

async function countClips(): Promise<number> {
  return (await env.MEDIA.list({ prefix: `clips/${indexId}/` })).objects.length;
}

describe("a video that is ready", () => {
  it("has stills all along, and signatures of what looks different", async () => {
    const { stills, signatures } = await known(video.asset_id);
    expect(stills).toHaveLength(1);
    const times: number[] = JSON.parse(stills[0].times);
    expect(times).toHaveLength(6 * FOOTAGE.storedPerSecond);
    expect(stills[0].thumbnails).toHaveLength(times.length * FOOTAGE.thumbnailSide ** 2);
    // Words, then a house: a segment each, in which nothing moves.
    expect(signatures.map(({ still_ms }) => still_ms)).toEqual([null, null]);
  });

  it("is looked through twice with the same result", async () => {
    const asset = (await getAsset(env.DB, video.asset_id))!;
    const before = await known(video.asset_id);
    await watch(bindings, asset, 0); // late: what was seen is forgotten
    expect(await known(video.asset_id)).toEqual(before);
    await look(bindings, asset, 0, 1);
    await watch(bindings, asset, 0);
    expect(await known(video.asset_id)).toEqual(before);
  });

  it("does without stills of what can't be decoded, and waits for a binding that is out", async () => {
    const asset = (await getAsset(env.DB, video.asset_id))!;
    const before = await known(video.asset_id);
    for (const fault of ["malformed", "9412"] as const) {
      await frames.inject(fault);
      await look(bindings, asset, 0, 1);
      await watch(bindings, asset, 0);
    }
    await frames.inject("9504");
    await expect(look(bindings, asset, 0, 1)).rejects.toMatchObject({
      code: "upstream_unavailable",
    });
    expect(await known(video.asset_id)).toEqual(before);
  });

  it("leaves nothing when it is deleted", async () => {
    const { asset } = await startAsset(client, "leaving", "clip.mp4");
    await client.settled("leaving", asset);
    const stored = (await getAsset(env.DB, asset.asset_id))!;
    const { job_id } = await client.json("DELETE", `/index/leaving/video/${asset.asset_id}`);
    await client.finished(job_id);
    await look(bindings, stored, 0, 1).catch(() => {}); // its bytes are gone
    await watch(bindings, stored, 0);
    expect(await known(asset.asset_id)).toEqual({ stills: [], signatures: [] });
  });
});

describe("the same footage", () => {
  it.each([
    [{ start_seconds: "1", end_seconds: "5" }, 1, 5],
    [{ start_seconds: "2.2", end_seconds: "3.7" }, 2.2, 3.7],
    [{}, 0, 6],
  ])("of the region %j is found with its times", async (region, start, end) => {
    const { segments } = await searchBy(region);
    expect(segments[0].asset_id).toBe(video.asset_id);
    expect(Math.abs(segments[0].start_seconds - start)).toBeLessThan(0.5);
    expect(Math.abs(segments[0].end_seconds - end)).toBeLessThan(0.5);
  });

  it("is found without times where the stills aren't known", async () => {
    const { asset } = await startAsset(client, "early", "clip.mp4");
    await client.settled("early", asset);
    const forget = "DELETE FROM stills WHERE asset_id = ?";
    await env.DB.prepare(forget).bind(asset.asset_id).run();
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
  /** Without the addresses, which are signed anew each time. */
  const bare = (result: Json): Json =>
    JSON.parse(JSON.stringify(result, (key, value) => (key.endsWith("_url") ? null : value)));

  /** One that waits in a queue which doesn't bring it. */
  async function waitingJob(key: string) {
    const row = await env.DB.prepare("SELECT account_id FROM assets WHERE asset_id = ?")
      .bind(video.asset_id)
      .first<{ account_id: AccountId }>();
    const job = { jobId: newId("job"), accountId: row!.account_id, indexId, kind: "search" };
    await insertJob(env.DB, job, Date.now());
    return { ...job, request: searchFor({ topK: 5 }), clip: { key, region: { start: 0, end: 6 } } };
  }

  it("has the result of one that isn't, and keeps nothing of the clip", async () => {
    const region = { start_seconds: "1", end_seconds: "5" };
    const { job_id, state } = await searchBy({ ...region, queue_job: "true" });
    expect(state).toBe("queued");
    const job = await client.finished(job_id);
    expect(job).toMatchObject({ kind: "search", state: "succeeded", error: null });
    expect(bare(job.result)).toEqual(bare(await searchBy({ ...region, queue_job: "false" })));
    await vi.waitUntil(async () => (await countClips()) === 0);
  });

  it("has no next page either", async () => {
    const { job_id } = await searchBy({ queue_job: "true" }, "clip.mp4", "top_k=1");
    const { result } = await client.finished(job_id);
    expect(result).toMatchObject({ segments: [{ rank: 1 }], total: 2, next_cursor: null });
    expect(bare(result)).toEqual(bare(await searchBy({}, "clip.mp4", "top_k=1")));
  });

  it("checks its request before it queues", async () => {
    for (const [fields, issue] of [
      [{ queue_job: "soon" }, [["body", "queue_job"], "bool_parsing"]],
      [{ queue_job: "true", start_seconds: "7" }, [["body", "end_seconds"], "value_error"]],
    ] as const) {
      const form = { video_file: await fixture("clip.mp4"), ...fields };
      expect(await client.issues("POST", PATH, { form })).toEqual([issue]);
    }
    await vi.waitUntil(async () => (await countClips()) === 0);
  });

  it.each(["cancelled", "failed"])("that is %s keeps nothing of the clip", async (end) => {
    const key = clipKey(indexId, newId("upl"));
    await env.MEDIA.put(key, "not a film");
    const job = await waitingJob(key);
    if (end === "cancelled") await client.json("DELETE", `/jobs/${job.jobId}`);
    expect((await deliver("sightline-jobs", job)).explicitAcks).toHaveLength(1);
    expect(await client.json("GET", `/jobs/${job.jobId}`)).toMatchObject({ state: end });
    expect(await env.MEDIA.head(key)).toBeNull();
  });

  it("that is brought again after its end stays as it was", async () => {
    const { job_id } = await searchBy({ queue_job: "true" });
    const ended = await client.finished(job_id);
    const job = { ...(await waitingJob("clips/gone")), jobId: job_id };
    await deliver("sightline-jobs", job);
    expect(bare(await client.json("GET", `/jobs/${job_id}`))).toEqual(bare(ended));
  });
});

describe("the columns of a sheet", () => {
  it.each<[columns: number, count: number, width: number, height: number]>([
    [1, 1, 171, 96],
    [1, 80, 171, 96],
    [7, 80, 171, 96],
    [10, 80, 171, 96],
    [12, 96, 96, 171],
    [13, 85, 226, 96],
    [80, 80, 128, 96],
  ])("are %d for %d pictures of %d × %d", (columns, count, width, height) => {
    const sheet = { width: columns * width, height: Math.ceil(count / columns) * height };
    expect(columnsOf(sheet, count, width / height)).toBe(columns);
    // The binding may bring the whole sheet to a size.
    const half = { width: Math.round(sheet.width / 2), height: Math.round(sheet.height / 2) };
    expect(columnsOf(half, count, width / height)).toBe(columns);
  });
});
