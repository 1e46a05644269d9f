import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { localImages } from "../../local/local-images.ts";
import { localMedia } from "../../local/local-media.ts";
import { LIMITS } from "../../src/config.ts";
import { newId } from "../../src/ids.ts";
import { convert, planPlaybackCopy } from "../../src/ingest/conversion.ts";
import type { JobKind, JobMessage, JobMessageOf } from "../../src/messages.ts";
import { SHOTS } from "../../src/parameters.ts";
import { makeSearchRequest } from "../../src/search/request.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { insertJob } from "../../src/store/d1/jobs.ts";
import { openShardIfFull } from "../../src/store/d1/shards.ts";
import { putCues } from "../../src/store/transcripts.ts";
import { exportLines, hostFiles, toBody } from "./archive-helpers.ts";
import { type Client, fixture, newClient } from "./client.ts";
import { fetchDeployed } from "./deployed.ts";
import { createIndex, profileOf, sceneImage } from "./import-helpers.ts";
import { startAsset } from "./ingest-helpers.ts";
import { stubPlatform } from "./platform-stubs.ts";
import { type AssetRef, assetRefOf, run, runInIndex } from "./store-queries.ts";

/** Most segments that a video may have: one keyframe is one operation. */
export const MAX_SEGMENTS = (SHOTS.frameOperationsPerHour * LIMITS.videoSeconds) / 3600;

export const standIns = (): Env => ({ ...env, FRAMES: localMedia(env), IMAGES: localImages(env) });

/** Adds an asset to a new index, and waits until it is ready. */
export async function addAsset(client: Client, file: string): Promise<AssetRef & { name: string }> {
  const name = `limits-${crypto.randomUUID()}`;
  const { asset } = await startAsset(client, name, file);
  expect(await client.waitForAsset(name, asset)).toMatchObject({ state: "ready" });
  return { ...(await assetRefOf(asset)), name };
}

export const numbersTo = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, i) => i));

/** Adds segments to an asset, without vectors. Without text, they need none. */
export async function addSegments(ref: AssetRef, count: number, text = "a boat"): Promise<void> {
  await runInIndex(
    ref,
    `INSERT INTO segments (segment_id, asset_key, position, start_ms, end_ms, keyframe_ms, caption,
       transcript, described_at, error)
     SELECT 'seg_' || asset_key || 'x' || (value + first), asset_key, value + first, value * 10,
       value * 10 + 10, 0, ?, ?, 1, '{"code":"unreadable_image","message":"It is damaged."}'
     FROM json_each(?), (
       SELECT asset_key, COUNT(*) AS first FROM assets JOIN segments USING (asset_key)
       WHERE asset_id = ?
     )`,
    text,
    text,
    numbersTo(count),
    ref.assetId,
  );
  await run("UPDATE assets SET segments = segments + ? WHERE asset_id = ?", count, ref.assetId);
}

/**
 * Adds copies of an asset's row to its index, each with a segment. Their ids sort before its own:
 * jobs come to the one asset with objects last, however many there are.
 */
export async function addAssets(ref: AssetRef, count: number): Promise<void> {
  const columns = `asset_type, account_id, index_id, shard, title, state, source, content_type,
    size_bytes, job_id, created_at, updated_at`;
  const id = "substr(asset_id, 1, 5) || '0' || substr(asset_id, 7, 19) || (10000 + value)";
  await run(
    `INSERT INTO assets (asset_id, ${columns}, facts_revision, content_revision)
     SELECT ${id}, ${columns.replace("updated_at", "1")}, 2, 2 FROM assets, json_each(?)
     WHERE asset_id = ?`,
    numbersTo(count),
    ref.assetId,
  );
  await runInIndex(
    ref,
    `INSERT INTO assets (asset_id, asset_type)
     SELECT ${id}, asset_type FROM assets, json_each(?)`,
    numbersTo(count),
  );
  await runInIndex(
    ref,
    `INSERT INTO segments (segment_id, asset_key, position, keyframe_ms)
     SELECT 'seg_' || asset_key || 'y', asset_key, 9, 0 FROM assets`,
  );
}

