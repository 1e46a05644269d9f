import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { LIFECYCLE, MODELS } from "../../src/config.ts";
import { newId } from "../../src/ids.ts";
import { sweep } from "../../src/lifecycle/sweep.ts";
import { findUnrecordedAssets, restoreAssets } from "../../src/lifecycle/unrecorded-assets.ts";
import { archiveAsset, getArchive } from "../../src/store/archive.ts";
import { archiveKey, transcriptKey } from "../../src/store/r2/object-keys.ts";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { deleteSegmentVectors } from "../../src/store/vectorize/vectors.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { cutOffEverywhere } from "../support/cut-off.ts";
import { createRepairFixture, type RepairFixture, runSearches } from "../support/repair-fixture.ts";
import {
  type AssetRef,
  assetRefOf,
  run,
  runInIndex,
  segmentIdsOf,
} from "../support/store-queries.ts";

let client: Client;
let assets: RepairFixture;
let clip: AssetRef;
let searches: Json[];
let records: Json[];
let rows: Json[];

/** Models whose work a restore must not repeat. */
const COSTLY = [MODELS.describe.id, MODELS.transcribe.id];

beforeAll(async () => {
  client = await newClient();
  assets = await createRepairFixture(client, "safe");
  clip = await assetRefOf(assets.clip);
  searches = await runSearches(client, "safe");
  records = await listRecords();
  rows = await listRows();
});

