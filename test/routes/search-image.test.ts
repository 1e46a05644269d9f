import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";

const PATH = "/index/trip/search_image";

let client: Client;
let video: Json;
let words: Json;
let boats: Json;

beforeAll(async () => {
  ({ client, video, words, boats } = await createSampleIndex());
});

async function searchBy(file: string, options: { query?: string; parameters?: string } = {}) {
  const form: Record<string, string | Blob> = { image_file: await fixture(file) };
  if (options.query !== undefined) form["query"] = options.query;
  return client.json("POST", `${PATH}?${options.parameters ?? ""}`, { form });
}

describe("a search by image", () => {
  it("ranks the same image first, with visual evidence", async () => {
    const { segments, next_cursor } = await searchBy("boats.jpg");
    expect(segments[0]).toMatchObject({ asset_id: boats.asset_id, rank: 1 });
    expect(segments[0].score).toBeGreaterThan(0.8);
    expect(segments[0].evidence[0]).toMatchObject({ kind: "visual" });
    expect(segments[0].evidence[0].score).toBeGreaterThan(0.9);
    for (const { score } of segments.slice(1)) expect(score).toBeLessThan(0.5);
    expect(next_cursor).toBeNull();
  });

  it("returns hits for an image that isn't in the index", async () => {
    const { segments } = await searchBy("rotated.jpg"); // not in the index
    expect(segments.length).toBeGreaterThan(0);
    const stored = await searchBy("words.jpg");
    expect(stored.segments[0].asset_id).toBe(words.asset_id);
  });

  it("with a query ranks text matches behind the same image", async () => {
    const { segments } = await searchBy("boats.jpg", { query: "goats" });
    const ids = segments.map(({ asset_id }: Json) => asset_id);
    expect(ids[0]).toBe(boats.asset_id);
    expect(ids[1]).toBe(video.asset_id);
  });

  it("applies `top_k`, `top_p` and `modes`", async () => {
    const one = await searchBy("boats.jpg", { parameters: "top_k=1" });
    expect(one.segments).toHaveLength(1);
    const sure = await searchBy("boats.jpg", { parameters: "top_p=0.8" });
    expect(sure.segments.map(({ asset_id }: Json) => asset_id)).toEqual([boats.asset_id]);
    const videos = await searchBy("boats.jpg", { parameters: "modes=video" });
    for (const { asset_id } of videos.segments) expect(asset_id).toBe(video.asset_id);
  });

  it("applies `filter`, `asset_ids` and `group_by`, and returns 404 for an unknown asset", async () => {
    const idsOf = async (parameters: string) => {
      const { segments } = await searchBy("boats.jpg", { parameters });
      return segments.map(({ asset_id }: Json) => asset_id);
    };
    const filter = encodeURIComponent('{"camera": {"$in": ["A"]}}');
    expect(new Set(await idsOf(`filter=${filter}`))).toEqual(new Set([video.asset_id]));
    expect(await idsOf(`filter=${filter}&group_by=asset`)).toEqual([video.asset_id]);
    const two = `asset_ids=${words.asset_id}&asset_ids=${boats.asset_id}`;
    expect(await idsOf(two)).toEqual([boats.asset_id, words.asset_id]);
    const form = { image_file: await fixture("boats.jpg") };
    const unknown = await client.send("POST", `${PATH}?asset_ids=vid_x`, { form });
    expect(unknown.status).toBe(404);
  });

  it("of an empty index returns an empty list", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "empty" } });
    const form = { image_file: await fixture("boats.jpg") };
    const result = await other.json("POST", "/index/empty/search_image", { form });
    const hint = "There is nothing to find yet: add videos and images.";
    const query = { excluded: [], corrected: null, hint, suggested: null };
    expect(result).toEqual({
      segments: [],
      total: 0,
      next_cursor: null,
      calibration: "fitted",
      query,
    });
  });

  it.each<[string, Record<string, string>, string, [(string | number)[], string][]]>([
    ["no image", { query: "x" }, "", [[["body", "image_file"], "missing"]]],
    [
      "text instead of an image",
      { image_file: "x" },
      "",
      [[["body", "image_file"], "value_error"]],
    ],
    [
      "a long query and no image",
      { query: "x".repeat(2001) },
      "",
      [
        [["body", "query"], "string_too_long"],
        [["body", "image_file"], "missing"],
      ],
    ],
    [
      "an invalid top_k",
      {},
      "top_k=many",
      [
        [["query", "top_k"], "int_parsing"],
        [["body", "image_file"], "missing"],
      ],
    ],
    [
      "a top_k above the limit",
      {},
      "top_k=501",
      [
        [["query", "top_k"], "less_than_equal"],
        [["body", "image_file"], "missing"],
      ],
    ],
    [
      "an invalid top_p",
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
    [
      "an unknown operator in the filter",
      {},
      `filter=${encodeURIComponent('{"year": {"$near": 1}}')}`,
      [
        [["query", "filter", "year", "$near"], "literal_error"],
        [["body", "image_file"], "missing"],
      ],
    ],
    [
      "a filter that isn't JSON",
      {},
      "filter=year",
      [
        [["query", "filter"], "json_invalid"],
        [["body", "image_file"], "missing"],
      ],
    ],
    [
      "a filter in the form",
      { filter: "{}" },
      "",
      [
        [["body", "filter"], "value_error"],
        [["body", "image_file"], "missing"],
      ],
    ],
  ])("with %s returns 422", async (_, form, parameters, issues) => {
    expect(await client.issues("POST", `${PATH}?${parameters}`, { form })).toEqual(issues);
  });

  it("with a truncated image returns 422", async () => {
    const form = { image_file: await fixture("truncated.jpg") };
    const issues = await client.issues("POST", PATH, { form });
    expect(issues).toEqual([[["body", "image_file"], "value_error"]]);
  });

  it("with a video returns 415", async () => {
    const form = { image_file: await fixture("clip.mp4") };
    expect((await client.send("POST", PATH, { form })).status).toBe(415);
  });

  it.each(["mirror", "crop", "grey", "barred", "all"])("finds an edited copy: %s", async (edit) => {
    const { segments } = await searchBy(`boats-${edit}.jpg`);
    expect(segments[0].asset_id).toBe(boats.asset_id);
    expect(segments[0].score).toBeGreaterThan(0.8);
  });

  it("that isn't multipart returns 415", async () => {
    const response = await client.send("POST", PATH, { json: { image_file: "x" } });
    expect(response.status).toBe(415);
  });
});
