import { beforeAll, describe, expect, it } from "vitest";
import { readImageSize } from "../../src/media/pixels/image-size.ts";
import { Client, fixture, type Json, newClient } from "../support/client.ts";
import { gif } from "../support/image-headers.ts";
import { createSampleIndex } from "../support/sample-index.ts";

let client: Client;
let video: Json;

beforeAll(async () => {
  ({ client, video } = await createSampleIndex());
});

describe("media URLs", () => {
  it("return the file without a key, whole or a range of it", async () => {
    const { segments } = await client.json("POST", "/index/trip/search", {
      json: { query: "goat" },
    });
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
    const unchanged = await bare.send("GET", pathname, { headers: { "if-none-match": etag } });
    expect(unchanged.status).toBe(304);
    const head = await bare.send("HEAD", pathname);
    expect(head.headers.get("content-length")).toBe(String(file.size));
    expect(await head.text()).toBe("");
  });

  it("return a JPEG thumbnail for every hit", async () => {
    const json = { query: "lantern goat boat" };
    const { segments } = await client.json("POST", "/index/trip/search", { json });
    for (const { thumbnail_url } of segments) {
      const response = await client.send("GET", new URL(thumbnail_url).pathname);
      expect(response.headers.get("content-type")).toBe("image/jpeg");
      const [a, b] = new Uint8Array(await response.arrayBuffer());
      expect([a, b]).toEqual([0xff, 0xd8]);
    }
  });
});

describe("a thumbnail with `?width=320`", () => {
  it("is 320 pixels wide, has an entity tag of its own, and isn't sent again", async () => {
    const { segments } = await client.json("POST", "/index/trip/search", {
      json: { query: "goat" },
    });
    const path = new URL(segments[0].thumbnail_url).pathname;
    const [whole, small] = await Promise.all([
      bare.send("GET", path),
      bare.send("GET", `${path}?width=320`),
    ]);
    expect(small.headers.get("content-type")).toBe("image/jpeg");
    const etag = small.headers.get("etag")!;
    expect(etag).not.toBe(whole.headers.get("etag"));
    const size = readImageSize(await small.bytes())!;
    const wholeSize = readImageSize(await whole.bytes())!;
    expect(size.width).toBe(Math.min(320, wholeSize.width));
    expect(size.height / size.width).toBeCloseTo(wholeSize.height / wholeSize.width, 1);
    const unchanged = await bare.send("GET", `${path}?width=320`, {
      headers: { "if-none-match": etag },
    });
    expect(unchanged.status).toBe(304);
    const other = await bare.send("GET", `${path}?width=100`);
    expect(other.headers.get("etag")).toBe(whole.headers.get("etag"));
    await other.body?.cancel();
  });
});

/** A client without an API key. */
const bare = new Client("");

/** Requests the media URL of the sample index's video. */
async function requestVideo(headers: Record<string, string> = {}, method = "GET", query = "") {
  const response = await bare.send(method, new URL(video.media_url).pathname + query, { headers });
  const size = (await response.clone().arrayBuffer()).byteLength;
  return { response, status: response.status, size, headers: response.headers };
}

