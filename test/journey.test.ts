import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, fixtureUrl, type Json, newClient } from "./client.ts";
import { answered, OPERATIONS } from "./contract.ts";

const SRT = `1
00:00:00,000 --> 00:00:03,000
Welcome to the lighthouse.

2
00:00:03,000 --> 00:00:06,000
The keeper lives here with two goats.
`;

let client: Client;
let video: Json;
let words: Json;
let boats: Json;

beforeAll(async () => {
  client = await newClient();
  const created = await client.json("POST", "/init", { json: { name: "Ada" } });
  expect(created).toMatchObject({ name: "Ada", created: true });
  await client.json("POST", "/index", { json: { index_name: "trip", metadata: { year: 2026 } } });
  video = await client.json("POST", "/index/trip/video", {
    form: {
      metadata_str: '{"camera": "A"}',
      transcript: new File([SRT], "clip.srt"),
      video_file: await fixture("clip.mp4"),
    },
  });
  const form = { image_file: await fixture("words.jpg") };
  words = await client.json("POST", "/index/trip/image", { form });
  const url = encodeURIComponent(fixtureUrl("boats.jpg"));
  boats = await client.json("POST", `/index/trip/image?image_url=${url}`);
  await Promise.all([video, words, boats].map((asset) => client.settled("trip", asset)));
}, 60_000);

describe("an account", () => {
  it("is made once, whatever comes first", async () => {
    const again = await client.json("POST", "/init");
    expect(again).toMatchObject({
      name: "Ada",
      created: false,
      scopes: ["read", "write", "admin"],
    });
    const other = await newClient();
    await other.json("GET", "/index");
    expect(await other.json("POST", "/init")).toMatchObject({ created: false });
  });
});

describe("a video", () => {
  it("answers its upload with a queued asset and a job", () => {
    expect(video).toMatchObject({
      asset_type: "video",
      state: "queued",
      progress: 0,
      title: "clip.mp4",
      duplicate: false,
      metadata: { camera: "A" },
      source: { kind: "upload" },
      content_type: "video/mp4",
    });
    expect(video.video_id).toBe(video.asset_id);
  });

  it("knows what it is when it is ready", async () => {
    const record = await client.json("GET", `/index/trip/video/${video.video_id}`);
    expect(record).toMatchObject({
      state: "ready",
      progress: 1,
      error: null,
      warnings: [],
      width: 320,
      height: 180,
      fps: 10,
      has_audio: true,
      segments: 1,
      transcript: { source: "upload", cues: 2 },
    });
    expect(record.duration_seconds).toBeCloseTo(6, 1);
    const metadata = await client.json("GET", `/index/trip/video/${video.video_id}/metadata`);
    expect(metadata).toMatchObject({
      metadata: { camera: "A" },
      technical: { video_codec: "avc", audio_codec: "aac", rotation: 0, container: "MP4" },
    });
  });

  it("has segments that end with it", async () => {
    const { segments } = await client.json("GET", `/index/trip/video/${video.video_id}/segments`);
    expect(segments).toHaveLength(1);
    expect(segments[0]).toMatchObject({
      start_seconds: 0,
      transcript: "Welcome to the lighthouse. The keeper lives here with two goats.",
    });
    expect(segments[0].end_seconds).toBeCloseTo(6, 1);
  });

  it("shows its end on its job", async () => {
    expect(await client.json("GET", `/jobs/${video.job_id}`)).toMatchObject({
      kind: "ingest",
      state: "succeeded",
      progress: 1,
      result: { asset_id: video.asset_id, asset_type: "video" },
    });
    const { jobs, total } = await client.json("GET", "/jobs?limit=2");
    expect(jobs).toHaveLength(2);
    expect(total).toBe(3);
  });
});

