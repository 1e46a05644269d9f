import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { run } from "../support/store-queries.ts";

let client: Client;
let video: Json;
let words: Json;
let boats: Json;
let segments: Json[];

beforeAll(async () => {
  ({ client, video, words, boats } = await createSampleIndex());
  ({ segments } = await client.json("GET", `/index/trip/video/${video.video_id}/segments`));
});

const search = (json: object) => client.json("POST", "/index/trip/search", { json });
const assetsOf = (result: Json) => result.segments.map(({ asset_id }: Json) => asset_id);
const scoresOf = (result: Json) =>
  result.segments.map(({ asset_id, score }: Json) => [asset_id, score]);

describe("a search with `similar_to`", () => {
  it("an asset finds other assets, and never itself", async () => {
    const assetIds = assetsOf(await search({ similar_to: boats.asset_id }));
    expect(assetIds).not.toContain(boats.asset_id);
    expect(assetIds).toContain(video.asset_id);
  });

  it("a segment doesn't find that segment", async () => {
    const [first] = segments;
    const result = await search({ similar_to: first.segment_id });
    const ids = result.segments.map(({ segment_id }: Json) => segment_id);
    expect(ids).not.toContain(first.segment_id);
    expect(ids.length).toBeGreaterThan(0);
    for (const { score } of result.segments) expect(score).toBeLessThanOrEqual(1);
  });

  it("and a query ranks a segment with the query's term first", async () => {
    const result = await search({ similar_to: boats.asset_id, query: "lantern" });
    expect(result.segments[0].on_screen_text).toMatch(/LANTERN/);
    expect(assetsOf(result)).not.toContain(boats.asset_id);
  });

  it("and an excluded term only removes the hits with that term", async () => {
    const all = await search({ similar_to: boats.asset_id });
    expect(assetsOf(all)).toContain(words.asset_id);
    const expected = all.segments.filter(({ asset_id }: Json) => asset_id !== words.asset_id);
    const remaining = await search({ similar_to: boats.asset_id, query: "-lantern" });
    const toScore = ({ segment_id, score }: Json) => [segment_id, score];
    expect(remaining.segments.map(toScore)).toEqual(expected.map(toScore));
  });

  it("and `modes` returns only the requested asset types", async () => {
    const json = { similar_to: boats.asset_id, modes: ["image"] };
    expect(new Set(assetsOf(await search(json)))).not.toContain(video.asset_id);
  });

  it.each(["failed", "queued"])(
    "an asset that is %s returns no hits, or those of the query alone",
    async (state) => {
      const form = { video_file: await fixture("truncated.mp4") };
      const added = await client.json("POST", "/index/trip/video", { form });
      const { asset_id, error } = await client.waitForAsset("trip", added);
      expect(error.code).toBe("unreadable_container");
      await run("UPDATE assets SET state = ? WHERE asset_id = ?", state, asset_id);
      const query = { excluded: [], corrected: null, hint: null, suggested: null };
      const empty = { segments: [], total: 0, next_cursor: null, calibration: "fitted", query };
      expect(await search({ similar_to: asset_id })).toEqual(empty);
      const withQuery = await search({ similar_to: asset_id, query: "lantern" });
      expect(scoresOf(withQuery)).toEqual(scoresOf(await search({ query: "lantern" })));
    },
  );

  const longestId = `seg_${"X".repeat(26)}`;

  it.each(["seg_nothing", "img_nothing", "x", longestId])(
    "the unknown id %s returns 404",
    async (id) => {
      const json = { similar_to: id };
      const response = await client.send("POST", "/index/trip/search", { json });
      expect(response.status).toBe(404);
      expect(await response.text()).toContain(id);
    },
  );

  it("a text longer than an id returns 422", async () => {
    const json = { similar_to: `${longestId}X` };
    const issues = await client.issues("POST", "/index/trip/search", { json });
    expect(issues).toEqual([[["body", "similar_to"], "string_too_long"]]);
  });

  it("missing and no query returns 422 with all other issues", async () => {
    const issues = await client.issues("POST", "/index/trip/search", { json: { top_k: 0 } });
    expect(issues).toEqual([
      [["body", "top_k"], "greater_than_equal"],
      [["body", "query"], "missing"],
    ]);
  });
});
