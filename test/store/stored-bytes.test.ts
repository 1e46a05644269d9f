import { beforeAll, describe, expect, it } from "vitest";
import { createTarget, exportLines, hostFiles, toBody } from "../support/archive-helpers.ts";
import {
  type Client,
  fixture,
  fixtureUrl,
  type Json,
  newClient,
  uniqueFixture,
} from "../support/client.ts";
import {
  expectAllCounted,
  expectFreeBytes,
  limitFreeBytes,
  setLimits,
  storedBytes,
} from "../support/quota-accounts.ts";
import { submitTranscript } from "../support/transcript-fixtures.ts";

let source: Client;
let video: Json;
/** Lines of an archive with media: the index, a video that came from a URL, and the end. */
let archive: Json[];

beforeAll(async () => {
  source = await newClient();
  await source.json("POST", "/index", { json: { index_name: "from" } });
  const url = encodeURIComponent(fixtureUrl("clip.mp4"));
  video = await source.json("POST", `/index/from/video?video_url=${url}`);
  video = await source.waitForAsset("from", video);
  archive = await Promise.all((await exportLines(source, "?media=true")).map(hostFiles));
});

/** Returns the archive without its files, and with changes of the record of its video. */
function withoutMedia(change: (record: Json) => void = () => {}): Json[] {
  const lines = structuredClone(archive);
  lines[1].files = [];
  change(lines[1].record);
  return lines;
}

async function importLines(client: Client, lines: Json[]): Promise<Json> {
  const path = "/index/to/import-archive";
  const { job_id } = await client.json("POST", path, { body: toBody(lines) });
  return client.waitForJob(job_id);
}

async function repair(client: Client, index = "to"): Promise<Json> {
  const { job_id } = await client.json("POST", `/index/${index}/traverse`);
  return (await client.waitForJob(job_id)).result;
}

const ingestedSeconds = async (client: Client): Promise<number> =>
  (await client.json("GET", "/stats")).usage.today.ingested_seconds;

describe("stored_bytes counts every object of an account in R2", () => {
  it("after an ingest", () => expectAllCounted(source, "from"));

  it("after an import with media", async () => {
    const target = await createTarget();
    expect(await importLines(target, archive)).toMatchObject({ result: { imported: 1 } });
    await expectAllCounted(target, "to");
  });

  it("after transcripts were replaced, and after deletions", async () => {
    const client = await newClient();
    await client.json("POST", "/index", { json: { index_name: "a" } });
    const form = { video_file: await fixture("clip.mp4") };
    const asset = await client.json("POST", "/index/a/video", { form });
    await client.waitForAsset("a", asset);
    const path = `/index/a/video/${asset.asset_id}`;
    for (const text of ["First.", "The second one."]) {
      await submitTranscript(client, path, [{ start: 0, end: 4, text }]);
    }
    await expectAllCounted(client, "a");
    const image = await client.json("POST", "/index/a/image", {
      form: { image_file: await uniqueFixture("words.jpg") },
    });
    await client.waitForAsset("a", image);
    const { job_id } = await client.json("DELETE", path);
    await client.waitForJob(job_id);
    await expectAllCounted(client, "a");
  });

  it("after a repair that wrote and deleted some", async () => {
    const target = await createTarget();
    await importLines(target, withoutMedia());
    const report = await repair(target);
    expect(report.repaired).toMatchObject({ source_missing: 1, keyframes_missing: 1 });
    await expectAllCounted(target, "to");
  });
});

describe("an account without room", () => {
  it("gets no asset of an archive whose files exceed it, and loses no room by it", async () => {
    const target = await createTarget();
    const { size_bytes } = archive[1].record;
    await setLimits(target, { stored_bytes: size_bytes + 100 });
    const { result } = await importLines(target, archive);
    expect(result).toMatchObject({ imported: 0, failed: [{ code: "account_full" }] });
    expect(await storedBytes(target)).toBe(0);
    await expectFreeBytes(target, "to", size_bytes + 100);
  });

  it("keeps a missing source, which a later traversal fetches once there is room", async () => {
    const target = await createTarget();
    await importLines(target, withoutMedia());
    await limitFreeBytes(target, 100);
    const before = await storedBytes(target);
    const { unrepaired } = await repair(target);
    const message = expect.stringContaining("limit stored_bytes ");
    expect(unrepaired).toContainEqual(expect.objectContaining({ code: "source_missing", message }));
    expect(await storedBytes(target)).toBeLessThanOrEqual(before + 100);
    await setLimits(target, {});
    expect((await repair(target)).repaired).toMatchObject({ source_missing: 1 });
    const [{ asset }] = (await target.json("GET", "/index/to/traverse")).nodes;
    expect(asset.size_bytes).toBe(archive[1].record.size_bytes);
  });

  it("can delete everything", async () => {
    const target = await createTarget();
    await importLines(target, archive);
    await setLimits(target, { stored_bytes: 0, cost_usd_per_day: 0 });
    const { job_id } = await target.json("DELETE", "/index/to");
    expect(await target.waitForJob(job_id)).toMatchObject({ state: "succeeded" });
    expect(await storedBytes(target)).toBe(0);
  });
});

describe("minutes of video count", () => {
  it("a second for each archived segment, however short the video says it is", async () => {
    const lines = withoutMedia((record) => {
      record.segments.forEach((segment: Json, i: number) => {
        Object.assign(segment, { start_ms: i, end_ms: i + 1, keyframe_ms: i });
      });
      record.duration_ms = record.segments.length;
      record.keyframe_ms = 0;
    });
    const { length } = lines[1].record.segments;
    const target = await createTarget();
    await setLimits(target, { ingest_minutes_per_day: (length - 0.5) / 60 });
    const refused = await importLines(target, lines);
    expect(refused.result).toMatchObject({ failed: [{ code: "limit_reached" }] });
    await setLimits(target, {});
    expect(await importLines(target, lines)).toMatchObject({ result: { imported: 1 } });
    expect(await ingestedSeconds(target)).toBe(length);
  });

  it("of media that a traversal fetches, as long as they are", async () => {
    const short = (record: Json) => {
      record.segments = [{ ...record.segments[0], start_ms: 0, end_ms: 100, keyframe_ms: 0 }];
      record.duration_ms = 100;
      record.keyframe_ms = 0;
    };
    const seconds = video.duration_seconds;
    const target = await createTarget();
    await importLines(target, withoutMedia(short));
    const atImport = await ingestedSeconds(target);
    expect(atImport).toBeLessThan(seconds);
    await setLimits(target, { ingest_minutes_per_day: (seconds - 1) / 60 });
    const { unrepaired } = await repair(target);
    const message = expect.stringContaining("limit ingest_minutes_per_day ");
    expect(unrepaired).toContainEqual(expect.objectContaining({ code: "source_missing", message }));
    await setLimits(target, {});
    expect((await repair(target)).repaired).toMatchObject({ source_missing: 1 });
    expect(await ingestedSeconds(target)).toBeCloseTo(seconds, 3);
  });
});