/** Lists the records of the assets, without their times of change and the tokens in their URLs. */
async function listRecords(): Promise<Json[]> {
  const { assets } = await client.json("GET", "/index/safe");
  return JSON.parse(
    JSON.stringify(assets, (name, value) => (name === "updated_at" ? null : value)).replaceAll(
      /\/media\/[^/"]+\//g,
      "/media/token/",
    ),
  );
}

/** Reads all that an index's database has of segments, but its own keys and times. */
async function listRows(): Promise<Json[]> {
  const segments = await runInIndex(
    clip,
    `SELECT segment_id, position, start_ms, end_ms, segments.keyframe_ms, caption, caption_model,
       transcript, on_screen_text, labels, boxes, error, text_model, image_model
     FROM segments ORDER BY segment_id`,
  );
  const signatures = await runInIndex(
    clip,
    `SELECT segment_id, frame_ms, hex(hashes) AS hashes, hex(luma_thumbnail) AS luma
     FROM signatures JOIN segments USING (segment_key) ORDER BY segment_id, frame_ms`,
  );
  return [segments, signatures];
}

/** Repairs the index while no model describes or transcribes anything. Returns the job's result. */
async function repair(): Promise<Json> {
  for (const model of COSTLY) await localAi().inject(model, "5007", 100);
  const { job_id } = await client.json("POST", "/index/safe/traverse");
  const { state, error, result } = await client.waitForJob(job_id);
  for (const model of COSTLY) await localAi().clearFaults(model);
  expect({ state, error }).toEqual({ state: "succeeded", error: null });
  return result;
}

async function listFindings(): Promise<string[]> {
  const { nodes, health } = await client.json("GET", "/index/safe/traverse");
  const all = [...nodes.map((node: Json) => node.health), health];
  return all.flatMap(({ findings }) => findings.map(({ code }: Json) => code));
}

/** Checks that the index is as it was, whatever was lost and restored. */
async function expectRestored(): Promise<void> {
  expect(await listFindings()).toEqual([]);
  expect(await listRows()).toEqual(rows);
  expect(await listRecords()).toEqual(records);
  expect(await runSearches(client, "safe")).toEqual(searches);
}

/** Deletes the rows of assets and of their transcripts in D1. `where` is SQL. */
async function deleteRows(where: string, ...bindings: string[]): Promise<void> {
  const ids = `SELECT asset_id FROM assets WHERE ${where}`;
  await run(`DELETE FROM transcripts WHERE asset_id IN (${ids})`, ...bindings);
  await run(`DELETE FROM assets WHERE ${where}`, ...bindings);
}

const readArchive = (ref: AssetRef = clip) => getArchive(env.MEDIA, ref);
const sweepLater = () => sweep(env, Date.now() + 120_000);

describe("the archive record of an asset", () => {
  it("is stored when the asset is ready, with what models and users have said of it", async () => {
    const archive = (await readArchive())!;
    expect(archive).toMatchObject({ format: 1, asset_id: clip.assetId, asset_type: "video" });
    expect(archive.transcript).toMatchObject({
      source: "upload",
      cues: [{ start: 0, end: 3 }, {}],
    });
    expect(archive.segments).toHaveLength((await segmentIdsOf(assets.clip)).length);
    expect(archive.segments[0]!.text_model).toBe(MODELS.embedText.id);
    expect(archive.segments[0]!.image_model).not.toBeNull();
    expect(rows[0][0].caption).not.toBe("");
    expect(await listFindings()).toEqual([]);
  });

  it("follows a new title and a new transcript within two minutes", async () => {
    const path = `/index/safe/video/${clip.assetId}`;
    const { title } = await client.json("PATCH", path, { json: { title: "Renamed" } });
    expect(title).toBe("Renamed");
    await sweepLater();
    expect(await readArchive()).toMatchObject({ title: "Renamed" });
    const form = { transcript: new File(["00:00:00.000 --> 00:00:02.000\nAhoy."], "a.srt") };
    const { job_id } = await client.json("POST", `${path}/transcript`, { form });
    expect(await client.waitForJob(job_id)).toMatchObject({ state: "succeeded" });
    await sweepLater();
    const { transcript, location } = (await readArchive())!;
    expect(transcript!.cues).toEqual([{ start: 0, end: 2, text: "Ahoy." }]);
    expect(location.transcript_job_id).toBe(job_id);
    [searches, records, rows] = [
      await runSearches(client, "safe"),
      await listRecords(),
      await listRows(),
    ];
  });

  it("that is gone is a finding, and is written again by a traversal", async () => {
    const before = await readArchive();
    await env.MEDIA.delete(archiveKey(clip));
    expect(await listFindings()).toEqual(["archive_outdated"]);
    expect(await repair()).toMatchObject({ repaired: { archive_outdated: 1 }, unrepaired: [] });
    expect(await readArchive()).toEqual(before);
  });

  it("that lags is a finding, and the sweep resumes a write that was cut off anywhere", async () => {
    const before = await readArchive();
    const calls = await cutOffEverywhere(
      async (cutEnv) => {
        await env.MEDIA.put(archiveKey(clip), JSON.stringify({ ...before, title: "old" }));
        const change = "content_revision = content_revision + 1, updated_at = 0";
        await run(`UPDATE assets SET ${change} WHERE asset_id = ?`, clip.assetId);
        expect(await listFindings()).toEqual(["archive_outdated"]);
        await archiveAsset(cutEnv, clip);
      },
      async () => {
        await sweepLater();
        expect(await readArchive()).toEqual(before);
        expect(await listFindings()).toEqual([]);
      },
    );
    expect(calls).toBeGreaterThan(6);
  });
});

describe("a traversal with repair", () => {
  it("restores an index whose database and vectors are lost, without describing anything", async () => {
    const ids = rows[0].map(({ segment_id }: Json) => segment_id);
    await deleteSegmentVectors(vectorPair(env, clip), ids);
    for (const table of ["segments", "assets"]) await runInIndex(clip, `DELETE FROM ${table}`);
    const found = await client.json("POST", "/index/safe/search", { json: { query: "a clock" } });
    expect(found).toMatchObject({ segments: [], total: 0, next_cursor: null });
    await client.json("PATCH", `/index/safe/video/${clip.assetId}`, { json: { title: "Lost" } });
    await sweepLater();
    expect((await readArchive())!.segments).not.toEqual([]);
    await client.json("PATCH", `/index/safe/video/${clip.assetId}`, { json: { title: "Renamed" } });
    expect(await listFindings()).toContain("segment_count_mismatch");
    expect(await repair()).toMatchObject({ assets: 6, unrepaired: [] });
    await expectRestored();
  });

  it("completes the segments of a database that was restored to the middle of an ingest", async () => {
    await runInIndex(
      clip,
      `UPDATE segments SET caption = '', on_screen_text = '', labels = '[]', boxes = '[]',
         transcript = '', described_at = NULL WHERE position = 0`,
    );
    await runInIndex(clip, "DELETE FROM segments WHERE position = 1");
    expect(await listFindings()).toContain("segment_count_mismatch");
    expect(await repair()).toMatchObject({ unrepaired: [] });
    await expectRestored();
  });

  it("restores assets whose row in D1 is lost, with their transcripts", async () => {
    const boats = await assetRefOf(assets.boats);
    await deleteRows("asset_id IN (?, ?)", clip.assetId, boats.assetId);
    expect(await listFindings()).toEqual(["records_missing"]);
    expect(await repair()).toMatchObject({ repaired: { records_missing: 1 }, unrepaired: [] });
    const video = await client.json("GET", `/index/safe/video/${clip.assetId}`);
    expect(video.transcript).toMatchObject({ source: "upload", cues: 1 });
    await expectRestored();
  });

  it("restores everything but the files from the archive records alone", async () => {
    const ids = rows[0].map(({ segment_id }: Json) => segment_id);
    await deleteSegmentVectors(vectorPair(env, clip), ids);
    for (const table of ["segments", "assets"]) await runInIndex(clip, `DELETE FROM ${table}`);
    await deleteRows("index_id = ?", clip.indexId);
    const { transcript_job_id } = (await readArchive())!.location;
    await env.MEDIA.delete(transcriptKey(clip, transcript_job_id as never));
    expect(await listFindings()).toContain("records_missing");
    expect(await repair()).toMatchObject({ assets: 6, unrepaired: [] });
    await expectRestored();
  });
});

it("a loss of many rows is restored in parts", async () => {
  const index = { ...clip, indexId: newId("ind") };
  await run(
    `INSERT INTO indices (index_id, account_id, name, created_at, updated_at)
     SELECT ?, account_id, 'many', 0, 0 FROM indices WHERE index_id = ?`,
    index.indexId,
    clip.indexId,
  );
  const record = (await readArchive(await assetRefOf(assets.clock)))!;
  for (let i = 0; i < LIFECYCLE.maxRestored + 2; i++) {
    const assetId = newId("img");
    const stored = { ...record, asset_id: assetId, sha256: String(i).padStart(64, "0") };
    await env.MEDIA.put(archiveKey({ ...index, assetId }), JSON.stringify(stored));
  }
  const counts: number[] = [];
  for (;;) {
    const { restorable, orphaned } = await findUnrecordedAssets(env, index);
    expect(orphaned).toEqual([]);
    counts.push(restorable.length);
    if (restorable.length === 0) break;
    await restoreAssets(env, index, restorable);
  }
  expect(counts).toEqual([LIFECYCLE.maxRestored, 2, 0]);
  await run("UPDATE indices SET deleted_at = 1 WHERE index_id = ?", index.indexId);
});

it("objects beside an archive record that can't be read stay, and stop no traversal", async () => {
  const index = { ...clip, indexId: newId("ind") };
  const unreadable = { ...index, assetId: newId("img") };
  await env.MEDIA.put(archiveKey(unreadable), '{"format":99}');
  const found = await findUnrecordedAssets(env, index);
  expect(found).toEqual({ restorable: [], orphaned: [] });
});

describe("an asset that its user deleted", () => {
  let deleted: AssetRef;
  let archive: string;

  beforeAll(async () => {
    const form = { image_file: await fixture("boats-grey.jpg") };
    const image = await client.json("POST", "/index/safe/image", { form });
    await client.waitForAsset("safe", image);
    deleted = await assetRefOf(image);
    archive = await (await env.MEDIA.get(archiveKey(deleted)))!.text();
    const path = `/index/safe/image/${deleted.assetId}`;
    const { job_id } = await client.json("DELETE", path);
    await client.waitForJob(job_id);
  });

  it("has no archive record any more", async () => {
    expect(await env.MEDIA.head(archiveKey(deleted))).toBeNull();
    await archiveAsset(env, deleted);
    expect(await env.MEDIA.head(archiveKey(deleted))).toBeNull();
  });

  it("isn't restored from a record that was written late, which the traversal deletes", async () => {
    await env.MEDIA.put(archiveKey(deleted), archive);
    expect(await listFindings()).toEqual(["objects_orphaned"]);
    expect(await repair()).toMatchObject({ repaired: { objects_orphaned: 1 }, unrepaired: [] });
    expect(await env.MEDIA.head(archiveKey(deleted))).toBeNull();
    await expectRestored();
  });
});
