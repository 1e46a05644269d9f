import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import worker from "../local/worker.ts";
import { PART_BYTES, UPLOADS } from "../src/config.ts";
import type { AccountId, IndexId } from "../src/ids.ts";
import { sourceKey } from "../src/store/media.ts";
import { completeWhole } from "../src/store/upload-objects.ts";
import { getUpload, type Upload } from "../src/store/uploads.ts";
import { type Client, type Json, newClient } from "./client.ts";
import { holdings, ownerOf, run } from "./stores.ts";
import { longFilm, newPicture, TusClient } from "./tus-client.ts";

let client: Client;
let tus: TusClient;
let indexId: IndexId;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
  tus = new TusClient(client, "a");
  const path = await tus.begin(1);
  indexId = (await env.DB.prepare("SELECT index_id AS id FROM uploads WHERE upload_id = ?")
    .bind(idOf(path))
    .first<IndexId>("id"))!;
  await tus.send("DELETE", path);
});

const idOf = (path: string) => path.split("/").at(-1)!;
const row = async (path: string): Promise<Upload> =>
  (await getUpload(env.DB, indexId, idOf(path)))!;
const sweepAt = (scheduledTime: number) =>
  worker.scheduled({ scheduledTime, cron: "* * * * *" } as ScheduledController, env);
const tails = async (path: string) =>
  (await env.MEDIA.list({ prefix: `uploads/${indexId}/${idOf(path)}` })).objects.length;
const isStored = async (record: Json, bytes: Uint8Array) => {
  const object = await env.MEDIA.get(sourceKey(await ownerOf(record)));
  return Buffer.compare(await object!.bytes(), bytes) === 0;
};

describe("a connection that breaks off", () => {
  it.each([
    ["in the first bytes", [3000], 3000],
    ["between two parts", [PART_BYTES], PART_BYTES],
    ["in a later part", [PART_BYTES, 5_000_000, 2000], PART_BYTES + 5_002_000],
  ])("%s loses nothing", async (_, sizes, offset) => {
    const film = await longFilm(2 * PART_BYTES + 100);
    const path = await tus.begin(film.length);
    let at = 0;
    const pieces = sizes.map((size) => film.subarray(at, (at += size)));
    expect((await tus.breakOff(path, 0, pieces)).status).toBe(400);
    expect(await tus.offset(path)).toBe(offset);
    expect((await tus.patch(path, offset, film.subarray(offset))).status).toBe(204);
    const record = await tus.record(path);
    expect(await isStored(record, film)).toBe(true);
    expect(await tails(path)).toBe(0);
  });

  it("behind the last byte loses nothing: the next question makes it an asset", async () => {
    const picture = await newPicture();
    const path = await tus.begin(picture.length);
    expect((await tus.breakOff(path, 0, [picture])).status).toBe(400);
    expect(await tus.offset(path)).toBe(picture.length);
    expect(await tus.record(path)).toMatchObject({ state: "complete" });
  });

  it("of bytes with a checksum loses them", async () => {
    const film = await longFilm(2 * PART_BYTES);
    const path = await tus.begin(film.length);
    const checksum = { "upload-checksum": `md5 ${Buffer.alloc(16).toString("base64")}` };
    const pieces = [film.subarray(0, PART_BYTES + 9)];
    expect((await tus.breakOff(path, 0, pieces, checksum)).status).toBe(400);
    expect(await tus.offset(path)).toBe(0);
    await tus.send("DELETE", path);
  });

  it("in a creation leaves nothing: nobody knows its address", async () => {
    const film = await longFilm(PART_BYTES * 2);
    const length = { "upload-length": String(film.length) };
    const pieces = [film.subarray(0, PART_BYTES + 100)];
    expect((await tus.breakOff(tus.all, null, pieces, length)).status).toBe(400);
    expect((await client.json("GET", tus.all)).total).toBe(0);
  });
});

