import { beforeAll, describe, expect, it } from "vitest";
import { Client, fixture, type Json } from "./client.ts";
import { buildTrip } from "./trip.ts";

let client: Client;
let video: Json;

beforeAll(async () => {
  ({ client, video } = await buildTrip());
}, 60_000);

describe("media URLs", () => {
  it("give the bytes without a key, whole or in part", async () => {
    const { segments } = await client.json("POST", "/index/trip/search", {
      json: { query: "goat" },
    });
    const bare = new Client("");
    const { pathname, hash } = new URL(segments[0].clip_url);
    expect(hash).toMatch(/^#t=3,6/);
    const file = await fixture("clip.mp4");
    const whole = await bare.send("GET", pathname);
    expect(whole.status).toBe(200);
    expect(whole.headers.get("content-type")).toBe("video/mp4");
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(
      new Uint8Array(await file.arrayBuffer()),
    );

    const part = await bare.send("GET", pathname, { headers: { range: "bytes=10-19" } });
    expect(part.status).toBe(206);
    expect(part.headers.get("content-range")).toBe(`bytes 10-19/${file.size}`);
    expect((await part.arrayBuffer()).byteLength).toBe(10);
    const tail = await bare.send("GET", pathname, { headers: { range: "bytes=-5" } });
    expect(tail.headers.get("content-range")).toBe(
      `bytes ${file.size - 5}-${file.size - 1}/${file.size}`,
    );
    await tail.arrayBuffer();
    const beyond = await bare.send("GET", pathname, { headers: { range: `bytes=${file.size}-` } });
    expect(beyond.status).toBe(416);
    expect(beyond.headers.get("content-range")).toBe(`bytes */${file.size}`);

    const stale = { range: "bytes=0-9", "if-range": '"other"' };
    expect((await bare.send("GET", pathname, { headers: stale })).status).toBe(200);

    const etag = whole.headers.get("etag")!;
    const same = await bare.send("GET", pathname, { headers: { "if-none-match": etag } });
    expect(same.status).toBe(304);
    const head = await bare.send("HEAD", pathname);
    expect(head.headers.get("content-length")).toBe(String(file.size));
    expect(await head.text()).toBe("");
  });

  it("show a JPEG for every hit", async () => {
    const json = { query: "lantern goat boat" };
    const { segments } = await client.json("POST", "/index/trip/search", { json });
    for (const { thumbnail_url } of segments) {
      const response = await client.send("GET", new URL(thumbnail_url).pathname);
      expect(response.headers.get("content-type")).toBe("image/jpeg");
      const [a, b] = new Uint8Array(await response.arrayBuffer());
      expect([a, b]).toEqual([0xff, 0xd8]);
    }
  });

  it("lead nowhere when they are changed", async () => {
    const { pathname } = new URL(video.media_url);
    const broken = pathname.replace(/\.[\w-]{5}/, ".AAAAA");
    expect((await client.send("GET", broken)).status).toBe(404);
    expect((await client.send("GET", `/media/${client.key}/x.mp4`)).status).toBe(404);
  });
});
