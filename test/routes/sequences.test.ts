import { beforeAll, describe, expect, it } from "vitest";
import { captionSegments } from "../support/caption-fixtures.ts";
import { type Client, type Json, newClient, uniqueFixture } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { readPages } from "../support/search-pages.ts";
import { assetRefOf, OF_ASSET, runInIndex } from "../support/store-queries.ts";

const SEQUENCE = ["a boat", "a lighthouse"];
const EMPTY = "the empty sea";

let client: Client;
/** Ids of the assets by name. Each segment lasts a millisecond. */
const ids: Record<string, string> = {};

/** Adds a video or an image of which each segment has a caption. */
async function addCaptioned(name: string, type: "video" | "image", captions: string[]) {
  const file = await uniqueFixture(type === "video" ? "glance.mp4" : "boats.jpg");
  const form = { [`${type}_file`]: file };
  const asset: Json = await client.json("POST", `/index/films/${type}`, { form });
  await client.waitForAsset("films", asset);
  const ref = await assetRefOf(asset);
  await runInIndex(ref, `DELETE FROM segments WHERE ${OF_ASSET}`, ref.assetId);
  await captionSegments(ref, captions);
  ids[name] = ref.assetId;
}

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "films" } });
  await addCaptioned("ordered", "video", ["a boat", EMPTY, "a lighthouse"]);
  await addCaptioned("reversed", "video", ["a lighthouse", EMPTY, "a boat"]);
  await addCaptioned("far", "video", ["a boat", EMPTY, EMPTY, EMPTY, "a lighthouse"]);
  await addCaptioned("together", "video", ["a boat beside a lighthouse", EMPTY]);
  await addCaptioned("image", "image", ["a boat beside a lighthouse"]);
  const pairs = Array.from({ length: 4 }, (_, i) => [`a crane lifts ${i}`, `a train leaves ${i}`]);
  await addCaptioned("port", "video", pairs.flat());
  await addCaptioned("quay", "video", pairs.flat());
});

const search = (json: object): Promise<Json> =>
  client.json("POST", "/index/films/search", { json });
const idsOf = ({ segments }: Json): string[] => segments.map(({ segment_id }: Json) => segment_id);

