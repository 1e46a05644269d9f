import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { sampleTimes, sampledRanges, clipToDuration } from "../../src/search/uploaded-example.ts";
import { errorOf } from "../local/bindings.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { waitUntil } from "../support/wait.ts";

const PATH = "/index/trip/search_video";

let client: Client;
let video: Json;
let speechVideo: Json;

beforeAll(async () => {
  ({ client, video } = await createSampleIndex());
  const form = { video_file: await fixture("speech.mp4") };
  speechVideo = await client.json("POST", "/index/trip/video", { form });
  await client.waitForAsset("trip", speechVideo);
});

async function searchBy(file: string, fields: Record<string, string> = {}, parameters = "") {
  const form = { video_file: await fixture(file), ...fields };
  return client.json("POST", `${PATH}?${parameters}`, { form });
}

describe("a search by video", () => {
  it("ranks the source of the clip first, and deletes the clip", async () => {
    const { segments } = await searchBy("clip.mp4");
    expect(segments[0].asset_id).toBe(video.asset_id);
    expect(segments[0].evidence[0]).toMatchObject({ kind: "visual" });
    expect(segments[0].evidence[0].score).toBeGreaterThan(0.9);
    await waitUntil(async () => {
      const { objects } = await env.MEDIA.list();
      return objects.every(({ key }) => !key.startsWith("clips/"));
    });
  });

  it("searches for the requested time range of the clip", async () => {
    // The second half shows the same house as the other video; the first shows on-screen text.
    const isHouse = ({ score, asset_id }: Json) => score > 0.8 && asset_id === speechVideo.asset_id;
    const house = await searchBy("clip.mp4", { start_seconds: "3.5", end_seconds: "-1" });
    expect(house.segments.some(isHouse)).toBe(true);
    const words = await searchBy("clip.mp4", { start_seconds: "0", end_seconds: "2.5" });
    expect(words.segments.some(isHouse)).toBe(false);
  });

  it("returns at most `top_k` hits", async () => {
    expect((await searchBy("clip.mp4", {}, "top_k=1")).segments).toHaveLength(1);
  });

  it("applies `top_p`, `modes`, `filter`, `asset_ids` and `group_by`, also in a job", async () => {
    const idsOf = ({ segments }: Json) => segments.map(({ asset_id }: Json) => asset_id);
    const search = (parameters: string) => searchBy("clip.mp4", {}, parameters);
    const images = await search("modes=image&top_p=0.5");
    for (const { asset_type, score } of images.segments) {
      expect(asset_type).toBe("image");
      expect(score).toBeGreaterThanOrEqual(0.5);
    }
    const one = await search(`asset_ids=${speechVideo.asset_id}`);
    expect(new Set(idsOf(one))).toEqual(new Set([speechVideo.asset_id]));
    const filter = `filter=${encodeURIComponent('{"camera": "A"}')}&group_by=asset`;
    const { job_id } = await searchBy("clip.mp4", { queue_job: "true" }, filter);
    const { result } = await client.waitForJob(job_id);
    expect(idsOf(result)).toEqual([video.asset_id]);
  });

  it("in an asset that isn't in the index returns 404", async () => {
    const form = { video_file: await fixture("clip.mp4") };
    expect((await client.send("POST", `${PATH}?asset_ids=vid_x`, { form })).status).toBe(404);
  });

  it("of an empty index returns an empty list", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "empty" } });
    const form = { video_file: await fixture("clip.mp4") };
    const hint = "There is nothing to find yet: add videos and images.";
    const result = await other.json("POST", "/index/empty/search_video", { form });
    expect(result).toEqual({
      segments: [],
      total: 0,
      next_cursor: null,
      calibration: "fitted",
      query: { excluded: [], corrected: null, hint, suggested: null },
    });
  });

  it.each<[string, string | null, Record<string, string>, [string[], string][]]>([
    ["no clip", null, {}, [[["body", "video_file"], "missing"]]],
    [
      "text instead of a clip",
      null,
      { video_file: "x" },
      [[["body", "video_file"], "value_error"]],
    ],
    [
      "invalid times and no clip",
      null,
      { start_seconds: "soon", end_seconds: "-2" },
      [
        [["body", "start_seconds"], "float_parsing"],
        [["body", "end_seconds"], "greater_than_equal"],
        [["body", "video_file"], "missing"],
      ],
    ],
    [
      "an empty time range",
      "clip.mp4",
      { start_seconds: "2", end_seconds: "2" },
      [[["body", "end_seconds"], "value_error"]],
    ],
    [
      "a start past the end of the clip",
      "clip.mp4",
      { start_seconds: "7" },
      [[["body", "start_seconds"], "value_error"]],
    ],
    [
      "a time range just after the end of the clip",
      "clip.mp4",
      { start_seconds: "6.2", end_seconds: "6.4" },
      [[["body", "start_seconds"], "value_error"]],
    ],
    [
      "a start past the end of the clip, in a job",
      "clip.mp4",
      { start_seconds: "7", queue_job: "true" },
      [[["body", "start_seconds"], "value_error"]],
    ],
    [
      "an empty time range, in a job",
      "clip.mp4",
      { start_seconds: "2", end_seconds: "1", queue_job: "true" },
      [[["body", "end_seconds"], "value_error"]],
    ],
    ["a truncated clip", "truncated.mp4", {}, [[["body", "video_file"], "value_error"]]],
    ["an undecodable codec", "mpeg4.mp4", {}, [[["body", "video_file"], "value_error"]]],
  ])("with %s returns 422", async (_, file, fields, issues) => {
    const form = { ...fields, ...(file && { video_file: await fixture(file) }) };
    expect(await client.issues("POST", PATH, { form })).toEqual(issues);
  });

  it.each([
    [{ start_seconds: "7.5" }, /start, 7\.5 s, is past the end of the clip, at 6\.\d\d s/],
    [{ start_seconds: "3", end_seconds: "2.5" }, /end, 2\.5 s, isn't after its start, 3 s/],
  ])("with an invalid time range names the value that was sent: %j", async (fields, message) => {
    const form = { ...fields, video_file: await fixture("clip.mp4") };
    const { detail }: Json = await (await client.send("POST", PATH, { form })).json();
    expect(detail[0].msg).toMatch(message);
  });

  it("ends a time range that exceeds the clip at the end of the clip", async () => {
    const { segments } = await searchBy("clip.mp4", { start_seconds: "3.5", end_seconds: "600" });
    expect(segments).toMatchObject(
      (await searchBy("clip.mp4", { start_seconds: "3.5" })).segments.map(
        ({ segment_id, score }: Json) => ({ segment_id, score }),
      ),
    );
  });

  it("with an image returns 415", async () => {
    const form = { video_file: await fixture("words.jpg") };
    expect((await client.send("POST", PATH, { form })).status).toBe(415);
  });
});