describe("a request that comes while an older one hasn't noticed that its client is gone", () => {
  /** A body that goes on when it is told to. */
  function slowBody() {
    let controller: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
    return {
      body,
      send: (bytes: Uint8Array) => controller.enqueue(bytes),
      end: () => controller.close(),
    };
  }

  /** One that has sent more than a part of a film of three, and goes on. */
  async function beginSlowly() {
    const film = await longFilm(3 * PART_BYTES);
    const path = await tus.begin(film.length);
    const slow = slowBody();
    const older = tus.patch(path, 0, slow.body);
    slow.send(film.subarray(0, PART_BYTES + 1000));
    await vi.waitUntil(async () => (await tus.offset(path)) === PART_BYTES, { timeout: 10_000 });
    return { film, path, slow, older };
  }

  it("goes on, and the older one stops", async () => {
    const { film, path, slow, older } = await beginSlowly();
    const middle = film.subarray(PART_BYTES, 2 * PART_BYTES);
    expect((await tus.patch(path, PART_BYTES, middle)).status).toBe(204);
    slow.send(crypto.getRandomValues(new Uint8Array(50_000)));
    slow.send(new Uint8Array(PART_BYTES));
    slow.end();
    expect((await older).status).toBe(409);
    expect(await tus.offset(path)).toBe(2 * PART_BYTES);
    expect((await tus.patch(path, 2 * PART_BYTES, film.subarray(2 * PART_BYTES))).status).toBe(204);
    expect(await isStored(await tus.record(path), film)).toBe(true);
    expect(await tails(path)).toBe(0);
  });

  it("from the same place: one of them gets through, whole", async () => {
    const picture = await newPicture();
    const path = await tus.begin(picture.length);
    const all = await Promise.all(Array.from({ length: 4 }, () => tus.patch(path, 0, picture)));
    const statuses = all.map(({ status }) => status);
    expect(statuses.filter((status) => status === 204).length).toBeGreaterThan(0);
    expect(statuses.every((status) => [204, 409].includes(status))).toBe(true);
    const record = await tus.record(path);
    expect(record).toMatchObject({ state: "complete", duplicate: false });
    expect(await isStored(record, picture)).toBe(true);
  });

  it("after the upload was ended: nothing of it comes back", async () => {
    const { film, path, slow, older } = await beginSlowly();
    await tus.send("DELETE", path);
    slow.send(film.subarray(PART_BYTES + 1000));
    slow.end();
    expect((await older).status).toBe(409);
    expect(await tus.offset(path)).toBe("status 404");
    expect(await tails(path)).toBe(0);
  });
});

describe("a Worker that dies when the last byte is in", () => {
  /** An upload that has come whole, and isn't an asset. */
  async function whole(name?: string): Promise<{ path: string; picture: Uint8Array }> {
    const picture = await newPicture(name);
    const path = await tus.begin(picture.length);
    await tus.breakOff(path, 0, [picture]);
    expect(await row(path)).toMatchObject({ became: null, sha256: expect.any(String) });
    return { path, picture };
  }

  it.each<[string, (upload: Upload) => Promise<unknown>]>([
    ["before the parts are one object", async () => undefined],
    ["before the asset is on record", (upload) => completeWhole(env, upload, upload.target!)],
  ])("%s: the next question, the next request or the cron goes on", async (_, stop) => {
    const ways: ((path: string, end: number) => Promise<unknown>)[] = [
      (path) => tus.send("HEAD", path),
      (path, end) => tus.patch(path, end, ""),
      () => sweepAt(Date.now() + UPLOADS.unheardMs + 1000),
    ];
    for (const way of ways) {
      const { path, picture } = await whole();
      await stop(await row(path));
      await way(path, picture.length);
      const upload = await row(path);
      expect(upload.became).toBe(upload.target!.assetId);
      const record = await tus.record(path);
      expect(record).toMatchObject({ state: "complete", duplicate: false });
      expect(await isStored(record, picture)).toBe(true);
    }
  });

  it("before the upload knows of its asset: that stays, and isn't begun again", async () => {
    const { path } = await whole("words.jpg");
    const record = await tus.record(path);
    const { created_at } = await client.settled("a", record);
    await run("UPDATE uploads SET became = NULL WHERE upload_id = ?", idOf(path));
    expect(await tus.record(path)).toMatchObject({ asset_id: record.asset_id, duplicate: false });
    const after = await client.json("GET", `/index/a/image/${record.asset_id}`);
    expect(after).toMatchObject({ state: "ready", created_at });
  });

  it("is asked by many at once: there is one asset", async () => {
    const { path } = await whole();
    const records = await Promise.all(Array.from({ length: 5 }, () => tus.record(path)));
    const ids = new Set(records.map(({ asset_id }) => asset_id));
    expect(ids.size).toBe(1);
    expect(records.every(({ duplicate }) => duplicate === false)).toBe(true);
    const asset = await client.json("GET", `/index/a/image/${[...ids][0]}`);
    expect(asset).toMatchObject({ index_name: "a" });
  });
});

