import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "./client.ts";

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
}, 60_000);

describe("updating an asset", () => {
  const revision = () =>
    env.DB.prepare(
      "SELECT indices.revision FROM indices JOIN assets USING (index_id) WHERE asset_id = ?",
    )
      .bind(video.asset_id)
      .first<number>("revision");

  it("changes title and metadata separately and increments the index revision", async () => {
    const before = await revision();
    const renamed = await client.json("PATCH", path, { json: { title: " Harvest " } });
    expect(renamed).toMatchObject({ title: "Harvest", metadata: { reel: 4 }, state: "ready" });
    const metadata = { reel: 5, place: { town: "Ede" } };
    expect(await client.json("PATCH", path, { json: { metadata } })).toMatchObject({
      title: "Harvest",
      metadata,
    });
    expect(await revision()).toBe(before! + 2);
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
