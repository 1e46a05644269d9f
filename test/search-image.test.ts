import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "./client.ts";
import { buildTrip } from "./trip.ts";

const PATH = "/index/trip/search_image";

let client: Client;
let video: Json;
let words: Json;
let boats: Json;

beforeAll(async () => {
  ({ client, video, words, boats } = await buildTrip());
}, 60_000);

async function searchBy(file: string, more: { query?: string; parameters?: string } = {}) {
  const form: Record<string, string | Blob> = { image_file: await fixture(file) };
  if (more.query !== undefined) form["query"] = more.query;
  return client.json("POST", `${PATH}?${more.parameters ?? ""}`, { form });
}

describe("a search by image", () => {
  it("finds the very same picture first, and says that it is it", async () => {
    const { segments, next_cursor } = await searchBy("boats.jpg");
    expect(segments[0]).toMatchObject({ asset_id: boats.asset_id, rank: 1 });
    expect(segments[0].score).toBeGreaterThan(0.8);
    expect(segments[0].evidence[0]).toMatchObject({ kind: "visual" });
    expect(segments[0].evidence[0].score).toBeGreaterThan(0.9);
    for (const { score } of segments.slice(1)) expect(score).toBeLessThan(0.5);
    expect(next_cursor).toBeNull();
  });

  it("finds another of its kind, and doesn't take it for the same", async () => {
    const { segments } = await searchBy("turned.jpg"); // a photograph that isn't in the index as it is
    expect(segments.length).toBeGreaterThan(0);
    const found = await searchBy("words.jpg");
    expect(found.segments[0].asset_id).toBe(words.asset_id);
  });

  it("goes on to what words say", async () => {
    const { segments } = await searchBy("boats.jpg", { query: "goats" });
    const ids = segments.map(({ asset_id }: Json) => asset_id);
    expect(ids[0]).toBe(boats.asset_id);
    expect(ids[1]).toBe(video.asset_id);
  });

  it("keeps to its parameters", async () => {
    const one = await searchBy("boats.jpg", { parameters: "top_k=1" });
    expect(one.segments).toHaveLength(1);
    const sure = await searchBy("boats.jpg", { parameters: "top_p=0.8" });
    expect(sure.segments.map(({ asset_id }: Json) => asset_id)).toEqual([boats.asset_id]);
    const videos = await searchBy("boats.jpg", { parameters: "modes=video" });
    for (const { asset_id } of videos.segments) expect(asset_id).toBe(video.asset_id);
  });

  it("of an empty index answers an empty list", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "empty" } });
    const form = { image_file: await fixture("boats.jpg") };
    const result = await other.json("POST", "/index/empty/search_image", { form });
    expect(result).toEqual({ segments: [], total: 0, next_cursor: null });
  });

  it.each<[string, Record<string, string>, string, [(string | number)[], string][]]>([
    ["no picture", { query: "x" }, "", [[["body", "image_file"], "missing"]]],
    ["text for a picture", { image_file: "x" }, "", [[["body", "image_file"], "value_error"]]],
    [
      "too long a query and no picture",
      { query: "x".repeat(2001) },
      "",
      [
        [["body", "query"], "string_too_long"],
        [["body", "image_file"], "missing"],
      ],
    ],
    [
      "no number of hits",
      {},
      "top_k=many",
      [
        [["query", "top_k"], "int_parsing"],
        [["body", "image_file"], "missing"],
      ],
    ],
    [
      "too many hits",
      {},
      "top_k=501",
      [
        [["query", "top_k"], "less_than_equal"],
        [["body", "image_file"], "missing"],
      ],
    ],
    [
      "no threshold",
      {},
      "top_p=high",
      [
        [["query", "top_p"], "float_parsing"],
        [["body", "image_file"], "missing"],
      ],
    ],
    [
      "an unknown mode",
      {},
      "modes=smell",
      [
        [["query", "modes", 0], "literal_error"],
        [["body", "image_file"], "missing"],
      ],
    ],
  ])("is refused with %s", async (_, form, parameters, issues) => {
    expect(await client.issues("POST", `${PATH}?${parameters}`, { form })).toEqual(issues);
  });

  it("is refused with a picture that is cut off", async () => {
    const form = { image_file: await fixture("cut.jpg") };
    const issues = await client.issues("POST", PATH, { form });
    expect(issues).toEqual([[["body", "image_file"], "value_error"]]);
  });

  it("with a video is a 415", async () => {
    const form = { image_file: await fixture("clip.mp4") };
    expect((await client.send("POST", PATH, { form })).status).toBe(415);
  });

  it.each(["mirror", "crop", "grey", "barred", "all"])(
    "finds a picture that was edited: %s",
    async (edit) => {
      const { segments } = await searchBy(`boats-${edit}.jpg`);
      expect(segments[0].asset_id).toBe(boats.asset_id);
      expect(segments[0].score).toBeGreaterThan(0.8);
    },
  );

  it("that isn't multipart is a 415", async () => {
    const response = await client.send("POST", PATH, { json: { image_file: "x" } });
    expect(response.status).toBe(415);
  });
});