describe("an upload whose time is over", () => {
  it("is gone, and with the next sweep all of it", async () => {
    const film = await longFilm(2 * PART_BYTES);
    const path = await tus.begin(film.length);
    await tus.patch(path, 0, film.subarray(0, PART_BYTES + 100));
    const { target, expiresAt, updatedAt } = await row(path);
    expect(expiresAt - updatedAt).toBe(UPLOADS.idleMs);
    await run("UPDATE uploads SET expires_at = ? WHERE upload_id = ?", Date.now() - 1, idOf(path));
    expect(await tus.offset(path)).toBe("status 410");
    expect((await tus.patch(path, PART_BYTES + 100, "x")).status).toBe(410);
    expect(await tails(path)).toBe(1);
    await sweepAt(Date.now());
    expect(await tus.offset(path)).toBe("status 404");
    expect(await tails(path)).toBe(0);
    const key = sourceKey({ ...(await ownerless()), assetId: target!.assetId });
    const parts = env.MEDIA.resumeMultipartUpload(key, target!.storageId);
    await expect(parts.uploadPart(2, "x")).rejects.toThrow("upload does not exist");
  });

  it("leaves the asset that it became", async () => {
    const picture = await newPicture("words.jpg");
    const path = await tus.begin(picture.length);
    await tus.patch(path, 0, picture);
    const record = await tus.record(path);
    await run("UPDATE uploads SET expires_at = 1 WHERE upload_id = ?", idOf(path));
    await sweepAt(Date.now());
    expect(await tus.offset(path)).toBe("status 404");
    expect(await client.settled("a", record)).toMatchObject({ state: "ready" });
    expect(await isStored(record, picture)).toBe(true);
  });

  it("whose removal was cut off is removed by a later sweep", async () => {
    const path = await tus.begin(2 * PART_BYTES);
    await tus.patch(path, 0, (await newPicture()).subarray(0, 5000));
    await run("UPDATE uploads SET removed_at = 1 WHERE upload_id = ?", idOf(path));
    expect(await tus.offset(path)).toBe("status 404");
    await sweepAt(Date.now());
    expect(await tails(path)).toBe(0);
  });

  it("never has longer than R2 keeps parts", async () => {
    const picture = await newPicture();
    const path = await tus.begin(picture.length);
    const createdAt = Date.now() - UPLOADS.wholeMs + 5000;
    await run("UPDATE uploads SET created_at = ? WHERE upload_id = ?", createdAt, idOf(path));
    await tus.patch(path, 0, picture.subarray(0, 100));
    expect((await row(path)).expiresAt).toBe(createdAt + UPLOADS.wholeMs);
    await tus.send("DELETE", path);
  });
});

async function ownerless(): Promise<{ accountId: AccountId; indexId: IndexId }> {
  const accountId = await env.DB.prepare("SELECT account_id AS id FROM indices WHERE index_id = ?")
    .bind(indexId)
    .first<AccountId>("id");
  return { accountId: accountId!, indexId };
}

it("the index's deletion ends its uploads, also one under way", async () => {
  await client.json("POST", "/index", { json: { index_name: "b" } });
  const own = new TusClient(client, "b");
  const film = await longFilm(3 * PART_BYTES);
  const [open, done] = [await own.begin(film.length), await own.begin(film.length - PART_BYTES)];
  const id = (await env.DB.prepare("SELECT index_id AS id FROM uploads WHERE upload_id = ?")
    .bind(idOf(open))
    .first<string>("id"))!;
  await own.patch(open, 0, film.subarray(0, PART_BYTES + 100));
  await own.breakOff(done, 0, [film.subarray(0, film.length - PART_BYTES)]);
  expect(await holdings(id)).toMatchObject({ uploads: 2, objects: 1 });
  const { job_id } = await client.json("DELETE", "/index/b");
  await client.finished(job_id);
  expect(await holdings(id)).toEqual({});
  const parts = await env.DB.prepare(
    "SELECT COUNT(*) AS n FROM upload_parts WHERE upload_id NOT IN (SELECT upload_id FROM uploads)",
  ).first<number>("n");
  expect(parts).toBe(0);
});
