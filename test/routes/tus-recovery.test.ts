import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import worker from "../../local/worker.ts";
import { PART_BYTES, UPLOADS } from "../../src/config.ts";
import type { AccountId, IndexId } from "../../src/ids.ts";
import { getUpload, type Upload, completeMultipart } from "../../src/store/d1/uploads.ts";
import { sourceKey } from "../../src/store/r2/object-keys.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { countStored, assetRefOf, run } from "../support/store-queries.ts";
import { createPaddedVideo, createUniqueImage, TusClient } from "../support/tus-client.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;
let tus: TusClient;
let indexId: IndexId;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
  tus = new TusClient(client, "a");
  const path = await tus.createUpload(1);
  indexId = (await env.DB.prepare("SELECT index_id AS id FROM uploads WHERE upload_id = ?")
    .bind(idOf(path))
    .first<IndexId>("id"))!;
  await tus.send("DELETE", path);
});

const idOf = (path: string) => path.split("/").at(-1)!;
const getRow = async (path: string): Promise<Upload> =>
  (await getUpload(env.DB, indexId, idOf(path)))!;
const sweepAt = (scheduledTime: number) =>
  worker.scheduled({ scheduledTime, cron: "* * * * *" } as ScheduledController, env);
const countTails = async (path: string) =>
  (await env.MEDIA.list({ prefix: `uploads/${indexId}/${idOf(path)}` })).objects.length;
const hasSourceFile = async (record: Json, bytes: Uint8Array) => {
  const object = await env.MEDIA.get(sourceKey(await assetRefOf(record)));
  return Buffer.compare(await object!.bytes(), bytes) === 0;
};

describe("an upload whose connection breaks", () => {
  it.each([
    ["in the first bytes", [3000], 3000],
    ["between two parts", [PART_BYTES], PART_BYTES],
    ["in a later part", [PART_BYTES, 5_000_000, 2000], PART_BYTES + 5_002_000],
  ])("%s keeps all bytes", async (_, sizes, offset) => {
    const video = await createPaddedVideo(2 * PART_BYTES + 100);
    const path = await tus.createUpload(video.length);
    let at = 0;
    const chunks = sizes.map((size) => video.subarray(at, (at += size)));
    expect((await tus.sendThenDisconnect(path, 0, chunks)).status).toBe(400);
    expect(await tus.offset(path)).toBe(offset);
    expect((await tus.patch(path, offset, video.subarray(offset))).status).toBe(204);
    const record = await tus.record(path);
    expect(await hasSourceFile(record, video)).toBe(true);
    expect(await countTails(path)).toBe(0);
  });

  it("behind the last byte becomes an asset at the next GET", async () => {
    const image = await createUniqueImage();
    const path = await tus.createUpload(image.length);
    expect((await tus.sendThenDisconnect(path, 0, [image])).status).toBe(400);
    expect(await tus.offset(path)).toBe(image.length);
    expect(await tus.record(path)).toMatchObject({ state: "complete" });
  });

  it("during a request with a checksum loses that request's bytes", async () => {
    const video = await createPaddedVideo(2 * PART_BYTES);
    const path = await tus.createUpload(video.length);
    const checksum = { "upload-checksum": `md5 ${Buffer.alloc(16).toString("base64")}` };
    const chunks = [video.subarray(0, PART_BYTES + 9)];
    expect((await tus.sendThenDisconnect(path, 0, chunks, checksum)).status).toBe(400);
    expect(await tus.offset(path)).toBe(0);
    await tus.send("DELETE", path);
  });

  it("during its creation is deleted, because its client has no URL", async () => {
    const video = await createPaddedVideo(PART_BYTES * 2);
    const length = { "upload-length": String(video.length) };
    const chunks = [video.subarray(0, PART_BYTES + 100)];
    expect((await tus.sendThenDisconnect(tus.uploadsPath, null, chunks, length)).status).toBe(400);
    expect((await client.json("GET", tus.uploadsPath)).total).toBe(0);
  });
});

