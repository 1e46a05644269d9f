import { beforeAll, describe, expect, it } from "vitest";
import { type Client, type Issue, type Json, newClient } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { type AssetRef, assetRefOf, runInIndex, updateSegments } from "../support/store-queries.ts";

const LONG = "a very long and ugly value ".repeat(12);
const METADATA = {
  tags: ["beach", "sun", "beach", null, { of: "it" }],
  note: LONG,
  camera: { make: "Lumen" },
  "camera.model": "One",
  year: 2024,
  isPublic: true,
};

let client: Client;
let video: Json;
let words: Json;
let boats: Json;
let index: AssetRef;

beforeAll(async () => {
  ({ client, video, words, boats } = await createSampleIndex());
  index = await assetRefOf(video);
  for (const [{ asset_id }, metadata, takenAt] of [
    [words, METADATA, "2024-06-01T23:30:00.000Z"],
    [boats, { year: "2024", tags: "sun" }, "2025-01-02T03:04:05.000Z"],
  ] as const) {
    await runInIndex(
      index,
      `UPDATE assets SET metadata = ?, technical = json_set(technical, '$.taken_at', ?)
       WHERE asset_id = ?`,
      JSON.stringify(metadata),
      takenAt,
      asset_id,
    );
  }
  await updateSegments(words, "labels = ?", '["poster", "lamp", "poster"]');
  await updateSegments(boats, "labels = ?", '["boat", "lamp"]');
  await updateSegments(video, "labels = '[]'");
});

const aggregate = (json: object = {}) => client.json("POST", "/index/trip/aggregate", { json });
const keysOf = ({ groups }: Json) =>
  groups.map(({ key, count }: Json) => [key, count]) as [unknown, number][];
const totalOf = (groups: [unknown, number][]) => groups.reduce((sum, [, count]) => sum + count, 0);

describe("counts of an index", () => {
  it("are exact, and those that the lists and the statistics show", async () => {
    const stats = await client.json("GET", "/stats");
    const list = await client.json("GET", "/index/trip");
    const segments = await aggregate();
    expect(segments).toMatchObject({ unit: "segments", calibration: "fitted" });
    expect(segments.total).toEqual({ count: stats.segments });
    expect(segments.scope).toEqual({ segments: stats.segments, scored: 0 });
    expect(totalOf(keysOf(segments))).toBe(stats.segments);
    expect((await aggregate({ unit: "assets" })).total.count).toBe(list.assets.length);
    const seconds = await aggregate({ unit: "seconds" });
    expect(seconds.total.count).toBeCloseTo(stats.duration_seconds, 1);
    expect(new Map(keysOf(seconds)).get("image")).toBe(0);
  });

  it.each<[string, [unknown, number][]]>([
    [
      "metadata.camera",
      [
        [null, 2],
        ["A", 1],
      ],
    ],
    [
      "metadata.camera.make",
      [
        [null, 2],
        ["Lumen", 1],
      ],
    ],
    [
      "metadata.camera.model",
      [
        [null, 2],
        ["One", 1],
      ],
    ],
    [
      "metadata.tags",
      [
        ["sun", 2],
        ["beach", 1],
        [null, 1],
      ],
    ],
    [
      "metadata.year",
      [
        ["2024", 1],
        [2024, 1],
        [null, 1],
      ],
    ],
    [
      "metadata.isPublic",
      [
        [null, 2],
        [true, 1],
      ],
    ],
    [
      "metadata.note",
      [
        [null, 2],
        [LONG.slice(0, 200), 1],
      ],
    ],
    ["metadata.a\"b'c;", [[null, 3]]],
    [
      "taken_at.year",
      [
        ["2024", 1],
        ["2025", 1],
        [null, 1],
      ],
    ],
    [
      "taken_at.month",
      [
        ["2024-06", 1],
        ["2025-01", 1],
        [null, 1],
      ],
    ],
    [
      "taken_at.day",
      [
        ["2024-06-01", 1],
        ["2025-01-02", 1],
        [null, 1],
      ],
    ],
    [
      "asset_type",
      [
        ["image", 2],
        ["video", 1],
      ],
    ],
  ])("of assets by %s have a group for each value", async (group_by, groups) => {
    const counted = await aggregate({ group_by, unit: "assets" });
    expect(keysOf(counted)).toEqual(groups);
    expect(counted.other).toEqual({ groups: 0, count: 0 });
    expect(counted.total.count).toBe(3);
  });

  it("of labels count each label of a segment once", async () => {
    const shots = (await aggregate({ modes: ["video"] })).total.count;
    const groups = [
      ["lamp", 2],
      ["boat", 1],
      ["poster", 1],
      [null, shots],
    ];
    const counted = keysOf(await aggregate({ group_by: "label" }));
    expect(new Map(counted)).toEqual(new Map(groups as [unknown, number][]));
    expect(keysOf(await aggregate({ group_by: "label", unit: "assets" }))).toContainEqual([
      null,
      1,
    ]);
  });

  it("of assets have their titles, and name only the largest groups", async () => {
    const { groups, other, total } = await aggregate({ group_by: "asset", top: 1 });
    expect(groups).toMatchObject([{ key: video.asset_id, title: "clip.mp4" }]);
    expect(other).toEqual({ groups: 2, count: total.count - groups[0].count });
  });

  it("are of what a filter, modes and ids select", async () => {
    const countOf = async (json: object) =>
      (await aggregate({ unit: "assets", ...json })).total.count;
    expect(await countOf({ filter: { year: 2024 } })).toBe(1);
    expect(await countOf({ modes: ["image"] })).toBe(2);
    expect(await countOf({ asset_ids: [video.asset_id] })).toBe(1);
    expect(await countOf({ filter: { year: 1900 } })).toBe(0);
  });

  it("of an empty index are 0", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "trip" } });
    for (const query of [undefined, "dog"]) {
      const json = query === undefined ? {} : { query };
      const counted = await other.json("POST", "/index/trip/aggregate", { json });
      expect(counted).toMatchObject({
        groups: [],
        other: { groups: 0, count: 0 },
        total: { count: 0 },
        scope: { segments: 0, scored: 0 },
      });
    }
  });
});

