import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { LIFECYCLE } from "../../src/config.ts";
import type { JobMessageOf } from "../../src/messages.ts";
import { archiveLineKey } from "../../src/store/r2/object-keys.ts";
import {
  createTarget,
  exportLines,
  hostBytes,
  hostFiles,
  importLines,
  indexIdOf,
  listLineKeys,
  nodesOf,
  toBody,
} from "../support/archive-helpers.ts";
import { type Client, fixtureUrl, type Json, newClient } from "../support/client.ts";
import { fetchDeployed, withoutDelivery } from "../support/deployed.ts";
import { jpeg, png } from "../support/image-headers.ts";
import { deliver } from "../support/ingest-helpers.ts";
import { setLimits } from "../support/quota-accounts.ts";
import { createRepairFixture } from "../support/repair-fixture.ts";
import { countStored } from "../support/store-queries.ts";

let source: Client;
/** Lines of the archive with media. Its URLs lead to a server that the Worker may fetch from. */
let archive: Json[];

beforeAll(async () => {
  source = await newClient();
  await createRepairFixture(source, "from");
  archive = await Promise.all((await exportLines(source, "?media=true")).map(hostFiles));
});

describe("an asset of an archive", () => {
  const image = () => structuredClone(archive.at(-2));
  const withFile = (path: string, url: string) => {
    const line = image();
    line.files = line.files.map((file: Json) => (file.path === path ? { path, url } : file));
    return line;
  };
  const withRecord = (fields: Json) => {
    const line = image();
    Object.assign(line.record, fields);
    return line;
  };
  const FAILURES: [string, () => Json][] = [
    ["download_refused", () => withFile("source", fixtureUrl("clock.jpg"))],
    ["download_refused", () => withRecord({ size_bytes: image().record.size_bytes + 1 })],
    ["blocked_address", () => withFile("source", "http://10.0.0.1/source")],
    [
      "blocked_address",
      () => withRecord({ source: { kind: "url", url: "http://169.254.169.254/latest" } }),
    ],
    ["unreadable_image", () => withFile("keyframes/0.jpg", fixtureUrl("clip.mp4"))],
  ];

  it.each(FAILURES)(
    "that can't be imported is reported with %s, and leaves nothing",
    async (code, line) => {
      const target = await createTarget();
      const indexId = await indexIdOf(target);
      const { state, result } = await importLines(target, [line()]);
      expect({ state, ...result }).toMatchObject({
        state: "succeeded",
        imported: 0,
        failed: [{ asset_id: image().record.asset_id, code }],
        is_complete: false,
      });
      expect(await countStored(indexId)).toEqual({ indices: 1, shards: 1 });
      expect(await listLineKeys(target)).toEqual([]);
    },
  );

  it("is imported if downloads of it fail twice", async () => {
    const target = await createTarget();
    const line = image();
    const index = line.files.findIndex(({ path }: Json) => path === "keyframes/0.jpg");
    const { url } = line.files[index];
    const query = new URLSearchParams({ id: crypto.randomUUID(), url });
    line.files[index].url = `${inject("malformedOrigin")}/fails-twice?${query.toString()}`;
    const { state, result } = await importLines(target, [line]);
    expect({ state, ...result }).toMatchObject({ state: "succeeded", imported: 1, failed: [] });
  });

  const MIB = 1024 ** 2;
  const REFUSED_FILES: [string, string, () => Uint8Array<ArrayBuffer> | string][] = [
    ["keyframes/", "too_large", () => Uint8Array.from(jpeg(12_000, 12_000))],
    ["keyframes/", "too_large", () => Uint8Array.from(jpeg(961, 500))],
    ["keyframes/", "unreadable_image", () => Uint8Array.from(png(16, 16))],
    ["keyframes/", "unreadable_image", () => "root:x:0:0:root:/root:/bin/sh"],
    ["keyframes/", "unreadable_image", () => ""],
    ["keyframes/", "download_refused", () => new Uint8Array(4 * MIB + 1)],
    ["frame-signatures/", "download_refused", () => '{"token":"secret"}'],
    ["frame-signatures/", "download_refused", () => "[".repeat(4 * MIB)],
    ["frame-signatures/", "download_refused", () => `[${"{},".repeat(MIB)}{}]`],
    [
      "frame-signatures/",
      "download_refused",
      () => JSON.stringify([{ position: 999, ms: 0, hashes: [], luma_thumbnail: thumbnail }]),
    ],
    [
      "frame-signatures/",
      "download_refused",
      () => JSON.stringify([{ position: 0, ms: 1e9, hashes: [], luma_thumbnail: thumbnail }]),
    ],
    [
      "frame-signatures/",
      "download_refused",
      () => JSON.stringify([{ position: 0, ms: 0, hashes: [], luma_thumbnail: "AAAA" }]),
    ],
    ["reference-frames/", "download_refused", () => '{"token":"secret"}'],
    ["reference-frames/", "download_refused", () => ""],
    ["reference-frames/", "download_refused", () => new Uint8Array(260).fill(255)],
    ["reference-frames/", "download_refused", () => new Uint8Array(260 * 1000)],
  ];
  const thumbnail = Buffer.alloc(24 * 24).toString("base64");

  it.each(REFUSED_FILES)("stores no %s… that is something else: %s (case %#)", async (...row) => {
    const [prefix, code, body] = row;
    const target = await createTarget();
    const line = structuredClone(archive[1]);
    const url = await hostBytes(body());
    const file = line.files.find(({ path }: Json) => path.startsWith(prefix));
    Object.assign(file, { url });
    const { result } = await importLines(target, [line]);
    expect(result).toMatchObject({ imported: 0, failed: [{ code }] });
    expect(await countStored(await indexIdOf(target))).toEqual({ indices: 1, shards: 1 });
  });

  it("is reported if the file has another length than its record", async () => {
    const line = structuredClone(archive[1]);
    const added = 60_000;
    line.record.duration_ms += added;
    line.record.segments.at(-1).end_ms += added;
    const { result } = await importLines(await createTarget(), [line]);
    expect(result.failed).toMatchObject([{ code: "download_refused" }]);
  });

  it("is reported if the account's room is used up", async () => {
    const target = await createTarget();
    const lineBytes = Buffer.byteLength(JSON.stringify(image()));
    await setLimits(target, { stored_bytes: lineBytes + 10 });
    const { result } = await importLines(target, [image()]);
    expect(result.failed).toMatchObject([{ code: "account_full" }]);
  });
});