describe("a PATCH while an older one still runs without its client", () => {
  /** Returns a body that sends what the test tells it to. */
  function slowBody() {
    let controller: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
    return {
      body,
      send: (bytes: Uint8Array) => controller.enqueue(bytes),
      end: () => controller.close(),
    };
  }

  /** Starts a PATCH that has sent more than one of three parts and stays open. */
  async function startSlowUpload() {
    const video = await createPaddedVideo(3 * PART_BYTES);
    const path = await tus.createUpload(video.length);
    const slowRequest = slowBody();
    const olderRequest = tus.patch(path, 0, slowRequest.body);
    slowRequest.send(video.subarray(0, PART_BYTES + 1000));
    await waitUntil(async () => (await tus.offset(path)) === PART_BYTES);
    return { video, path, slowRequest, olderRequest };
  }

  it("succeeds, and the older request gets 409", async () => {
    const { video, path, slowRequest, olderRequest } = await startSlowUpload();
    const middle = video.subarray(PART_BYTES, 2 * PART_BYTES);
    expect((await tus.patch(path, PART_BYTES, middle)).status).toBe(204);
    slowRequest.send(crypto.getRandomValues(new Uint8Array(50_000)));
    slowRequest.send(new Uint8Array(PART_BYTES));
    slowRequest.end();
    expect((await olderRequest).status).toBe(409);
    expect(await tus.offset(path)).toBe(2 * PART_BYTES);
    expect((await tus.patch(path, 2 * PART_BYTES, video.subarray(2 * PART_BYTES))).status).toBe(
      204,
    );
    expect(await hasSourceFile(await tus.record(path), video)).toBe(true);
    expect(await countTails(path)).toBe(0);
  });

  it("from the same offset: one of them succeeds and the file is complete", async () => {
    const image = await createUniqueImage();
    const path = await tus.createUpload(image.length);
    const all = await Promise.all(Array.from({ length: 4 }, () => tus.patch(path, 0, image)));
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((status) => status === 204).length).toBeGreaterThan(0);
    expect(statuses.every((status) => [204, 409].includes(status))).toBe(true);
    const record = await tus.record(path);
    expect(record).toMatchObject({ state: "complete", duplicate: false });
    expect(await hasSourceFile(record, image)).toBe(true);
  });

  it("after the upload was deleted stores nothing", async () => {
    const { video, path, slowRequest, olderRequest } = await startSlowUpload();
    await tus.send("DELETE", path);
    slowRequest.send(video.subarray(PART_BYTES + 1000));
    slowRequest.end();
    expect((await olderRequest).status).toBe(409);
    expect(await tus.offset(path)).toBe("status 404");
    expect(await countTails(path)).toBe(0);
  });
});

describe("an upload whose Worker dies after the last byte", () => {
  /** Uploads all bytes of an image without creating its asset. */
  async function receiveWithoutAsset(name?: string): Promise<{ path: string; image: Uint8Array }> {
    const image = await createUniqueImage(name);
    const path = await tus.createUpload(image.length);
    await tus.sendThenDisconnect(path, 0, [image]);
    expect(await getRow(path)).toMatchObject({ resultAssetId: null, sha256: expect.any(String) });
    return { path, image };
  }

  it.each<[string, (upload: Upload) => Promise<unknown>]>([
    ["before the parts are merged", async () => undefined],
    ["before the asset is created", (upload) => completeMultipart(env, upload, upload.target!)],
  ])("%s is completed by the next HEAD, the next PATCH or the cron", async (_, stop) => {
    const recoveries: ((path: string, end: number) => Promise<unknown>)[] = [
      (path) => tus.send("HEAD", path),
      (path, end) => tus.patch(path, end, ""),
      () => sweepAt(Date.now() + UPLOADS.recoverAfterMs + 1000),
    ];
    for (const recover of recoveries) {
      const { path, image } = await receiveWithoutAsset();
      await stop(await getRow(path));
      await recover(path, image.length);
      const upload = await getRow(path);
      expect(upload.resultAssetId).toBe(upload.target!.assetId);
      const record = await tus.record(path);
      expect(record).toMatchObject({ state: "complete", duplicate: false });
      expect(await hasSourceFile(record, image)).toBe(true);
    }
  });

  it("before the upload records its asset keeps the asset without a new ingest", async () => {
    const { path } = await receiveWithoutAsset("words.jpg");
    const record = await tus.record(path);
    const { created_at } = await client.waitForAsset("a", record);
    await run("UPDATE uploads SET result_asset_id = NULL WHERE upload_id = ?", idOf(path));
    expect(await tus.record(path)).toMatchObject({ asset_id: record.asset_id, duplicate: false });
    const after = await client.json("GET", `/index/a/image/${record.asset_id}`);
    expect(after).toMatchObject({ state: "ready", created_at });
  });

  it("becomes one asset for concurrent requests", async () => {
    const { path } = await receiveWithoutAsset();
    const records = await Promise.all(Array.from({ length: 5 }, () => tus.record(path)));
    const ids = new Set(records.map(({ asset_id }) => asset_id));
    expect(ids.size).toBe(1);
    expect(records.every(({ duplicate }) => duplicate === false)).toBe(true);
    const asset = await client.json("GET", `/index/a/image/${[...ids][0]}`);
    expect(asset).toMatchObject({ index_name: "a" });
  });
});

