import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { PART_BYTES } from "../../src/config.ts";
import { sourceKey } from "../../src/store/r2/object-keys.ts";
import { Client, type Json, newClient } from "../support/client.ts";
import { assetRefOf } from "../support/store-queries.ts";
import {
  encode,
  createPaddedVideo,
  createUniqueImage,
  OCTETS,
  TusClient,
} from "../support/tus-client.ts";

let client: Client;
let tus: TusClient;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
  tus = new TusClient(client, "a");
});

/** Reads the source file of the asset that an upload became. */
async function readSourceFile(record: Json): Promise<Uint8Array> {
  const object = await env.MEDIA.get(sourceKey(await assetRefOf(record)));
  return object!.bytes();
}

describe("a tus upload", () => {
  it("in three requests becomes a video", async () => {
    const video = await createPaddedVideo(PART_BYTES + 3_000_000, "clip.mp4");
    const metadata = {
      filename: "Höhle.mp4",
      filetype: "video/mp4",
      metadata_str: '{"year":2024}',
    };
    const pairs = Object.entries(metadata).map(([name, value]) => `${name} ${encode(value)}`);
    const path = await tus.createUpload(video.length, { "upload-metadata": pairs.join(",") });
    expect(path).toMatch(/^\/index\/a\/uploads\/upl_[0-9A-Z]{26}$/);
    const steps = [0, 1000, PART_BYTES + 5, video.length];
    for (const [i, from] of steps.slice(0, -1).entries()) {
      expect(await tus.offset(path)).toBe(from);
      const to = steps[i + 1]!;
      const response = await tus.patch(path, from, video.subarray(from, to));
      expect(response.status).toBe(204);
      expect(response.headers.get("upload-offset")).toBe(String(to));
      expect(Date.parse(response.headers.get("upload-expires")!)).toBeGreaterThan(Date.now());
    }
    const head = await tus.send("HEAD", path);
    expect(head.status).toBe(200);
    expect(Object.fromEntries(head.headers)).toMatchObject({
      "tus-resumable": "1.0.0",
      "cache-control": "no-store",
      "upload-length": String(video.length),
      "upload-offset": String(video.length),
      "upload-metadata": pairs.join(","),
    });
    const record = await tus.record(path);
    expect(record).toMatchObject({ state: "complete", duplicate: false, asset_type: "video" });
    expect(await client.waitForAsset("a", record)).toMatchObject({
      state: "ready",
      title: "Höhle.mp4",
      metadata: { year: 2024 },
      content_type: "video/mp4",
      size_bytes: video.length,
      sha256: Buffer.from(await crypto.subtle.digest("SHA-256", video)).toString("hex"),
    });
    expect(Buffer.compare(await readSourceFile(record), video)).toBe(0);
    const { objects } = await env.MEDIA.list({ prefix: "uploads/" });
    expect(objects).toEqual([]);
  });

  it.each([
    ["exactly two parts", 2 * PART_BYTES, [2 * PART_BYTES]],
    ["a part in two chunks", PART_BYTES, [PART_BYTES - 1, 1]],
    ["a byte over a part", PART_BYTES + 1, [PART_BYTES, 1]],
    ["chunks that cross parts", 2 * PART_BYTES + 100, [70, PART_BYTES, PART_BYTES - 3, 33]],
  ])("of %s is stored completely", async (_, size, chunkSizes) => {
    const video = await createPaddedVideo(size);
    const path = await tus.createUpload(size);
    let at = 0;
    for (const chunkSize of chunkSizes) {
      expect((await tus.patch(path, at, video.subarray(at, at + chunkSize))).status).toBe(204);
      at += chunkSize;
    }
    const record = await tus.record(path);
    expect(record).toMatchObject({ state: "complete", duplicate: false });
    expect(Buffer.compare(await readSourceFile(record), video)).toBe(0);
  });

  it("with all bytes in its creation request becomes an image", async () => {
    const bytes = await createUniqueImage("words.jpg");
    const response = await tus.create({ "upload-length": String(bytes.length) }, bytes);
    expect(response.status).toBe(201);
    expect(response.headers.get("upload-offset")).toBe(String(bytes.length));
    const path = new URL(response.headers.get("location")!).pathname;
    const record = await tus.record(path);
    expect(record).toMatchObject({ state: "complete", asset_type: "image" });
    expect(await client.waitForAsset("a", record)).toMatchObject({ state: "ready" });
  });

  it("of bytes that the index already has becomes that asset", async () => {
    const bytes = await createUniqueImage();
    const first = await tus.createUpload(bytes.length);
    await tus.patch(first, 0, bytes);
    const second = await tus.createUpload(bytes.length);
    await tus.patch(second, 0, bytes);
    const [original, duplicate] = [await tus.record(first), await tus.record(second)];
    expect(original).toMatchObject({ state: "complete", duplicate: false });
    expect(duplicate).toMatchObject({
      state: "complete",
      duplicate: true,
      asset_id: original.asset_id,
    });
    const form = { image_file: new File([bytes], "a.jpg") };
    const third = await client.json("POST", "/index/a/image", { form });
    expect(third).toMatchObject({ duplicate: true, asset_id: original.asset_id });
  });

  it("is deleted by DELETE", async () => {
    const path = await tus.createUpload(PART_BYTES * 2);
    const video = await createPaddedVideo(PART_BYTES * 2);
    await tus.patch(path, 0, video.subarray(0, PART_BYTES + 9));
    expect((await tus.send("DELETE", path)).status).toBe(204);
    expect(await tus.offset(path)).toBe("status 404");
    expect((await tus.patch(path, PART_BYTES + 9, video.subarray(PART_BYTES + 9))).status).toBe(
      404,
    );
    expect((await env.MEDIA.list({ prefix: "uploads/" })).objects).toEqual([]);
  });

  it("is listed while it is open", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "b" } });
    const otherTus = new TusClient(other, "b");
    const paths = [
      await otherTus.createUpload(10),
      await otherTus.createUpload(20),
      await otherTus.createUpload(30),
    ];
    const page = await other.json("GET", "/index/b/uploads?limit=2");
    expect(page).toMatchObject({ total: 3, uploads: [{ length: 10 }, { length: 20 }] });
    const rest = await other.json("GET", `/index/b/uploads?limit=2&cursor=${page.next_cursor}`);
    expect(rest).toMatchObject({ uploads: [{ length: 30, state: "open" }], next_cursor: null });
    await otherTus.send("DELETE", paths[0]!);
    expect((await other.json("GET", "/index/b/uploads")).total).toBe(2);
  });

  it("accepts POST with X-HTTP-Method-Override for PATCH and DELETE", async () => {
    const bytes = await createUniqueImage();
    const path = await tus.createUpload(bytes.length);
    const override = (method: string, offset: number, body?: Uint8Array<ArrayBuffer>) =>
      tus.send("POST", path, {
        headers: {
          "x-http-method-override": method,
          "upload-offset": String(offset),
          ...(body && { "content-type": OCTETS }),
        },
        ...(body && { body }),
      });
    expect((await override("PATCH", 0, bytes.subarray(0, 99))).status).toBe(204);
    expect(await tus.offset(path)).toBe(99);
    expect((await override("PUT", 99, bytes.subarray(99))).status).toBe(405);
    expect((await override("DELETE", 0)).status).toBe(204);
    expect(await tus.offset(path)).toBe("status 404");
  });
});

it("OPTIONS with another tus version returns the supported one", async () => {
  const headers = { "tus-resumable": "0.2.2" };
  const response = await new Client("").send("OPTIONS", tus.uploadsPath, { headers });
  expect(response.status).toBe(204);
  expect(response.headers.get("tus-version")).toBe("1.0.0");
});

it.each(["HEAD", "PATCH", "DELETE", "POST"])(
  "a request without Tus-Resumable returns 412 to %s, and changes nothing",
  async (method) => {
    const path = await tus.createUpload(1000);
    const headers = {
      "upload-offset": "0",
      "content-type": OCTETS,
      "x-http-method-override": "DELETE",
    };
    const body = method === "PATCH" ? { body: "four" } : {};
    const response = await client.send(method, path, { headers, ...body });
    expect(response.status).toBe(412);
    expect(response.headers.get("tus-version")).toBe("1.0.0");
    expect(await tus.offset(path)).toBe(0);
  },
);