describe("counts of a query", () => {
  it.each([undefined, 0.02, 0.9])(
    "are of the hits that a search finds with a `top_p` of %s",
    async (top_p) => {
      for (const query of ["goats", "boat"]) {
        const json = { query, top_p: top_p ?? 0.5, collapse: false, top_k: 500 };
        const { segments: hits } = await client.json("POST", "/index/trip/search", { json });
        const count = async (unit: string) =>
          aggregate({ query, unit, group_by: "asset", ...(top_p !== undefined && { top_p }) });
        const ids = new Set(hits.map(({ asset_id }: Json) => asset_id));
        const byAsset = await count("segments");
        expect(byAsset.total.count).toBe(hits.length);
        expect(totalOf(keysOf(byAsset))).toBe(hits.length);
        expect(new Set(keysOf(byAsset).map(([key]) => key))).toEqual(ids);
        expect((await count("assets")).total.count).toBe(ids.size);
        const seconds = hits.map((hit: Json) => (hit.end_seconds ?? 0) - (hit.start_seconds ?? 0));
        const sum = seconds.reduce((all: number, one: number) => all + one, 0);
        expect((await count("seconds")).total.count).toBeCloseTo(sum, 1);
      }
    },
  );

  it("have a score of 0.5 or more by default, and name the titles of assets", async () => {
    const counted = await aggregate({ query: "goats", group_by: "asset" });
    expect(counted.groups).toMatchObject([{ key: video.asset_id, title: "clip.mp4" }]);
    expect(counted.scope.scored).toBe(counted.scope.segments);
    const all = await aggregate({ query: "goats", group_by: "asset", top_p: 0, top: 1 });
    expect(all.total.count).toBe(all.scope.segments);
    expect(all.other.count).toBe(all.total.count - all.groups[0].count);
  });

  it("are 0 for a phrase that nothing has, and correct a word as a search does", async () => {
    const none = await aggregate({ query: '"purple elephants dancing"' });
    expect(none.total).toEqual({ count: 0 });
    const corrected = await aggregate({ query: "lighthouze" });
    expect(corrected.query.corrected).toBe("lighthouse");
    const written = await aggregate({ query: "lighthouze", correct: false });
    expect(written.query.corrected).toBeNull();
  });

  it("count groups of labels, years and fields", async () => {
    for (const group_by of ["label", "taken_at.year", "metadata.tags", "asset_type"]) {
      const { groups, total } = await aggregate({ query: "boat", group_by });
      expect(groups.length).toBeGreaterThan(0);
      expect(total.count).toBeGreaterThan(0);
    }
    const byLabel = await aggregate({ query: "boat", group_by: "label" });
    const counts = new Map(keysOf(byLabel));
    expect(counts.get("boat")).toBeGreaterThan(counts.get("poster") ?? 0);
  });
});

describe("a request of counts", () => {
  it.each<[object, Issue[]]>([
    [{ group_by: "camera" }, [[["body", "group_by"], "value_error"]]],
    [{ group_by: "metadata." }, [[["body", "group_by"], "value_error"]]],
    [{ group_by: "taken_at.hour" }, [[["body", "group_by"], "value_error"]]],
    [{ group_by: `metadata.${"x".repeat(500)}` }, [[["body", "group_by"], "string_too_long"]]],
    [{ unit: "minutes" }, [[["body", "unit"], "literal_error"]]],
    [{ top_p: 2 }, [[["body", "top_p"], "less_than_equal"]]],
    [{ top: 0 }, [[["body", "top"], "greater_than_equal"]]],
    [{ top: 101 }, [[["body", "top"], "less_than_equal"]]],
    [{ query: "" }, [[["body", "query"], "string_too_short"]]],
    [{ query: "?" }, [[["body", "query"], "value_error"]]],
    [{ modes: ["speech"] }, [[["body", "modes"], "value_error"]]],
    [{ filter: { year: { $near: 1 } } }, [[["body", "filter", "year", "$near"], "literal_error"]]],
  ])("of %j is refused", async (json, issues) => {
    expect(await client.issues("POST", "/index/trip/aggregate", { json })).toEqual(issues);
  });

  it("for an unknown index or asset is not found", async () => {
    const paths = [
      ["/index/nowhere/aggregate", {}],
      ["/index/trip/aggregate", { asset_ids: ["img_0"] }],
    ] as const;
    for (const [path, json] of paths) {
      expect((await client.send("POST", path, { json })).status).toBe(404);
    }
  });
});
