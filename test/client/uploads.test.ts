import { beforeAll, describe, expect, it } from "vitest";
import {
  type Fetch,
  NotFoundError,
  ServerError,
  type Sightline,
  SightlineError,
} from "../../client/src/index.ts";
import { fixture, uniqueFixture } from "../support/client.ts";
import { createPaddedVideo } from "../support/tus-client.ts";
import { fetchService, newSightline, recordingFetch, refuse } from "./service.ts";

const MB = 1_000_000;
/** More than one request of an upload holds. */
const SIZE = 20 * MB;

let video: File;

beforeAll(async () => {
  video = new File([await createPaddedVideo(SIZE, "clip.mp4")], "Höhle.mp4", {
    type: "video/mp4",
  });
});

async function newIndex(fetch: Fetch = fetchService): Promise<Sightline> {
  const sightline = await newSightline({ fetch });
  await sightline.indices.create({ index_name: "a" });
  return sightline;
}

const isPatch = ({ method }: { method?: string }) => method === "PATCH";

/** Lets the service have the first half of a request, and breaks the connection. */
const breakHalfWay: Fetch = async (url, init) => {
  const body = init.body as Blob;
  await fetchService(url, { ...init, body: body.slice(0, body.size / 2) });
  throw new TypeError("connection lost");
};