describe("an archive of which a line is imported twice", () => {
  it("has the asset once, as the first line says", async () => {
    const target = await createTarget();
    const line = (await exportLines(source)).find(({ kind }) => kind === "asset")!;
    const twice = [line, { ...line, record: { ...line.record, title: "Another title" } }];
    expect(await importLines(target, twice)).toMatchObject({
      result: { imported: 1, present: 1, failed: [] },
    });
    const [{ asset }] = await nodesOf(target, "to");
    expect(asset.title).toBe(line.record.title);
  });
});

describe("text of an archive", () => {
  it("is cleaned as an ingest cleans it, and a time ahead is that of the import", async () => {
    const target = await createTarget();
    const line = structuredClone(archive.at(-2));
    const signed = "https://example.org/a.jpg?token=secret";
    Object.assign(line.record, {
      title: " a\u001b[2J\u202eb ",
      created_at: Date.UTC(9999, 0),
      source: { kind: "url", url: signed },
    });
    line.record.segments[0].caption = "A\u0007 boat\r\n\r\non a river ";
    expect(await importLines(target, [{ ...line, files: [] }])).toMatchObject({
      result: { imported: 1, failed: [] },
    });
    const [{ asset, segments }] = await nodesOf(target, "to");
    expect(asset).toMatchObject({ title: "a [2Jb", source: { url: "https://example.org/a.jpg" } });
    expect(Date.parse(asset.created_at)).toBeLessThanOrEqual(Date.now());
    expect(segments[0].caption).toBe("A boat\non a river");
  });
});

const withoutFiles = (line: Json): Json => (line.kind === "asset" ? { ...line, files: [] } : line);