export async function insert<Kind extends JobKind>(
  job: JobMessageOf<Kind>,
): Promise<JobMessageOf<Kind>> {
  await insertJob(env.DB, job, Date.now());
  return job;
}

/** A job of a kind whose calls grow with `n`. */
export interface JobCase {
  /** What `n` counts, and the most that a job may have of it. */
  of: string;
  largest: number;
  sizes: [number, number];
  /** Whether messages do slices of it, which end by the number of calls. */
  isSliced: boolean;
  prepare: (client: Client, n: number) => Promise<JobMessage>;
}

export const withoutShards = (asset: AssetRef & { name: string }) => {
  const { shards: _, name: __, ...ref } = asset;
  return ref;
};

/** Captures the message of a job that a request starts. */
async function captureJob(
  client: Client,
  path: string,
  init: { body: string; headers: Record<string, string> },
) {
  let sent: JobMessage | undefined;
  const JOBS = {
    send: async (job: JobMessage) => {
      sent = job;
    },
  } as unknown as Env["JOBS"];
  const response = await fetchDeployed({ JOBS }, client.key, path, { method: "POST", ...init });
  expect(response.status).toBeLessThan(300);
  return sent!;
}

/** One of each kind: a new kind without one doesn't compile. */
export const JOB_CASES: { [Kind in JobKind]: JobCase } = {
  delete_asset: {
    of: "segments",
    largest: MAX_SEGMENTS,
    sizes: [300, 600],
    isSliced: true,
    async prepare(client, n) {
      const ref = await addAsset(client, "words.jpg");
      await addSegments(ref, n);
      return insert<"delete_asset">({
        kind: "delete_asset",
        jobId: newId("job"),
        ...withoutShards(ref),
      });
    },
  },
  delete_index: {
    of: "assets",
    largest: 1_000_000,
    sizes: [60, 120],
    isSliced: true,
    async prepare(client, n) {
      const ref = await addAsset(client, "words.jpg");
      await addAssets(ref, n);
      const { accountId, indexId } = ref;
      const jobId = newId("job");
      return insert<"delete_index">({ kind: "delete_index", jobId, accountId, indexId });
    },
  },
  search: {
    of: "shards",
    largest: 500,
    sizes: [1, 3],
    isSliced: false,
    async prepare(client, n) {
      const { accountId, indexId, name } = await addAsset(client, "words.jpg");
      for (let shard = 0; shard < n - 1; shard++) {
        await openShardIfFull({ ...env, SHARD_BYTES: "1" }, { indexId, shard }, 1);
      }
      const request = makeSearchRequest({ query: "a lantern", topK: 5 });
      const ids = { jobId: newId("job"), accountId, indexId, indexName: name };
      return insert<"search">({ kind: "search", ...ids, request, clip: null });
    },
  },
  match_watches: {
    of: "watches",
    largest: LIMITS.watchesPerIndex,
    sizes: [2, 4],
    isSliced: true,
    async prepare(client, n) {
      const { accountId, indexId, assetId, name } = await addAsset(client, "words.jpg");
      for (let i = 0; i < n; i++) {
        const json = { name: `Lanterns ${i}`, query: `a lantern ${i}` };
        await client.json("POST", `/index/${name}/watches`, { json });
      }
      await run("UPDATE watches SET created_at = 0 WHERE index_id = ?", indexId);
      const jobId = newId("job");
      await insert<"match_watches">({ kind: "match_watches", jobId, accountId, indexId, assetId });
      await run(`UPDATE jobs SET result = '{"after":""}' WHERE job_id = ?`, jobId);
      return { kind: "match_watches", jobId, accountId, indexId, assetId };
    },
  },
  preview_watch: {
    of: "shards",
    largest: 500,
    sizes: [1, 3],
    isSliced: false,
    async prepare(client, n) {
      const { accountId, indexId, name } = await addAsset(client, "words.jpg");
      for (let shard = 0; shard < n - 1; shard++) {
        await openShardIfFull({ ...env, SHARD_BYTES: "1" }, { indexId, shard }, 1);
      }
      const ids = { jobId: newId("job"), accountId, indexId, indexName: name };
      return insert<"preview_watch">({
        kind: "preview_watch",
        ...ids,
        request: { query: "a lantern" },
        minProbability: 0.9,
        watchId: null,
      });
    },
  },
  transcript: {
    of: "segments",
    largest: MAX_SEGMENTS,
    sizes: [200, 400],
    isSliced: false,
    async prepare(client, n) {
      const ref = await addAsset(client, "clip.mp4");
      await addSegments(ref, n);
      const jobId = newId("job");
      const asset = (await getAsset(env.DB, ref.assetId))!;
      await putCues(env.MEDIA, asset, [{ start: 0, end: 6, text: "Something else." }], jobId);
      const { accountId, indexId, assetId } = ref;
      const job = await insert<"transcript">({
        kind: "transcript",
        jobId,
        accountId,
        indexId,
        assetId,
        language: "en",
        warnings: [],
      });
      await run("UPDATE jobs SET state = 'running' WHERE job_id = ?", jobId);
      return job;
    },
  },
  import: {
    of: "items of a page",
    largest: 100,
    sizes: [5, 10],
    isSliced: true,
    async prepare(client, n) {
      const scene = `limits${n}${crypto.randomUUID().slice(0, 6)}`;
      const name = `i${scene}`;
      await createIndex(client, name);
      const items = Array.from({ length: n }, (_, i) => sceneImage(`p${i}`));
      await stubPlatform(scene, { items });
      return captureJob(client, `/index/${name}/photonet/profile`, {
        body: JSON.stringify(profileOf(scene)),
        headers: { "content-type": "application/json" },
      });
    },
  },
  import_archive: {
    of: "lines",
    largest: LIMITS.archiveLineCount,
    sizes: [1, 2],
    isSliced: true,
    async prepare(client, n) {
      const source = await newClient();
      await source.json("POST", "/index", { json: { index_name: "from" } });
      for (const file of ["words.jpg", "clock.jpg"].slice(0, n)) {
        const form = { image_file: await fixture(file) };
        const asset = await source.json("POST", "/index/from/image", { form });
        await source.waitForAsset("from", asset);
      }
      const lines = await Promise.all((await exportLines(source)).map(hostFiles));
      const name = `to-${crypto.randomUUID()}`;
      await createIndex(client, name);
      return captureJob(client, `/index/${name}/import-archive`, {
        body: toBody(lines),
        headers: { "content-type": "application/x-ndjson" },
      });
    },
  },
  traverse: {
    of: "segments of an asset",
    largest: MAX_SEGMENTS,
    sizes: [8, 16],
    isSliced: true,
    async prepare(client, n) {
      const ref = await addAsset(client, "words.jpg");
      await addSegments(ref, n);
      const { accountId, indexId } = ref;
      return insert<"traverse">({ kind: "traverse", jobId: newId("job"), accountId, indexId });
    },
  },
  playback_copy: {
    of: "minutes",
    largest: LIMITS.videoSeconds / 60,
    sizes: [1, 2],
    isSliced: true,
    async prepare(client, n) {
      const ref = await addAsset(client, "old.avi"); // of two parts
      const forget = "UPDATE assets SET technical = json_remove(technical, '$.working_copy')";
      await run(`${forget} WHERE asset_id = ?`, ref.assetId);
      const asset = (await getAsset(env.DB, ref.assetId))!;
      await planPlaybackCopy(standIns(), asset);
      if (n === 1) await convert(standIns(), asset, 0);
      const { accountId, indexId, assetId } = ref;
      const jobId = newId("job");
      return insert<"playback_copy">({ kind: "playback_copy", jobId, accountId, indexId, assetId });
    },
  },
  repair: {
    of: "segments",
    largest: MAX_SEGMENTS,
    sizes: [8, 16],
    isSliced: true,
    async prepare(client, n) {
      const ref = await addAsset(client, "clip.mp4");
      await addSegments(ref, n);
      const { accountId, indexId, assetId } = ref;
      const jobId = newId("job");
      return insert<"repair">({ kind: "repair", jobId, accountId, indexId, assetId });
    },
  },
};