describe("a resumable upload", () => {
  it("becomes an asset with its name and metadata, and reports its progress", async () => {
    const { fetch, sent } = recordingFetch();
    const sightline = await newIndex(fetch);
    const progress: number[] = [];
    const asset = await sightline.index("a").upload(video, {
      name: "Höhle.mp4",
      metadata: { year: 2024 },
      onProgress: (bytes, total) => {
        expect(total).toBe(SIZE);
        progress.push(bytes);
      },
    });
    expect(asset).toMatchObject({
      title: "Höhle.mp4",
      metadata: { year: 2024 },
      size_bytes: SIZE,
      duplicate: false,
    });
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress).toContain(16 * 1024 * 1024);
    expect(progress.at(-1)).toBe(SIZE);
    expect(sent.filter(isPatch)).toHaveLength(2);
    const [ready] = await sightline.index("a").waitUntilReady(asset.asset_id);
    expect(ready).toMatchObject({ state: "ready", segments: 2 });
  });

  it("whose connection breaks half-way continues where the service is", async () => {
    let breaks = 1;
    const { fetch, sent } = recordingFetch((url, init) =>
      isPatch(init) && breaks-- > 0 ? breakHalfWay(url, init) : undefined,
    );
    const sightline = await newIndex(fetch);
    const asset = await sightline.index("a").upload(video, { name: "a.mp4" });
    expect(asset).toMatchObject({ size_bytes: SIZE, duplicate: false });
    expect(sent.map(({ method }) => method)).toEqual([
      "POST", // the index
      "POST",
      "PATCH",
      "HEAD",
      "PATCH",
      "GET",
      "GET",
    ]);
    const sizes = sent
      .filter(({ method }) => method === "PATCH")
      .map(({ body }) => (body as Blob).size);
    expect(sizes).toEqual([16 * 1024 * 1024, SIZE - 8 * 1024 * 1024]);
    const digest = await crypto.subtle.digest("SHA-256", await video.arrayBuffer());
    expect(asset.sha256).toBe(Buffer.from(digest).toString("hex"));
  });

  it("whose last response is lost is complete", async () => {
    const image = await uniqueFixture("words.jpg");
    let losses = 1;
    const { fetch, sent } = recordingFetch((url, init) => {
      if (!isPatch(init) || losses-- <= 0) return undefined;
      return fetchService(url, init).then(() => Promise.reject(new TypeError("connection lost")));
    });
    const sightline = await newIndex(fetch);
    const asset = await sightline.index("a").upload(image, { name: "words.jpg" });
    expect(asset).toMatchObject({ asset_type: "image", duplicate: false });
    expect(sent.filter(isPatch)).toHaveLength(1);
    expect((await sightline.index("a").assets()).total).toBe(1);
  });

  it("continues after the service was busy, also for the request of its offset", async () => {
    const busy = ["PATCH", "HEAD"];
    const { fetch, sent } = recordingFetch((url, init) => {
      if (init.method !== busy[0]) return undefined;
      busy.shift();
      return refuse(503)(url, init);
    });
    const sightline = await newIndex(fetch);
    const asset = await sightline
      .index("a")
      .upload(await uniqueFixture("words.jpg"), { name: "words.jpg" });
    expect(asset).toMatchObject({ duplicate: false });
    expect(sent.slice(1).map(({ method }) => method)).toEqual([
      "POST",
      "PATCH",
      "HEAD",
      "HEAD",
      "PATCH",
      "GET",
      "GET",
    ]);
  });

  it("that has failed continues by its URL in another call", async () => {
    let breaks = 1;
    const { fetch } = recordingFetch((url, init) =>
      isPatch(init) && breaks-- > 0 ? breakHalfWay(url, init) : undefined,
    );
    const sightline = await newSightline({ fetch, maxRetries: 0 });
    await sightline.indices.create({ index_name: "a" });
    const index = sightline.index("a");
    const urls: string[] = [];
    const first = index.upload(video, { name: "a.mp4", onUrl: (url) => urls.push(url) });
    await expect(first).rejects.toThrow("connection lost");
    expect(urls).toHaveLength(1);
    const progress: number[] = [];
    const asset = await index.upload(video, {
      name: "a.mp4",
      resumeUrl: urls[0]!,
      onProgress: (bytes) => progress.push(bytes),
    });
    expect(asset).toMatchObject({ size_bytes: SIZE, duplicate: false });
    expect(progress[0]).toBe(8 * 1024 * 1024);
  });

  it("that has failed is listed, and can be deleted", async () => {
    const { fetch } = recordingFetch((url, init) =>
      isPatch(init) ? breakHalfWay(url, init) : undefined,
    );
    const sightline = await newSightline({ fetch, maxRetries: 0 });
    await sightline.indices.create({ index_name: "a" });
    const { uploads } = sightline.index("a");
    await expect(sightline.index("a").upload(video, { name: "a.mp4" })).rejects.toThrow();
    const { items } = await uploads.list();
    expect(items).toMatchObject([{ filename: "a.mp4", state: "open", offset: 8 * 1024 * 1024 }]);
    expect(await uploads.get(items[0]!.upload_id)).toEqual(items[0]);
    await uploads.delete(items[0]!.upload_id);
    expect((await uploads.list()).total).toBe(0);
  });

  it("by an unknown URL throws a NotFoundError and doesn't start from the beginning", async () => {
    const { fetch, sent } = recordingFetch();
    const sightline = await newIndex(fetch);
    const resumeUrl = "https://elsewhere.example/upl_00000000000000000000000000";
    const upload = sightline.index("a").upload(video, { name: "a.mp4", resumeUrl });
    await expect(upload).rejects.toBeInstanceOf(NotFoundError);
    expect(sent.at(-1)).toMatchObject({
      method: "HEAD",
      path: "/index/a/uploads/upl_00000000000000000000000000",
    });
  });

  it("ends with the reason of its signal", async () => {
    const stop = new AbortController();
    const { fetch, sent } = recordingFetch((_, init) => {
      if (!isPatch(init)) return undefined;
      stop.abort(new Error("enough"));
      return new Promise(() => {});
    });
    const sightline = await newIndex(fetch);
    const options = { name: "a.mp4", signal: stop.signal };
    await expect(sightline.index("a").upload(video, options)).rejects.toThrow("enough");
    expect(sent.filter(isPatch)).toHaveLength(1);
  });

  it("of a file that is neither video nor image throws the error of the service", async () => {
    const sightline = await newIndex();
    const upload = sightline.index("a").upload(new Blob(["hello"]), { name: "a.txt" });
    await expect(upload).rejects.toBeInstanceOf(SightlineError);
    await expect(upload).rejects.toMatchObject({ status: 415 });
  });

  it("of no bytes is created without a request for them, and is refused", async () => {
    const { fetch, sent } = recordingFetch();
    const sightline = await newIndex(fetch);
    const upload = sightline.index("a").upload(new Blob([]), { name: "a.mp4" });
    await expect(upload).rejects.toBeInstanceOf(SightlineError);
    expect(sent.filter(isPatch)).toHaveLength(0);
  });

  it.each([[undefined], ["0"], ["99999999"], ["-1"], ["1e3"]])(
    "whose response has the Upload-Offset %s fails without another request",
    async (offset) => {
      const headers = offset === undefined ? {} : { "Upload-Offset": offset };
      const { fetch, sent } = recordingFetch((_, init) =>
        isPatch(init) ? Promise.resolve(new Response(null, { status: 204, headers })) : undefined,
      );
      const sightline = await newIndex(fetch);
      const upload = sightline.index("a").upload(video, { name: "a.mp4" });
      await expect(upload).rejects.toThrow("didn't say how many bytes it has");
      expect(sent.filter(isPatch)).toHaveLength(1);
    },
  );

  it("isn't continued with a file that is shorter than what the service has", async () => {
    const { fetch, sent } = recordingFetch((url, init) =>
      isPatch(init) ? breakHalfWay(url, init) : undefined,
    );
    const sightline = await newSightline({ fetch, maxRetries: 0 });
    await sightline.indices.create({ index_name: "a" });
    const urls: string[] = [];
    const onUrl = (url: string) => urls.push(url);
    const index = sightline.index("a");
    await expect(index.upload(video, { name: "a.mp4", onUrl })).rejects.toThrow("connection lost");
    const other = index.upload(video.slice(0, MB), { name: "a.mp4", resumeUrl: urls[0]! });
    await expect(other).rejects.toThrow("The upload is of another file");
    expect(sent.filter(isPatch)).toHaveLength(1);
  });

  it("throws the last error after maxRetries breaks without progress", async () => {
    const { fetch, sent } = recordingFetch((url, init) =>
      isPatch(init) ? refuse(503)(url, init) : undefined,
    );
    const sightline = await newSightline({ fetch, maxRetries: 2 });
    await sightline.indices.create({ index_name: "a" });
    const upload = sightline.index("a").upload(video, { name: "a.mp4" });
    await expect(upload).rejects.toBeInstanceOf(ServerError);
    expect(sent.filter(isPatch)).toHaveLength(3);
  });
});

describe("a video added with `resumable`", () => {
  it("gets its transcript when it is ready", async () => {
    const { fetch, sent } = recordingFetch();
    const sightline = await newIndex(fetch);
    const { videos } = sightline.index("a");
    const video_file = await uniqueFixture("clip.mp4");
    const transcript = "1\n00:00:00,000 --> 00:00:03,000\nWelcome to the lighthouse.\n";
    const asset = await videos.add({ video_file, transcript, resumable: true });
    expect(asset).toMatchObject({ state: "ready", title: "clip.mp4", duplicate: false });
    expect(sent.some(({ path }) => path === "/index/a/uploads")).toBe(true);
    const { cues, source } = await videos.transcript(asset.asset_id);
    expect(source).toBe("upload");
    expect(cues.map(({ text }) => text)).toEqual(["Welcome to the lighthouse."]);
  });

  it("is the existing one if the index has its bytes", async () => {
    const sightline = await newIndex();
    const { images } = sightline.index("a");
    const image_file = await fixture("boats.jpg");
    const first = await images.add({ image_file });
    const second = await images.add({ image_file, resumable: true });
    expect(second).toMatchObject({ asset_id: first.asset_id, duplicate: true });
  });
});
