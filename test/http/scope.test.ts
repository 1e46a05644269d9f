import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";

const TOKYO =
  "WEBVTT\n\n00:00.000 --> 00:06.000\n昨日は東京タワーに行きました。เราไปกรุงเทพ Привет, мой друг\n";
const STORY = "WEBVTT\n\n00:00.000 --> 00:06.000\nThe red cup falls from the old table.\n";
const OTHER = "WEBVTT\n\n00:00.000 --> 00:06.000\nA cup of red paint, and the table is new.\n";

let client: Client;
const assets: Record<string, Json> = {};

async function addVideo(name: string, transcript: string, metadata: object) {
  const form = {
    metadata_str: JSON.stringify(metadata),
    transcript: new File([transcript], "transcript.vtt"),
    video_file: new File([await (await fixture("clip.mp4")).arrayBuffer(), name], `${name}.mp4`),
  };
  assets[name] = await client.json("POST", "/index/scope/video", { form });
}

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "scope" } });
  await addVideo("tokyo", TOKYO, {
    year: 2026,
    place: { city: "Tokyo", "geo.": { "": 1 } },
    tags: ["trip", "tower"],
    "iptc.city": ["Tokyo", "東京"],
    iptc: { "scene.code": { "v1.2": true } },
  });
  await addVideo("story", STORY, {
    year: 2024,
    place: { city: "Rome" },
    tags: ["film"],
    final: true,
    "iptc.scene.code": { 'v"1': null, v1: { 2: "x" } },
    "..": "dots",
  });
  await addVideo("other", OTHER, { year: 2020, camera: "A", lens: {}, crew: [] });
  await Promise.all(Object.values(assets).map((asset) => client.waitForAsset("scope", asset)));
});

async function findAssets(json: object): Promise<string[]> {
  const { segments } = await client.json("POST", "/index/scope/search", { json });
  const ids = new Set(segments.map(({ asset_id }: Json) => asset_id));
  return Object.keys(assets).filter((name) => ids.has(assets[name].asset_id));
}

/** Filters a search whose query matches every asset. */
const findByFilter = (filter: object) => findAssets({ query: "cup 東京", filter });

describe("a search filter", () => {
  it.each<[string, object, string[]]>([
    ["a value", { camera: "A" }, ["other"]],
    ["a number", { year: 2024 }, ["story"]],
    ["a text that looks like a number", { year: "2024" }, []],
    ["a boolean", { final: true }, ["story"]],
    ["a range", { year: { $gte: 2024, $lt: 2026 } }, ["story"]],
    ["a range of texts, which contains no number", { year: { $gte: "1" } }, []],
    ["a path into an object", { "place.city": "Tokyo" }, ["tokyo"]],
    ["a member of a list", { tags: "tower" }, ["tokyo"]],
    ["`$in`", { "place.city": { $in: ["Rome", "Oslo"] } }, ["story"]],
    ["`$nin`", { "place.city": { $nin: ["Rome", "Oslo"] } }, ["tokyo", "other"]],
    ["`$ne`", { year: { $ne: 2024 } }, ["tokyo", "other"]],
    ["a missing field", { camera: null }, ["tokyo", "story"]],
    ["a present field", { camera: { $ne: null } }, ["other"]],
    ["two rules", { year: { $gt: 2000 }, tags: "film" }, ["story"]],
    ["a duration that is too short", { duration_seconds: { $lt: 5 } }, []],
    ["a minimum duration", { duration_seconds: { $gte: 5.9 } }, ["tokyo", "story", "other"]],
    [
      "a minimum time",
      { created_at: { $gt: "2020-01-01T00:00:00Z" } },
      ["tokyo", "story", "other"],
    ],
    ["a time in the future", { created_at: { $gt: "2999-01-01T00:00:00+02:00" } }, []],
    [
      "a day",
      { created_at: { $gte: "2020-02-29", $lt: "2999-01-01" } },
      ["tokyo", "story", "other"],
    ],
    [
      "a time in the year 10000",
      { created_at: { $lt: "9999-12-31T23:59:59.9-01:00" } },
      ["tokyo", "story", "other"],
    ],
    ["a value, which no object equals", { place: "Tokyo" }, []],
    ["`$ne`, which an object passes", { place: { $ne: "Tokyo" } }, ["tokyo", "story", "other"]],
    ["`$nin`, which an object passes", { place: { $nin: ["Rome"] } }, ["tokyo", "story", "other"]],
    ["a range, which contains no object", { place: { $gte: "A" } }, []],
    ["a present object", { place: { $ne: null } }, ["tokyo", "story"]],
    ["a present empty object", { lens: { $ne: null } }, ["other"]],
    ["an empty list, which counts as missing", { crew: { $ne: null } }, []],
    ["a key with a quote in it", { 'a"b': 1 }, []],
    ["a key with a dot in it", { "iptc.city": "東京" }, ["tokyo"]],
    ["a key with a dot in it, in an object", { "iptc.scene.code.v1.2": true }, ["tokyo"]],
    ["an object in a key with dots in it", { "iptc.scene.code.v1.2": "x" }, ["story"]],
    ["keys that are dots and nothing", { "..": "dots", "place.geo": null }, ["story"]],
    ["an empty key in a key that ends with a dot", { "place.geo..": 1 }, ["tokyo"]],
    ["a key with a dot and a quote in it", { 'iptc.scene.code.v"1': { $ne: null } }, []],
    ["a missing key with a dot in it", { "iptc.city": null }, ["story", "other"]],
    ["a part of a key with a dot in it", { iptc: { $ne: null } }, ["tokyo"]],
    ["no rule", {}, ["tokyo", "story", "other"]],
  ])("selects assets by %s", async (_, filter, names) => {
    expect(await findByFilter(filter)).toEqual(names);
  });

  it.each<[object, string[], string]>([
    [{ year: { $near: 1 } }, ["year", "$near"], "literal_error"],
    [{ year: { $in: 1 } }, ["year", "$in"], "list_type"],
    [{ year: [1] }, ["year"], "value_error"],
    [{ year: { $gt: {} } }, ["year", "$gt"], "value_error"],
    [{ year: {} }, ["year"], "value_error"],
    ...[
      "yesterday",
      "yesterday 5",
      "1",
      "2024",
      "2024-02-30",
      "2023-02-29",
      "2024-02-30T00:00:00Z",
      "2024-01-01T24:00:00Z",
      "2024-01-01T00:00Z",
      "2024-01-01T00:00:00",
      "2024-01-01 00:00:00Z",
      "Mon, 01 Jan 2024 00:00:00 GMT",
      "",
      1704067200000,
      null,
    ].map((time): [object, string[], string] => [
      { created_at: time },
      ["created_at"],
      "value_error",
    ]),
    [{ duration_seconds: { $gt: "1" } }, ["duration_seconds", "$gt"], "value_error"],
    [{ "": 1 }, [""], "value_error"],
    [Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, i])), [], "too_long"],
  ])("returns 422 for %j", async (filter, path, type) => {
    const json = { query: "cup", filter };
    const issues = await client.issues("POST", "/index/scope/search", { json });
    expect(issues).toEqual([[["body", "filter", ...path], type]]);
  });

  it("accepts sixteen rules", async () => {
    const rules = Array.from({ length: 16 }, (_, i) => [`k${i}`, { $ne: i }]);
    expect(await findByFilter(Object.fromEntries(rules))).toEqual(["tokyo", "story", "other"]);
  });
});