describe("an expired upload", () => {
  it("returns 410 until the next sweep deletes it", async () => {
    const video = await createPaddedVideo(2 * PART_BYTES);
    const path = await tus.createUpload(video.length);
    await tus.patch(path, 0, video.subarray(0, PART_BYTES + 100));
    const { target, expiresAt, updatedAt } = await getRow(path);
    expect(expiresAt - updatedAt).toBe(UPLOADS.idleMs);
    await run("UPDATE uploads SET expires_at = ? WHERE upload_id = ?", Date.now() - 1, idOf(path));
    expect(await tus.offset(path)).toBe("status 410");
    expect((await tus.patch(path, PART_BYTES + 100, "x")).status).toBe(410);
    expect(await countTails(path)).toBe(1);
    await sweepAt(Date.now());
    expect(await tus.offset(path)).toBe("status 404");
    expect(await countTails(path)).toBe(0);
    const key = sourceKey({ ...(await getIndexRef()), assetId: target!.assetId });
    const parts = env.MEDIA.resumeMultipartUpload(key, target!.storageId);
    await expect(parts.uploadPart(2, "x")).rejects.toThrow("upload does not exist");
  });

  it("is deleted without the asset that it became", async () => {
    const image = await createUniqueImage("words.jpg");
    const path = await tus.createUpload(image.length);
    await tus.patch(path, 0, image);
    const record = await tus.record(path);
    await run("UPDATE uploads SET expires_at = 1 WHERE upload_id = ?", idOf(path));
    await sweepAt(Date.now());
    expect(await tus.offset(path)).toBe("status 404");
    expect(await client.waitForAsset("a", record)).toMatchObject({ state: "ready" });
    expect(await hasSourceFile(record, image)).toBe(true);
  });

  it("whose removal was cut off is removed by a later sweep", async () => {
    const path = await tus.createUpload(2 * PART_BYTES);
    await tus.patch(path, 0, (await createUniqueImage()).subarray(0, 5000));
    await run("UPDATE uploads SET removed_at = 1 WHERE upload_id = ?", idOf(path));
    expect(await tus.offset(path)).toBe("status 404");
    await sweepAt(Date.now());
    expect(await countTails(path)).toBe(0);
  });

  it("expires before R2 deletes its parts", async () => {
    const image = await createUniqueImage();
    const path = await tus.createUpload(image.length);
    const createdAt = Date.now() - UPLOADS.maxAgeMs + 5000;
    await run("UPDATE uploads SET created_at = ? WHERE upload_id = ?", createdAt, idOf(path));
    await tus.patch(path, 0, image.subarray(0, 100));
    expect((await getRow(path)).expiresAt).toBe(createdAt + UPLOADS.maxAgeMs);
    await tus.send("DELETE", path);
  });
});

async function getIndexRef(): Promise<{ accountId: AccountId; indexId: IndexId }> {
  const accountId = await env.DB.prepare("SELECT account_id AS id FROM indices WHERE index_id = ?")
    .bind(indexId)
    .first<AccountId>("id");
  return { accountId: accountId!, indexId };
}

it("deleting an index deletes its uploads, unfinished ones included", async () => {
  await client.json("POST", "/index", { json: { index_name: "b" } });
  const otherTus = new TusClient(client, "b");
  const video = await createPaddedVideo(3 * PART_BYTES);
  const [open, done] = [
    await otherTus.createUpload(video.length),
    await otherTus.createUpload(video.length - PART_BYTES),
  ];
  const id = (await env.DB.prepare("SELECT index_id AS id FROM uploads WHERE upload_id = ?")
    .bind(idOf(open))
    .first<IndexId>("id"))!;
  await otherTus.patch(open, 0, video.subarray(0, PART_BYTES + 100));
  await otherTus.sendThenDisconnect(done, 0, [video.subarray(0, video.length - PART_BYTES)]);
  expect(await countStored(id)).toMatchObject({ uploads: 2, objects: 1 });
  const { job_id } = await client.json("DELETE", "/index/b");
  await client.waitForJob(job_id);
  expect(await countStored(id)).toEqual({});
  const parts = await env.DB.prepare(
    `SELECT COUNT(*) AS n FROM upload_parts
     WHERE upload_id NOT IN (SELECT upload_id FROM uploads)`,
  ).first<number>("n");
  expect(parts).toBe(0);
});
