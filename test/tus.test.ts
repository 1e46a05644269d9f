import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { PART_BYTES } from "../src/config.ts";
import { sourceKey } from "../src/store/media.ts";
import { type Client, type Json, newClient } from "./client.ts";
import { ownerOf } from "./stores.ts";
import { encode, longFilm, newPicture, OCTETS, TusClient } from "./tus-client.ts";

let client: Client;
let tus: TusClient;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "a" } });
  tus = new TusClient(client, "a");
});

/** What is stored of the asset that an upload became. */
async function stored(record: Json): Promise<Uint8Array> {
  const object = await env.MEDIA.get(sourceKey(await ownerOf(record)));
  return object!.bytes();
}

describe("an upload", () => {
  it("comes in three requests and becomes a video", async () => {
    const film = await longFilm(PART_BYTES + 3_000_000, "clip.mp4");
    const metadata = {
      filename: "Höhle.mp4",
      filetype: "video/mp4",
      metadata_str: '{"year":2024}',
    };
    const described = Object.entries(metadata).map(([name, value]) => `${name} ${encode(value)}`);
    const path = await tus.begin(film.length, { "upload-metadata": described.join(",") });
    expect(path).toMatch(/^\/index\/a\/uploads\/upl_[0-9A-Z]{26}$/);
    const steps = [0, 1000, PART_BYTES + 5, film.length];
    for (const [i, from] of steps.slice(0, -1).entries()) {
      expect(await tus.offset(path)).toBe(from);
      const to = steps[i + 1]!;
      const response = await tus.patch(path, from, film.subarray(from, to));
      expect(response.status).toBe(204);
      expect(response.headers.get("upload-offset")).toBe(String(to));
      expect(Date.parse(response.headers.get("upload-expires")!)).toBeGreaterThan(Date.now());
    }
    const head = await tus.send("HEAD", path);
    expect(head.status).toBe(200);
    expect(Object.fromEntries(head.headers)).toMatchObject({
      "tus-resumable": "1.0.0",
      "cache-control": "no-store",
      "upload-length": String(film.length),
      "upload-offset": String(film.length),
      "upload-metadata": described.join(","),
    });
    const record = await tus.record(path);
    expect(record).toMatchObject({ state: "complete", duplicate: false, asset_type: "video" });
    expect(await client.settled("a", record)).toMatchObject({
      state: "ready",
      title: "Höhle.mp4",
      metadata: { year: 2024 },
      content_type: "video/mp4",
      size_bytes: film.length,
      sha256: Buffer.from(await crypto.subtle.digest("SHA-256", film)).toString("hex"),
    });
    expect(Buffer.compare(await stored(record), film)).toBe(0);
    const { objects } = await env.MEDIA.list({ prefix: "uploads/" });
    expect(objects).toEqual([]);
  }, 120_000);

  it.each([
    ["exactly two parts", 2 * PART_BYTES, [2 * PART_BYTES]],
    ["a part in pieces", PART_BYTES, [PART_BYTES - 1, 1]],
    ["a byte over a part", PART_BYTES + 1, [PART_BYTES, 1]],
    ["pieces that lie across parts", 2 * PART_BYTES + 100, [70, PART_BYTES, PART_BYTES - 3, 33]],
  ])("of %s is whole", async (_, size, pieces) => {
    const film = await longFilm(size);
    const path = await tus.begin(size);
    let at = 0;
    for (const piece of pieces) {
      expect((await tus.patch(path, at, film.subarray(at, at + piece))).status).toBe(204);
      at += piece;
    }
    const record = await tus.record(path);
    expect(record).toMatchObject({ state: "complete", duplicate: false });
    expect(Buffer.compare(await stored(record), film)).toBe(0);
  });

  it("comes with its creation", async () => {
    const bytes = await newPicture("words.jpg");
    const response = await tus.create({ "upload-length": String(bytes.length) }, bytes);
    expect(response.status).toBe(201);
    expect(response.headers.get("upload-offset")).toBe(String(bytes.length));
    const path = new URL(response.headers.get("location")!).pathname;
    const record = await tus.record(path);
    expect(record).toMatchObject({ state: "complete", asset_type: "image" });
    expect(await client.settled("a", record)).toMatchObject({ state: "ready" });
  });

  it("tells its length later", async () => {
    const bytes = await newPicture();
    const created = await tus.create({ "upload-defer-length": "1" }, bytes.subarray(0, 5000));
    const path = new URL(created.headers.get("location")!).pathname;
    const head = await tus.send("HEAD", path);
    expect(head.headers.get("upload-defer-length")).toBe("1");
    expect(head.headers.get("upload-length")).toBeNull();
    const length = { "upload-length": String(bytes.length) };
    expect((await tus.patch(path, 5000, bytes.subarray(5000), length)).status).toBe(204);
    expect(await tus.record(path)).toMatchObject({ state: "complete", length: bytes.length });
  });

  it("tells its length when all has come", async () => {
    const bytes = await newPicture();
    const created = await tus.create({ "upload-defer-length": "1" }, bytes);
    const path = new URL(created.headers.get("location")!).pathname;
    expect(await tus.record(path)).toMatchObject({ state: "open", offset: bytes.length });
    const shorter = { "upload-length": String(bytes.length - 1) };
    expect((await tus.patch(path, bytes.length, "", shorter)).status).toBe(409);
    const length = { "upload-length": String(bytes.length) };
    expect((await tus.patch(path, bytes.length, "", length)).status).toBe(204);
    const record = await tus.record(path);
    expect(record).toMatchObject({ state: "complete" });
    expect(Buffer.compare(await stored(record), bytes)).toBe(0);
  });

  it("of bytes that the index has is that asset", async () => {
    const bytes = await newPicture();
    const first = await tus.begin(bytes.length);
    await tus.patch(first, 0, bytes);
    const second = await tus.begin(bytes.length);
    await tus.patch(second, 0, bytes);
    const [one, other] = [await tus.record(first), await tus.record(second)];
    expect(one).toMatchObject({ state: "complete", duplicate: false });
    expect(other).toMatchObject({ state: "complete", duplicate: true, asset_id: one.asset_id });
    const form = { image_file: new File([bytes], "a.jpg") };
    const third = await client.json("POST", "/index/a/image", { form });
    expect(third).toMatchObject({ duplicate: true, asset_id: one.asset_id });
  });

  it("is ended by DELETE", async () => {
    const path = await tus.begin(PART_BYTES * 2);
    const film = await longFilm(PART_BYTES * 2);
    await tus.patch(path, 0, film.subarray(0, PART_BYTES + 9));
    expect((await tus.send("DELETE", path)).status).toBe(204);
    expect(await tus.offset(path)).toBe("status 404");
    expect((await tus.patch(path, PART_BYTES + 9, film.subarray(PART_BYTES + 9))).status).toBe(404);
    expect((await env.MEDIA.list({ prefix: "uploads/" })).objects).toEqual([]);
  });

  it("is listed while it is open", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "b" } });
    const own = new TusClient(other, "b");
    const paths = [await own.begin(10), await own.begin(20), await own.begin(30)];
    const page = await other.json("GET", "/index/b/uploads?limit=2");
    expect(page).toMatchObject({ total: 3, uploads: [{ length: 10 }, { length: 20 }] });
    const rest = await other.json("GET", `/index/b/uploads?limit=2&cursor=${page.next_cursor}`);
    expect(rest).toMatchObject({ uploads: [{ length: 30, state: "open" }], next_cursor: null });
    await own.send("DELETE", paths[0]!);
    expect((await other.json("GET", "/index/b/uploads")).total).toBe(2);
  });

  it("goes on by POST where a client can't send PATCH", async () => {
    const bytes = await newPicture();
    const path = await tus.begin(bytes.length);
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
    expect((await override("PUT", 99, bytes.subarray(99))).status).toBe(400);
    expect((await override("DELETE", 0)).status).toBe(204);
    expect(await tus.offset(path)).toBe("status 404");
  });
});