/** Starts an import that only `run` runs, as the queue would. */
async function startStopped(client: Client, lines: Json[]) {
  const call = { method: "POST", body: toBody(lines) };
  const path = "/index/to/import-archive";
  const response = await fetchDeployed(withoutDelivery, client.key, path, call);
  const { job_id }: Json = await response.json();
  const select = "SELECT message FROM jobs WHERE job_id = ?";
  const row = await env.DB.prepare(select).bind(job_id).first<{ message: string }>();
  const message: JobMessageOf<"import_archive"> = JSON.parse(row!.message);
  return {
    jobId: job_id as string,
    lineKey: (line: number) => archiveLineKey(message.indexId, message.jobId, line),
    run: (settings: Partial<Env> = {}) =>
      deliver("sightline-jobs", message, 1, { ...withoutDelivery, ...settings }),
  };
}

/** Makes a bucket that fails when the files of an asset are listed, some times. */
function failingBucket(times: number): Partial<Env> {
  let failures = 0;
  const list: R2Bucket["list"] = async (options) => {
    if (++failures <= times) throw new TypeError("unexpected");
    return env.MEDIA.list(options);
  };
  const { MEDIA: bucket } = env;
  const get = (_: R2Bucket, name: keyof R2Bucket) =>
    name === "list" ? list : bucket[name].bind(bucket);
  return { MEDIA: new Proxy(bucket, { get: get as ProxyHandler<R2Bucket>["get"] & {} }) };
}

describe("a line of an archive that doesn't parse", () => {
  it.each([
    ["that nests too deep", "[".repeat(40)],
    ["of a million lists", `[${"[],".repeat(4_000_000)}[]]`],
    ["that is cut off", '{"kind":"asset","record":{'],
  ])("is refused before anything is stored: %s", async (_, line) => {
    const target = await createTarget();
    const call = { body: `${toBody([archive[0]])}${line}\n` };
    const [issue] = await target.issues("POST", "/index/to/import-archive", call);
    expect(issue).toEqual([["body", 1], "json_invalid"]);
    expect(await listLineKeys(target)).toEqual([]);
  });

  it("is reported if it doesn't match the present schema, and the others are imported", async () => {
    const target = await createTarget();
    const lines = archive.slice(0, 3).map(withoutFiles);
    const job = await startStopped(target, lines);
    await env.MEDIA.put(job.lineKey(1), '{"kind":"asset","record":{}}');
    await job.run();
    expect(await target.waitForJob(job.jobId)).toMatchObject({
      state: "succeeded",
      result: { imported: 1, failed: [{ line: 1, asset_id: "", code: "bad_request" }] },
    });
  });
});

describe("an import of an archive that is cancelled", () => {
  it("ends, and leaves neither half an asset nor lines", async () => {
    const target = await createTarget();
    const lines = archive.slice(0, 3).map(withoutFiles);
    const job = await startStopped(target, lines);
    await job.run(failingBucket(1)); // stops in the middle of the first asset
    const [half] = (await target.json("GET", "/index/to")).assets;
    expect(half).toMatchObject({ state: "embedding" });
    const cancelled = await target.json("DELETE", `/jobs/${job.jobId}`);
    expect(cancelled).toMatchObject({ kind: "import_archive", state: "cancelled" });
    await job.run();
    expect(await listLineKeys(target)).toEqual([]);
    expect(await countStored(await indexIdOf(target))).toEqual({ indices: 1, shards: 1 });
    expect(await target.json("GET", `/jobs/${job.jobId}`)).toMatchObject({ state: "cancelled" });
  });
});

describe("an asset of an archive that fails unexpectedly", () => {
  it("is given up after some tries, and the others are imported", async () => {
    const target = await createTarget();
    const lines = archive.slice(0, 3).map(withoutFiles);
    const job = await startStopped(target, lines);
    const failing = failingBucket(LIFECYCLE.maxLineTries);
    for (let tries = 0; tries < LIFECYCLE.maxLineTries; tries++) await job.run(failing);
    expect(await target.json("GET", `/jobs/${job.jobId}`)).toMatchObject({
      state: "succeeded",
      result: { imported: 1, failed: [{ asset_id: lines[1]!.record.asset_id, code: "internal" }] },
    });
  });
});