describe("the same bytes again", () => {
  it("give the asset that is there, and store nothing", async () => {
    const form = { image_file: await fixture("words.jpg") };
    const again = await client.json("POST", "/index/trip/image", { form });
    expect(again).toMatchObject({ asset_id: words.asset_id, duplicate: true, state: "ready" });
    const { index } = await client.json("GET", "/index/trip");
    expect(index.counts).toEqual({ videos: 1, images: 2, segments: 3 });
  });

  it("from a URL end as a failure that names the asset", async () => {
    const url = encodeURIComponent(fixtureUrl("words.jpg"));
    await client.json("POST", "/index", { json: { index_name: "twins" } });
    const first = await client.json("POST", `/index/twins/image?image_url=${url}`);
    await client.settled("twins", first);
    const second = await client.json("POST", `/index/twins/image?image_url=${url}`);
    const failed = await client.settled("twins", second);
    expect(failed.error.code).toBe("duplicate_bytes");
    expect(failed.error.message).toContain(first.asset_id);
  });
});

describe("search", () => {
  const search = (json: object) => client.json("POST", "/index/trip/search", { json });

  it.each<[string, () => Json, string, RegExp]>([
    ["goat", () => video, "speech", /<mark>goats<\/mark>/],
    ["lantern", () => words, "text", /<mark>LANTERN<\/mark>/i],
    ["boat", () => boats, "visual", /<mark>boat<\/mark>/],
  ])("finds %s first, and says why", async (query, expected, kind, text) => {
    const { segments } = await search({ query });
    expect(segments[0]).toMatchObject({ asset_id: expected().asset_id, rank: 1 });
    const evidence = segments[0].evidence.find((piece: Json) => piece.kind === kind);
    expect(evidence.text).toMatch(text);
    const scores = segments.map(({ score }: Json) => score);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
  });

  it("shows where it is seen, when asked", async () => {
    const [first] = (await search({ query: "boats", use_boxes: true })).segments;
    expect(first.boxes.length).toBeGreaterThan(0);
    for (const box of first.boxes) expect(box.label).toBe("boat");
    expect((await search({ query: "boats" })).segments[0].boxes).toBeNull();
  });

  it("keeps to the assets, the kinds and the evidence asked for", async () => {
    const ids = async (json: object) =>
      (await search({ query: "lantern goat boat", ...json })).segments.map((s: Json) => s.asset_id);
    expect(new Set(await ids({}))).toEqual(
      new Set([video, words, boats].map(({ asset_id }) => asset_id)),
    );
    expect(await ids({ asset_ids: [words.asset_id] })).toEqual([words.asset_id]);
    expect(await ids({ modes: ["video"] })).toEqual([video.asset_id]);
    expect(await ids({ modes: ["speech"] })).toEqual([video.asset_id]);
    expect(await ids({ top_k: 1 })).toHaveLength(1);
    expect(await ids({ top_p: 1, modes: ["video"] })).toEqual([video.asset_id]);
  });

  it("pages through all there is, each hit once", async () => {
    const seen = [];
    let cursor: string | undefined;
    do {
      const page = await search({ query: "lantern goat boat", top_k: 1, cursor });
      expect(page.total).toBe(3);
      seen.push(...page.segments.map((s: Json) => [s.rank, s.segment_id]));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(seen.map(([rank]) => rank)).toEqual([1, 2, 3]);
    expect(new Set(seen.map(([, id]) => id)).size).toBe(3);
  });

  it("answers an empty list for an index with nothing ready", async () => {
    await client.json("POST", "/index", { json: { index_name: "empty" } });
    const json = { query: "anything" };
    const result = await client.json("POST", "/index/empty/search", { json });
    expect(result).toEqual({ segments: [], total: 0, next_cursor: null });
  });

  it("takes any text for a query", async () => {
    for (const query of ['"', "NOT", "a* OR (", "東京", "-x", "🙂", "\u0000", "x".repeat(2000)]) {
      await search({ query });
    }
  });
});

describe("media URLs", () => {
  it("give the bytes without a key, whole or in part", async () => {
    const { segments } = await client.json("POST", "/index/trip/search", {
      json: { query: "goat" },
    });
    const bare = new (client.constructor as typeof Client)("");
    const { pathname, hash } = new URL(segments[0].clip_url);
    expect(hash).toMatch(/^#t=0,6/);
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

describe("an answer", () => {
  it("quotes the moment that says it", async () => {
    const query = encodeURIComponent("Who lives with the goats?");
    const answer = await client.json("GET", `/index/trip/answer?query=${query}`);
    expect(answer).toMatchObject({
      answer: "The keeper lives here with two goats. [1]",
      grounded: true,
      model: "extractive",
      usage: { input_tokens: 0, output_tokens: 0 },
    });
    expect(answer.citations).toHaveLength(1);
    expect(answer.citations[0]).toMatchObject({ marker: 1, video_id: video.video_id });
  });

  it("says so when the index doesn't", async () => {
    const query = encodeURIComponent("What is the capital gains tax in Norway?");
    const answer = await client.json("GET", `/index/trip/answer?query=${query}`);
    expect(answer).toMatchObject({ grounded: false, citations: [] });
    expect(answer.answer).toMatch(/Nothing in this index/);
  });
});

describe("lists and sums", () => {
  it("agree", async () => {
    const { assets, index } = await client.json("GET", "/index/trip");
    expect(assets).toHaveLength(3);
    const { videos } = await client.json("GET", "/index/trip/videos");
    const { images } = await client.json("GET", "/index/trip/images?limit=1");
    expect([videos.length, images.length]).toEqual([1, 1]);
    const sizes = assets.reduce((sum: number, asset: Json) => sum + asset.size_bytes, 0);
    expect(index).toMatchObject({
      counts: { videos: 1, images: 2, segments: 3 },
      states: { queued: 0, processing: 0, ready: 3, failed: 0 },
      size_bytes: sizes,
      duration_seconds: videos[0].duration_seconds,
      metadata: { year: 2026 },
    });
  });

  it("are filtered by state and type", async () => {
    expect((await client.json("GET", "/index/trip?type=image")).total).toBe(2);
    expect((await client.json("GET", "/index/trip?state=failed")).assets).toEqual([]);
  });

  it("page by cursor, each item once", async () => {
    const seen: string[] = [];
    let cursor: string | null = "";
    do {
      const more = cursor ? `&cursor=${cursor}` : "";
      const page: Json = await client.json("GET", `/index/trip?limit=1${more}`);
      expect(page.total).toBe(3);
      seen.push(...page.assets.map(({ asset_id }: Json) => asset_id));
      cursor = page.next_cursor;
    } while (cursor);
    expect(seen).toEqual(seen.toSorted());
    expect(seen).toHaveLength(3);
  });

  it("show up in the account's statistics", async () => {
    const { indices } = await client.json("GET", "/index");
    const stats = await client.json("GET", "/stats");
    const sum = (pick: (index: Json) => number) =>
      indices.reduce((total: number, index: Json) => total + pick(index), 0);
    expect(stats).toMatchObject({
      indices: indices.length,
      videos: sum(({ counts }) => counts.videos),
      images: sum(({ counts }) => counts.images),
      segments: sum(({ counts }) => counts.segments),
      size_bytes: sum(({ size_bytes }) => size_bytes),
      states: { ready: sum(({ states }) => states.ready) },
    });
    expect(stats.usage.today.ingested_images).toBeGreaterThanOrEqual(2);
    expect(stats.usage.today.ingested_seconds).toBeCloseTo(6, 1);
    expect(stats.usage.today.searches).toBeGreaterThan(5);
    expect(stats.usage.today.answers).toBe(2);
  });
});

describe("an index", () => {
  it("takes changes and keeps the rest", async () => {
    const patched = await client.json("PATCH", "/index/trip", {
      json: { description: "The coast", settings: { language: "en" } },
    });
    expect(patched).toMatchObject({ description: "The coast", metadata: { year: 2026 } });
    expect(patched.settings).toEqual({ language: "en" });
  });

  it("gets a name when none is given", async () => {
    const { index_name } = await client.json("POST", "/index");
    expect(index_name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
    const named = await client.json("POST", "/index?index_name=by-query");
    expect(named.index_name).toBe("by-query");
  });
});

it("answers 200 on every route of the contract that reads or adds", () => {
  const missing = OPERATIONS.map(({ method, path }) => `${method} ${path}`)
    .filter(
      (operation) => !/^delete|retry|health|GET \/index\/\{index_name\}\/video/.test(operation),
    )
    .filter((operation) => !answered.has(operation));
  expect(missing).toEqual(
    ["get /index/{index_name}/image/{image_id}"].filter((o) => !answered.has(o)),
  );
});