describe("a time range of a clip", () => {
  it.each([
    [
      { start: 0, end: -1 },
      { start: 0, end: 10 },
    ],
    [
      { start: 2, end: 4 },
      { start: 2, end: 4 },
    ],
    [
      { start: 2, end: 9000 },
      { start: 2, end: 10 },
    ],
  ])("%j is clipped to ten seconds: %j", (requested, range) => {
    expect(clipToDuration(requested, 10)).toEqual(range);
  });

  it.each([
    { start: 10, end: -1 },
    { start: 10.2, end: 10.4 },
    { start: 11, end: 12 },
  ])("%j starts past the end of a clip of ten seconds", async (requested) => {
    const error = await errorOf(Promise.resolve().then(() => clipToDuration(requested, 10)));
    expect(error).toMatchObject({ code: "bad_request" });
  });

  it.each([
    [0, 1, [0.25, 0.75]],
    [10, 16, [11, 13, 15]],
    [0, 160, [10, 30, 50, 70, 90, 110, 130, 150]],
  ])("from %d to %d s is embedded at %j", (start, end, times) => {
    expect(sampleTimes(start, end)).toEqual(times);
  });

  it.each([
    [3, 99, [[3, 99]]],
    [
      10,
      220,
      [
        [10, 34],
        [72, 96],
        [134, 158],
        [196, 220],
      ],
    ],
  ])("from %d to %d s is sampled in %j", (start, end, ranges) => {
    expect(sampledRanges({ start, end }).map((range) => [range.start, range.end])).toEqual(ranges);
  });
});
