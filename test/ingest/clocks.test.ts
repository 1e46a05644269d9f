import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

/** Adds a video to an index of its own and waits for the end of its ingest. */
async function ingest(name: string, file: string): Promise<Json> {
  await client.json("POST", "/index", { json: { index_name: name } });
  const form = { video_file: await fixture(file) };
  return client.waitForAsset(name, await client.json("POST", `/index/${name}/video`, { form }));
}

/** Returns start, end and on-screen text of each segment. */
async function listSegments(name: string, asset: Json): Promise<[number, number, string][]> {
  const { segments } = await client.json("GET", `/index/${name}/video/${asset.video_id}/segments`);
  return segments.map((segment: Json) => [
    segment.start_seconds,
    segment.end_seconds,
    segment.on_screen_text,
  ]);
}

describe("a video with a trimmed end", () => {
  it("ends where a player ends it, and what was trimmed isn't found", async () => {
    const asset = await ingest("trimmed", "trimmed.mov");
    expect(asset).toMatchObject({ state: "ready", duration_seconds: 3, warnings: [] });
    const segments = await listSegments("trimmed", asset);
    expect(segments.at(-1)).toEqual([expect.any(Number), 3, ""]);
    const json = { query: "hello", modes: ["text"] };
    expect(await client.json("POST", "/index/trimmed/search", { json })).toMatchObject({
      segments: [],
    });
  });
});

it("a video of two cuts is shown in their order, by its working copy", async () => {
  const asset = await ingest("cuts", "cuts.mov");
  expect(asset).toMatchObject({ state: "ready", duration_seconds: 4, warnings: [] });
  expect(asset.working_copy.reason).toBe("unreadable_container");
  expect(await listSegments("cuts", asset)).toEqual([
    [0, 2, "HELLO"],
    [2, 4, ""],
  ]);
});

describe("two recordings that were joined", () => {
  it("follow one another, each with its shots", async () => {
    const asset = await ingest("joined", "joined.ts");
    expect(asset).toMatchObject({ state: "ready", duration_seconds: 12, warnings: [] });
    expect(await listSegments("joined", asset)).toEqual([
      [0, 3, "HELLO"],
      [3, 6, ""],
      [6, 9, "HELLO"],
      [9, 12, ""],
    ]);
  });

  it("are all heard in a chained Ogg", async () => {
    const asset = await ingest("chained", "chained.ogg");
    expect(asset).toMatchObject({ state: "ready", has_video: false, warnings: [] });
    expect(asset.duration_seconds).toBeCloseTo(18, 0);
    const { waveform } = asset.technical;
    expect(Math.max(...waveform.slice(520))).toBeCloseTo(Math.max(...waveform.slice(0, 480)), 1);
  });
});

describe("a video that was cut off", () => {
  it("is ready without a warning if its container promises nothing", async () => {
    const asset = await ingest("promises-nothing", "cut.ts");
    expect(asset).toMatchObject({ state: "ready", warnings: [] });
    expect(asset.duration_seconds).toBeGreaterThan(3);
    expect(asset.duration_seconds).toBeLessThan(5.5);
    const segments = await listSegments("promises-nothing", asset);
    expect(segments.map(([start]) => start)).toEqual([0, 3]);
    expect(segments.at(-1)![1]).toBe(asset.duration_seconds);
  });

  it.each([
    ["incomplete.mp4", 5.9],
    ["incomplete.avi", 60],
  ])("is ready with a warning that says how much is missing: %s", async (file, seconds) => {
    const asset = await ingest(`without-${file.split(".")[1]}`, file);
    expect(asset.state).toBe("ready");
    expect(asset.duration_seconds).toBeLessThan(seconds);
    const [warning] = asset.warnings;
    expect(warning.code).toBe("incomplete_media");
    expect(warning.message).toMatch(
      /^The file isn't complete: [\d.]+ s \(\d+ bytes\) are missing, from [\d.]+ s on\./,
    );
  });
});