describe("the query syntax", () => {
  it.each([
    ["a phrase", '"red cup"', ["story"]],
    ["a phrase and a word", '"red cup" paint', ["story"]],
    ["an excluded word", "cup -paint", ["tokyo", "story"]],
    ["an excluded phrase", 'cup -"red cup"', ["tokyo", "other"]],
    ["an excluded word with the same stem", "cup -paints", ["tokyo", "story"]],
  ])("supports %s", async (_, query, names) => {
    expect(await findAssets({ query })).toEqual(names);
  });

  it.each(["東京", "タワー", "กรุงเทพ", "привет", "МОЙ"])(
    "matches %s in unsegmented and non-Latin scripts",
    async (query) => {
      const { segments } = await client.json("POST", "/index/scope/search", { json: { query } });
      expect(segments[0].asset_id).toBe(assets["tokyo"].asset_id);
      const speech = segments[0].evidence.find(({ text }: Json) => text);
      expect(speech).toMatchObject({ kind: "speech", score: 1 });
      expect(speech.text).toContain("<mark>");
      expect(speech.text).not.toContain("\u200B");
    },
  );
});

describe("a search of a scope", () => {
  it("grouped by asset returns the best segment of each asset", async () => {
    const json = { query: "cup", group_by: "asset" };
    const { segments, total } = await client.json("POST", "/index/scope/search", { json });
    expect(segments.map(({ rank }: Json) => rank)).toEqual([1, 2, 3]);
    expect(new Set(segments.map(({ asset_id }: Json) => asset_id)).size).toBe(3);
    expect(total).toBe(3);
  });

  it("leaves out assets on later pages that became ready after the first page", async () => {
    const first = await client.json("POST", "/index/scope/search", {
      json: { query: "cup", top_k: 2 },
    });
    await env.DB.prepare("UPDATE assets SET ready_at = ready_at + 3600000 WHERE asset_id = ?")
      .bind(assets["other"].asset_id)
      .run();
    const json = { query: "cup", top_k: 100, cursor: first.next_cursor };
    const next = await client.json("POST", "/index/scope/search", { json });
    expect(JSON.stringify(next)).not.toContain(assets["other"].asset_id);
    await env.DB.prepare("UPDATE assets SET ready_at = ready_at - 3600000 WHERE asset_id = ?")
      .bind(assets["other"].asset_id)
      .run();
  });

  it("returns more hits than one Vectorize query", async () => {
    const json = { query: "cup", top_k: 500 };
    const { segments, total } = await client.json("POST", "/index/scope/search", { json });
    expect(segments).toHaveLength(total);
  });
});
