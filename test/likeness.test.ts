import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json } from "./client.ts";
import { run } from "./stores.ts";
import { buildTrip } from "./trip.ts";

let client: Client;
let video: Json;
let words: Json;
let boats: Json;
let segments: Json[];

beforeAll(async () => {
  ({ client, video, words, boats } = await buildTrip());
  ({ segments } = await client.json("GET", `/index/trip/video/${video.video_id}/segments`));
}, 60_000);

const search = (json: object) => client.json("POST", "/index/trip/search", { json });
const assetsOf = (result: Json) => result.segments.map(({ asset_id }: Json) => asset_id);
const scoresOf = (result: Json) =>
  result.segments.map(({ asset_id, score }: Json) => [asset_id, score]);

describe("what is like", () => {
  it("an asset is everything else, and never itself", async () => {
    const found = assetsOf(await search({ similar_to: boats.asset_id }));
    expect(found).not.toContain(boats.asset_id);
    expect(found).toContain(video.asset_id);
  });

  it("a segment is not that segment", async () => {
    const [first] = segments;
    const result = await search({ similar_to: first.segment_id });
    const ids = result.segments.map(({ segment_id }: Json) => segment_id);
    expect(ids).not.toContain(first.segment_id);
    expect(ids.length).toBeGreaterThan(0);
    for (const { score } of result.segments) expect(score).toBeLessThanOrEqual(1);
  });

  it("something, and has a word in it, has the word first", async () => {
    const result = await search({ similar_to: boats.asset_id, query: "lantern" });
    expect(result.segments[0].on_screen_text).toMatch(/LANTERN/);
    expect(assetsOf(result)).not.toContain(boats.asset_id);
  });

  it("something, but without a word, is as without a query, less what has the word", async () => {
    const all = await search({ similar_to: boats.asset_id });
    expect(assetsOf(all)).toContain(words.asset_id);
    const left = all.segments.filter(({ asset_id }: Json) => asset_id !== words.asset_id);
    const some = await search({ similar_to: boats.asset_id, query: "-lantern" });
    const scored = ({ segment_id, score }: Json) => [segment_id, score];
    expect(some.segments.map(scored)).toEqual(left.map(scored));
  });

  it("something keeps to the kinds asked for", async () => {
    const json = { similar_to: boats.asset_id, modes: ["image"] };
    expect(new Set(assetsOf(await search(json)))).not.toContain(video.asset_id);
  });

  it.each(["failed", "queued"])("an asset that is %s is nothing yet", async (state) => {
    const form = { video_file: await fixture("cut.mp4") };
    const added = await client.json("POST", "/index/trip/video", { form });
    const { asset_id, error } = await client.settled("trip", added);
    expect(error.code).toBe("unreadable_container");
    await run("UPDATE assets SET state = ? WHERE asset_id = ?", state, asset_id);
    const nothing = { segments: [], total: 0, next_cursor: null };
    expect(await search({ similar_to: asset_id })).toEqual(nothing);
    const both = await search({ similar_to: asset_id, query: "lantern" });
    expect(scoresOf(both)).toEqual(scoresOf(await search({ query: "lantern" })));
  });

  const longest = `seg_${"X".repeat(26)}`;

  it.each(["seg_nothing", "img_nothing", "x", longest])(
    "%s, which isn't there, is a 404",
    async (id) => {
      const json = { similar_to: id };
      const response = await client.send("POST", "/index/trip/search", { json });
      expect(response.status).toBe(404);
      expect(await response.text()).toContain(id);
    },
  );

  it("what is longer than an id is refused", async () => {
    const json = { similar_to: `${longest}X` };
    const issues = await client.issues("POST", "/index/trip/search", { json });
    expect(issues).toEqual([[["body", "similar_to"], "string_too_long"]]);
  });

  it("nothing, without a query, is refused with all else that is wrong", async () => {
    const issues = await client.issues("POST", "/index/trip/search", { json: { top_k: 0 } });
    expect(issues).toEqual([
      [["body", "top_k"], "greater_than_equal"],
      [["body", "query"], "missing"],
    ]);
  });
});
