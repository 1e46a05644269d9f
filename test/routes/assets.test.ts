import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";

let client: Client;
let video: Json;
let path: string;

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "cuts" } });
  const form = { video_file: await fixture("clip.mp4"), metadata_str: '{"reel":4}' };
  video = await client.json("POST", "/index/cuts/video", { form });
  path = `/index/cuts/video/${video.asset_id}`;
  video = await client.waitForAsset("cuts", video);
});

describe("updating an asset", () => {
  it("changes title and metadata separately", async () => {
    const renamed = await client.json("PATCH", path, { json: { title: " Harvest " } });
    expect(renamed).toMatchObject({ title: "Harvest", metadata: { reel: 4 }, state: "ready" });
    const metadata = { reel: 5, place: { town: "Ede" } };
    expect(await client.json("PATCH", path, { json: { metadata } })).toMatchObject({
      title: "Harvest",
      metadata,
    });
    const filter = { "place.town": "Ede" };
    const found = await client.json("POST", "/index/cuts/search", {
      json: { query: "hello", filter },
    });
    expect(found.segments[0]).toMatchObject({ title: "Harvest", metadata });
  });

  it("returns 422 for an invalid title and metadata, and 404 for an unknown asset", async () => {
    const json = { title: "", metadata: [] };
    expect(await client.issues("PATCH", path, { json })).toEqual([
      [["body", "title"], "string_too_short"],
      [["body", "metadata"], "dict_type"],
    ]);
    expect((await client.send("PATCH", `${path}x`, { json: {} })).status).toBe(404);
  });
});

describe("an edit decision list", () => {
  const edl = async (query = "") => (await client.send("GET", `${path}/edl${query}`)).text();
  const ids = async (): Promise<string[]> => {
    const { segments } = await client.json("GET", `${path}/segments`);
    return segments.map((segment: Json) => segment.segment_id);
  };

  it("has the requested segments in the order of the request, or all segments", async () => {
    const response = await client.send("GET", `${path}/edl`);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("content-disposition")).toContain("Harvest.edl");
    const all = await response.text();
    expect(all.match(/^\d{3} /gm)).toHaveLength(video.segments);
    expect(all).toContain("001  AX       B     C        00:00:00:00 00:00:03:00 01:00:00:00");
    const [first, second] = await ids();
    const reversed = await edl(`?segments=${second},${first}`);
    expect(reversed).toContain("001  AX       B     C        00:00:03:00 00:00:06:00 01:00:00:00");
    expect(await edl(`?segments=${second}&segments=${first}`)).toBe(reversed);
  });

  it("of an unknown segment returns 404 with the segment's id", async () => {
    const response = await client.send("GET", `${path}/edl?segments=seg_nothing`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("seg_nothing");
  });
});

describe("an edit list of a cut list", () => {
  const send = (json: Json) => client.send("POST", "/index/cuts/edl", { json });
  const moment = (start_seconds: number, end_seconds: number) => {
    return { asset_id: video.asset_id, start_seconds, end_seconds };
  };

  it("has the moments in their order, up to the end of their video", async () => {
    const end: number = video.duration_seconds;
    const response = await send({ moments: [moment(2, 2.5), moment(0, end + 100)] });
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("content-disposition")).toContain("cuts.edl");
    const lines = (await response.text()).split("\r\n");
    expect(lines[0]).toBe("TITLE: cuts");
    expect(lines.slice(3, 5)).toEqual([
      expect.stringMatching(/^001 .* 00:00:02:00 00:00:02:05 01:00:00:00 01:00:00:05$/),
      "* FROM CLIP NAME: Harvest",
    ]);
    const [, minutes, seconds] = /^002 .* 00:00:00:00 00:(\d\d):(\d\d):/.exec(lines[5]!)!;
    expect(Number(minutes) * 60 + Number(seconds)).toBe(Math.floor(end));
  });

  it("has the title and the frame rate of the request", async () => {
    const response = await send({ moments: [moment(0, 1)], title: "My cut", fps: 50 });
    expect(response.headers.get("content-disposition")).toContain("My%20cut.edl");
    expect(await response.text()).toMatch(/^TITLE: My cut\r\n[^]* 01:00:00:00 01:00:01:00\r\n/);
  });

  it("of a video that the index lacks returns 404 with its id", async () => {
    for (const id of ["vid_01KATN4B7Y3D5E8GHJ1K2M6P9Q", "img_1", "../..", "' OR 1 --"]) {
      const response = await send({ moments: [moment(0, 1), { ...moment(0, 1), asset_id: id }] });
      expect(response.status).toBe(404);
      expect((await response.json<Json>()).detail).toContain(id);
    }
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "cuts" } });
    const json = { moments: [moment(0, 1)] };
    expect((await other.send("POST", "/index/cuts/edl", { json })).status).toBe(404);
  });

  it.each([
    [{}, [[["body", "moments"], "missing"]]],
    [{ moments: [] }, [[["body", "moments"], "too_short"]]],
    [{ moments: [{ start_seconds: 2, end_seconds: 1 }] }, null],
    [{ moments: [{ start_seconds: 1000, end_seconds: 1001 }] }, null],
  ])("of the invalid list %j returns 422", async (json: Json, expected) => {
    const moments = json.moments?.map((one: Json) => ({ ...one, asset_id: video.asset_id }));
    const issues = await client.issues("POST", "/index/cuts/edl", { json: { moments } });
    const field = json.moments?.[0]?.start_seconds === 2 ? "end_seconds" : "start_seconds";
    expect(issues).toEqual(expected ?? [[["body", "moments", 0, field], "value_error"]]);
  });
});