describe("a search for a sequence", () => {
  it("finds the video with both steps in order and near enough, with the times of all", async () => {
    const { segments, total, calibration } = await search({
      sequence: SEQUENCE,
      within_seconds: 0.002,
    });
    expect(total).toBe(1);
    expect(calibration).toBe("fitted");
    const [hit] = segments;
    expect(hit).toMatchObject({ asset_id: ids["ordered"], rank: 1, start_seconds: 0 });
    expect(hit).toMatchObject({ end_seconds: 0.003, caption: "a boat" });
    expect(hit.clip_url).toMatch(/#t=0,0\.003$/);
    expect(hit.steps).toMatchObject([
      { query: "a boat", similar_to: null, segment: { start_seconds: 0, end_seconds: 0.001 } },
      { query: "a lighthouse", similar_to: null, segment: { end_seconds: 0.003 } },
    ]);
    const [boat, lighthouse] = hit.steps;
    expect(hit.segment_id).toBe(boat.segment.segment_id);
    expect(lighthouse.evidence[0]).toMatchObject({ kind: "caption" });
    expect(lighthouse.evidence[0].text).toContain("<mark>lighthouse</mark>");
    expect(hit.score).toBeCloseTo(boat.score * lighthouse.score, 9);
    expect(hit.score).toBeGreaterThan(0.5);
  });

  it("finds a video with a longer gap if `within_seconds` allows it", async () => {
    const found = await search({ sequence: SEQUENCE });
    const assets = found.segments.map(({ asset_id }: Json) => asset_id);
    expect(new Set(assets)).toEqual(new Set([ids["ordered"], ids["far"]]));
    const exact = await search({ sequence: SEQUENCE, within_seconds: 0.003 });
    expect(exact.total).toBe(2);
  });

  it("finds the reversed order only by reversed steps", async () => {
    const { segments } = await search({ sequence: SEQUENCE.toReversed() });
    expect(segments.map(({ asset_id }: Json) => asset_id)).toEqual([ids["reversed"]]);
  });

  it("takes `top_p`, `asset_ids`, `filter`, `modes` and the modes of a step", async () => {
    const count = async (json: object) => (await search({ sequence: SEQUENCE, ...json })).total;
    expect(await count({ top_p: 0.5 })).toBe(2);
    expect(await count({ top_p: 1 })).toBe(0);
    expect(await count({ asset_ids: [ids["far"]] })).toBe(1);
    expect(await count({ filter: { year: 2024 } })).toBe(0);
    expect(await count({ modes: ["speech"] })).toBe(0);
    expect(await count({ modes: ["image"] })).toBe(0);
    const step = { query: "a boat", modes: ["visual"] };
    expect(await count({ sequence: [step, "a lighthouse"], modes: ["video"] })).toBe(2);
    expect(await count({ sequence: ["a boat", { query: "lighthouse", modes: ["text"] }] })).toBe(0);
    expect(await count({ asset_ids: [ids["image"]] })).toBe(0);
  });

  it("corrects and excludes words in each step, and says so", async () => {
    const misspelled = await search({ sequence: ["a boat", "a lighthuose"] });
    expect(misspelled.total).toBe(2);
    expect(misspelled.query).toMatchObject({
      excluded: [],
      corrected: "a boat, then a lighthouse",
    });
    expect(misspelled.segments[0].steps[1].query).toBe("a lighthouse");
    const written = await search({ sequence: ["a boat", "a lighthuose"], correct: false });
    expect(written).toMatchObject({ total: 0, query: { corrected: null } });
    const without = await search({ sequence: ["crane -lifts", "train"] });
    expect(without).toMatchObject({ total: 0, query: { excluded: ["lifts"] } });
  });

  it("returns every chain once over all pages, in the order of a single page", async () => {
    const sequence = ["crane lifts", "train leaves"];
    const all = await search({ sequence, within_seconds: 0.001 });
    expect(all.total).toBe(8);
    const pages = await readPages((page) =>
      search({ sequence, within_seconds: 0.001, top_k: 3, ...page }),
    );
    expect(pages.map(({ segments }) => segments.length)).toEqual([3, 3, 2]);
    expect(pages.flatMap(idsOf)).toEqual(idsOf(all));
    const ranks = pages.flatMap(({ segments }) => segments.map(({ rank }: Json) => rank));
    expect(ranks).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const used = all.segments.flatMap(({ steps }: Json) =>
      steps.map(({ segment }: Json) => segment.segment_id),
    );
    expect(new Set(used).size).toBe(16);
  });

  it("grouped by asset returns the best chain of each video", async () => {
    const { segments } = await search({ sequence: ["crane", "train"], group_by: "asset" });
    const assets = segments.map(({ asset_id }: Json) => asset_id);
    expect(assets).toHaveLength(2);
    expect(new Set(assets)).toEqual(new Set([ids["port"], ids["quay"]]));
  });

  it("runs as a job with the result of a direct search", async () => {
    const json = { sequence: SEQUENCE, within_seconds: 0.002 };
    const { job_id } = await search({ ...json, queue_job: true });
    const job = await client.waitForJob(job_id);
    expect(job).toMatchObject({ state: "succeeded" });
    const direct = await search(json);
    const withoutUrls = ({ segments }: Json): Json =>
      JSON.parse(JSON.stringify(segments, (key, value) => (key.endsWith("_url") ? null : value)));
    expect(withoutUrls(job.result)).toEqual(withoutUrls(direct));
  });

  it("doesn't skip or repeat a chain if a video of the page before is deleted", async () => {
    const json = { sequence: ["crane", "train"], within_seconds: 0.001 };
    const all = idsOf(await search(json));
    const page = await search({ ...json, top_k: 1 });
    const deleted = page.segments[0].asset_id;
    await client.json("DELETE", `/index/films/video/${deleted}`);
    const next = await search({ ...json, cursor: page.next_cursor });
    expect(idsOf(next)).toEqual(all.filter((id) => !id.startsWith(deleted)));
  });
});

describe("a sequence with an example", () => {
  it("has the segments that are like it as its step; a queued one can't be judged", async () => {
    const sample = await createSampleIndex();
    const json = { sequence: [{ similar_to: sample.boats.asset_id }, "goats"] };
    const { segments } = await sample.client.json("POST", "/index/trip/search", { json });
    expect(segments[0]).toMatchObject({ asset_id: sample.video.asset_id, start_seconds: 0 });
    expect(segments[0].steps).toMatchObject([
      { query: null, similar_to: sample.boats.asset_id },
      { query: "goats", similar_to: null },
    ]);
    const queued = { json: { ...json, queue_job: true } };
    const { job_id: search_id } = await sample.client.json("POST", "/index/trip/search", queued);
    const { result } = await sample.client.waitForJob(search_id);
    expect(result.segments[0].steps).toHaveLength(2);
    const judgment = { search_id, segment_id: segments[0].segment_id, relevant: true };
    const judging = { json: judgment };
    const judged = await sample.client.send("POST", "/index/trip/judgments", judging);
    expect(judged.status).toBe(409);
    const unknown = { sequence: [{ similar_to: "seg_nothing" }, "goats"] };
    const response = await sample.client.send("POST", "/index/trip/search", { json: unknown });
    expect(response.status).toBe(404);
  });
});

describe("an index", () => {
  it.each(["with images only", "without assets"])("%s has no sequences", async (contents) => {
    const account = await newClient();
    await account.json("POST", "/index", { json: { index_name: "photos" } });
    if (contents === "with images only") {
      const form = { image_file: await uniqueFixture("boats.jpg") };
      const image = await account.json("POST", "/index/photos/image", { form });
      await account.waitForAsset("photos", image);
    }
    const json = { sequence: ["boats", "boats"] };
    const found = await account.json("POST", "/index/photos/search", { json });
    expect(found).toMatchObject({ segments: [], total: 0, next_cursor: null });
  });
});

describe("an invalid sequence", () => {
  it.each<[string, object, (string | number)[], string]>([
    ["of one step", { sequence: ["a"] }, ["body", "sequence"], "too_short"],
    ["of six steps", { sequence: "a b c d e f".split(" ") }, ["body", "sequence"], "too_long"],
    ["that is a text", { sequence: "a boat" }, ["body", "sequence"], "list_type"],
    ["beside a query", { sequence: SEQUENCE, query: "x" }, ["body", "sequence"], "value_error"],
    [
      "beside an example",
      { sequence: SEQUENCE, similar_to: "seg_x" },
      ["body", "sequence"],
      "value_error",
    ],
    [
      "beside `more_like`",
      { sequence: SEQUENCE, more_like: ["seg_x"] },
      ["body", "more_like"],
      "value_error",
    ],
    [
      "beside `skipped`",
      { sequence: SEQUENCE, skipped: ["seg_x"] },
      ["body", "skipped"],
      "value_error",
    ],
    ["beside `all`", { sequence: SEQUENCE, all: ["a"] }, ["body", "all"], "value_error"],
    ["beside `none`", { sequence: SEQUENCE, none: ["a"] }, ["body", "none"], "value_error"],
    [
      "with a step without a word",
      { sequence: ["a", "?"] },
      ["body", "sequence", 1],
      "value_error",
    ],
    ["with a number as a step", { sequence: ["a", 5] }, ["body", "sequence", 1], "dict_type"],
    [
      "with a step of nothing",
      { sequence: ["a", { query: null }] },
      ["body", "sequence", 1, "query"],
      "missing",
    ],
    [
      "with a step of two things",
      { sequence: ["a", { query: "b", similar_to: "seg_x" }] },
      ["body", "sequence", 1, "query"],
      "value_error",
    ],
    [
      "within no time",
      { sequence: SEQUENCE, within_seconds: 0 },
      ["body", "within_seconds"],
      "greater_than",
    ],
    [
      "within two hours",
      { sequence: SEQUENCE, within_seconds: 7200 },
      ["body", "within_seconds"],
      "less_than_equal",
    ],
  ])("%s is a 422 at its field", async (_, json, loc, type) => {
    expect(await client.issues("POST", "/index/films/search", { json })).toEqual([[loc, type]]);
  });

  it("with `null` for an absent field of a step is valid", async () => {
    const step = { query: "a boat", similar_to: null, modes: null };
    expect((await search({ sequence: [step, "a lighthouse"] })).total).toBe(2);
  });
});
