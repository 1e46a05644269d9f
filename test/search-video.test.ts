import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { sampleTimes, stretchesOf, within } from "../src/search/clip.ts";
import { type Client, fixture, type Json, newClient } from "./client.ts";
import { errorOf } from "./local/bindings.ts";
import { buildTrip } from "./trip.ts";

const PATH = "/index/trip/search_video";

let client: Client;
let video: Json;
let told: Json;

beforeAll(async () => {
  ({ client, video } = await buildTrip());
  const form = { video_file: await fixture("told.mp4") };
  told = await client.json("POST", "/index/trip/video", { form });
  await client.settled("trip", told);
}, 60_000);

async function searchBy(file: string, fields: Record<string, string> = {}, parameters = "") {
  const form = { video_file: await fixture(file), ...fields };
  return client.json("POST", `${PATH}?${parameters}`, { form });
}

describe("a search by video", () => {
  it("finds the same footage first, and keeps nothing of the clip", async () => {
    const { segments } = await searchBy("clip.mp4");
    expect(segments[0].asset_id).toBe(video.asset_id);
    expect(segments[0].evidence[0]).toMatchObject({ kind: "visual" });
    expect(segments[0].evidence[0].score).toBeGreaterThan(0.9);
    await vi.waitUntil(async () => {
      const { objects } = await env.MEDIA.list();
      return objects.every(({ key }) => !key.startsWith("clips/"));
    });
  });

  it("looks at the region that is asked about", async () => {
    // The second half shows the house that the other film shows all along; the first shows words.
    const isHouse = ({ score, asset_id }: Json) => score > 0.8 && asset_id === told.asset_id;
    const house = await searchBy("clip.mp4", { start_seconds: "3.5", end_seconds: "-1" });
    expect(house.segments.some(isHouse)).toBe(true);
    const words = await searchBy("clip.mp4", { start_seconds: "0", end_seconds: "2.5" });
    expect(words.segments.some(isHouse)).toBe(false);
  });

  it("keeps to the number of hits", async () => {
    expect((await searchBy("clip.mp4", {}, "top_k=1")).segments).toHaveLength(1);
  });

  it("of an empty index answers an empty list", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "empty" } });
    const form = { video_file: await fixture("clip.mp4") };
    const result = await other.json("POST", "/index/empty/search_video", { form });
    expect(result).toEqual({ segments: [], total: 0, next_cursor: null });
  });

  it.each<[string, string | null, Record<string, string>, [string[], string][]]>([
    ["no clip", null, {}, [[["body", "video_file"], "missing"]]],
    ["text for a clip", null, { video_file: "x" }, [[["body", "video_file"], "value_error"]]],
    [
      "no numbers and no clip",
      null,
      { start_seconds: "soon", end_seconds: "-2" },
      [
        [["body", "start_seconds"], "float_parsing"],
        [["body", "end_seconds"], "greater_than_equal"],
        [["body", "video_file"], "missing"],
      ],
    ],
    [
      "an empty region",
      "clip.mp4",
      { start_seconds: "2", end_seconds: "2" },
      [[["body", "end_seconds"], "value_error"]],
    ],
    [
      "a region outside the clip",
      "clip.mp4",
      { start_seconds: "7" },
      [[["body", "end_seconds"], "value_error"]],
    ],
    [
      "a region just past its end",
      "clip.mp4",
      { start_seconds: "6.2", end_seconds: "6.4" },
      [[["body", "end_seconds"], "value_error"]],
    ],
    [
      "a region beyond its end",
      "clip.mp4",
      { end_seconds: "60" },
      [[["body", "end_seconds"], "value_error"]],
    ],
    ["a clip that is cut off", "cut.mp4", {}, [[["body", "video_file"], "value_error"]]],
    ["a codec that can't be decoded", "mpeg4.mp4", {}, [[["body", "video_file"], "value_error"]]],
  ])("is refused with %s", async (_, file, fields, issues) => {
    const form = { ...fields, ...(file && { video_file: await fixture(file) }) };
    expect(await client.issues("POST", PATH, { form })).toEqual(issues);
  });

  it("with a picture is a 415", async () => {
    const form = { video_file: await fixture("words.jpg") };
    expect((await client.send("POST", PATH, { form })).status).toBe(415);
  });
});

describe("a region", () => {
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
      { start: 2, end: 10.4 },
      { start: 2, end: 10 },
    ],
  ])("%j of ten seconds is %j", (asked, region) => {
    expect(within(asked, 10)).toEqual(region);
  });

  it.each([
    { start: 10, end: -1 },
    { start: 4, end: 4 },
    { start: 0, end: 11 },
    { start: 10.2, end: 10.4 },
    { start: 10, end: 10.4 },
  ])("%j is not in ten seconds", async (asked) => {
    const error = await errorOf(Promise.resolve().then(() => within(asked, 10)));
    expect(error).toMatchObject({ code: "bad_request" });
  });

  it.each([
    [0, 1, [0.25, 0.75]],
    [10, 16, [11, 13, 15]],
    [0, 160, [10, 30, 50, 70, 90, 110, 130, 150]],
  ])("from %d to %d is seen at %j", (start, end, times) => {
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
  ])("from %d to %d is looked through at %j", (start, end, stretches) => {
    expect(stretchesOf({ start, end }).map((one) => [one.start, one.end])).toEqual(stretches);
  });
});