describe("a media response", () => {
  it("has headers for its type, for caching, and against script execution", async () => {
    const { response, headers } = await requestVideo();
    expect(Object.fromEntries(headers)).toMatchObject({
      "accept-ranges": "bytes",
      "access-control-allow-origin": "*",
      "cache-control": "private, max-age=3600",
      "content-disposition": `inline; filename="clip.mp4"; filename*=UTF-8''clip.mp4`,
      "content-length": String(video.size_bytes),
      "content-security-policy": expect.stringMatching(/^default-src 'none';.*; sandbox$/),
      "content-type": "video/mp4",
      "cross-origin-resource-policy": "cross-origin",
      etag: expect.stringMatching(/^"[\w-]+"$/),
      "last-modified": expect.stringMatching(/ GMT$/),
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    const exposed = headers.get("access-control-expose-headers")!.split(",");
    for (const name of ["Accept-Ranges", "Content-Length", "Content-Range", "ETag"]) {
      expect(exposed).toContain(name);
    }
    expect(response.url).not.toContain(bare.key || "x-api-key");
  });

  it("with ?download is an attachment", async () => {
    const { headers } = await requestVideo({}, "GET", "?download");
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename="clip\.mp4";/);
  });

  it("has the type of the bytes, whatever the file name in the URL", async () => {
    const base = new URL(video.media_url).pathname.replace(/[^/]+$/, "");
    for (const fileName of [
      "x.html",
      "x.svg",
      "%0d%0aSet-Cookie:%20a=b",
      "%2e%2e%2fx.exe",
      "%ff",
    ]) {
      const response = await bare.send("GET", base + fileName);
      expect(response.headers.get("content-type")).toBe("video/mp4");
      expect(response.headers.get("content-disposition")).toMatch(
        /^inline; filename="[^"]*\.mp4";/,
      );
      expect(response.headers.get("set-cookie")).toBeNull();
      await response.body?.cancel();
    }
  });

  it("to HEAD has the headers of GET, no body, and never a range", async () => {
    for (const range of [{}, { range: "bytes=0-9" }, { range: "bytes=999999999-" }]) {
      const { status, size, headers } = await requestVideo(range, "HEAD");
      expect([status, size]).toEqual([200, 0]);
      expect(headers.get("content-length")).toBe(String(video.size_bytes));
      expect(headers.get("content-range")).toBeNull();
    }
  });

  it("to If-Range is a range only if the file is unchanged", async () => {
    const { headers } = await requestVideo();
    const [etag, modified] = [headers.get("etag")!, headers.get("last-modified")!];
    const range = "bytes=0-9";
    for (const condition of [etag, modified]) {
      expect(await requestVideo({ range, "if-range": condition })).toMatchObject({
        status: 206,
        size: 10,
      });
    }
    for (const condition of ['"other"', `W/${etag}`, "Sat, 21 Nov 2020 08:00:00 GMT"]) {
      const { status, size } = await requestVideo({ range, "if-range": condition });
      expect([status, size]).toEqual([200, video.size_bytes]);
    }
    expect((await requestVideo({ "if-range": etag })).status).toBe(200);
  });

  it("to several ranges or a malformed Range header is the whole file", async () => {
    for (const range of ["bytes=0-1,5-6", "bytes=0-0,0-0,0-0", "lines=0-1", "bytes=9-1", "bytes"]) {
      expect(await requestVideo({ range })).toMatchObject({ status: 200, size: video.size_bytes });
    }
  });

  it("to a range beyond the end of the file is a 416", async () => {
    for (const range of [`bytes=${video.size_bytes}-`, "bytes=-0"]) {
      const { response, status, headers } = await requestVideo({ range });
      expect([status, headers.get("content-range")]).toEqual([416, `bytes */${video.size_bytes}`]);
      expect(await response.json()).toEqual({ detail: expect.stringMatching(/^[A-Z].*\.$/) });
    }
    const range = `bytes=${video.size_bytes - 1}-${video.size_bytes + 9}`;
    expect(await requestVideo({ range })).toMatchObject({ status: 206, size: 1 });
  });

  it("to a conditional request is a 304 for the same ETag and a 412 for another", async () => {
    const { headers } = await requestVideo();
    const [etag, modified] = [headers.get("etag")!, headers.get("last-modified")!];
    for (const method of ["GET", "HEAD"]) {
      for (const condition of [
        { "if-none-match": etag },
        { "if-none-match": `"other", W/${etag}` },
        { "if-none-match": "*" },
        { "if-modified-since": modified },
        { "if-none-match": etag, range: "bytes=0-9" },
      ]) {
        const response = await requestVideo(condition, method);
        expect([response.status, response.size]).toEqual([304, 0]);
        expect(response.headers.get("etag")).toBe(etag);
        expect(response.headers.get("cache-control")).toBe("private, max-age=3600");
      }
    }
    expect((await requestVideo({ "if-none-match": '"other"' })).status).toBe(200);
    expect((await requestVideo({ "if-match": '"other"' })).status).toBe(412);
    expect((await requestVideo({ "if-match": etag })).status).toBe(200);
    const beforeUpload = { "if-unmodified-since": "Sat, 21 Nov 2020 08:00:00 GMT" };
    expect((await requestVideo(beforeUpload)).status).toBe(412);
  });

  it("to a CORS preflight allows Range and If-Range from other origins", async () => {
    const { pathname } = new URL(video.media_url);
    const response = await bare.send("OPTIONS", pathname, {
      headers: {
        origin: "https://player.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "range,if-range",
      },
    });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    const allowed = response.headers.get("access-control-allow-headers")!.split(",");
    expect(allowed).toEqual(expect.arrayContaining(["Range", "If-Range"]));
  });

  it("exists for a video of any title", async () => {
    for (const title of [
      "..",
      ".",
      "/",
      "a/b?c#d.mp4",
      `${"x".repeat(299)}😀`,
      "\u202ea",
      "%",
      "a\r\nb",
    ]) {
      const path = `/index/trip/video/${video.asset_id}`;
      const { media_url } = await client.json("PATCH", path, { json: { title } });
      const response = await bare.send("HEAD", new URL(media_url).pathname);
      expect([title, response.status]).toEqual([title, 200]);
      expect(response.headers.get("content-disposition")).toMatch(
        /^inline; filename="[\w .()-]+";/,
      );
    }
  });

  it("exists for a video of any file name", async () => {
    const [clip, other] = [await fixture("clip.mp4"), await newClient()];
    await other.json("POST", "/index", { json: { index_name: "names" } });
    const form = { video_file: new File([clip], `${"x".repeat(299)}😀.mp4`) };
    const { media_url } = await other.json("POST", "/index/names/video", { form });
    expect((await bare.send("HEAD", new URL(media_url).pathname)).status).toBe(200);
  });
});

describe("a file with active content", () => {
  it.each([
    ["SVG", '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ["SVG with a head", '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
    ["HTML", "<!doctype html><script>alert(1)</script>"],
    ["PDF", "%PDF-1.7"],
  ])("is rejected with a 415: %s", async (_, text) => {
    for (const type of ["image", "video"]) {
      const form = { [`${type}_file`]: new File([text], "a.png", { type: "image/png" }) };
      expect((await client.send("POST", `/index/trip/${type}`, { form })).status).toBe(415);
    }
  });

  it("that is also a GIF is served as a GIF", async () => {
    const form = { image_file: new File([gif(9, 9), "<script>alert(1)</script>"], "a.html") };
    const { media_url } = await client.json("POST", "/index/trip/image", { form });
    const { headers } = await bare.send("HEAD", new URL(media_url).pathname);
    expect(headers.get("content-type")).toBe("image/gif");
    expect(headers.get("content-disposition")).toContain('filename="a.html.gif"');
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });
});
