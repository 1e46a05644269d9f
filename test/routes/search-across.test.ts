import { beforeAll, describe, expect, it } from "vitest";
import { type Client, type Json, newClient } from "../support/client.ts";
import { setLimits } from "../support/quota-accounts.ts";
import { readPages } from "../support/search-pages.ts";
import { addSpokenVideo, createSeveralIndices } from "../support/several-indices.ts";

let client: Client;
let stranger: Client;
let trip: Json;
let tower: Json;
let foreign: Json;

beforeAll(async () => {
  ({ client, stranger, trip, tower, foreign } = await createSeveralIndices());
});

const search = (json: object, by = client): Promise<Json> =>
  by.json("POST", "/search", { json: { query: "the keeper's goats", ...json } });

const assetIds = ({ segments }: Json): string[] => [
  ...new Set<string>(segments.map(({ asset_id }: Json) => asset_id)),
];

describe("a search of several indices", () => {
  it.each([
    ["two", ["trip", "tower"]],
    ["two, one of them named twice", ["tower", "trip", "tower"]],
    ["an empty one and others", ["trip", "tower", "empty"]],
    ["all as a list", ["*"]],
    ["all", "*"],
  ])("covers %s", async (_, index_names) => {
    const result = await search({ index_names });
    expect(assetIds(result)).toEqual(expect.arrayContaining([trip.asset_id, tower.asset_id]));
    expect(new Set(result.segments.map(({ index_name }: Json) => index_name))).toEqual(
      new Set(["trip", "tower"]),
    );
    const scores = result.segments.map(({ score }: Json) => score);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
    expect(result).toMatchObject({ partial: [], total: result.segments.length });
  });

  it("of one index finds what its own search finds", async () => {
    const own = await client.json("POST", "/index/trip/search", {
      json: { query: "the keeper's goats" },
    });
    const { segments } = await search({ index_names: ["trip"] });
    const pick = ({ segment_id, rank, score }: Json) => ({ segment_id, rank, score });
    expect(segments.map(pick)).toEqual(own.segments.map(pick));
  });

  it("collapses near-duplicates of different indices", async () => {
    const named = { query: "LANTERN FESTIVAL", index_names: ["trip", "tower"], modes: ["image"] };
    const { segments } = await search(named);
    const apart = await search({ ...named, collapse: false });
    expect(segments[0].duplicates).toHaveLength(1);
    expect(apart.total).toBe((await search(named)).total + 1);
  });

  it("returns each hit once, on pages of any length", async () => {
    const request = { index_names: "*", collapse: false, top_k: 2 };
    const all = await search({ ...request, top_k: 100 });
    const pages = await readPages((page) => search({ ...request, ...page }));
    const found = pages.flatMap(({ segments }) =>
      segments.map(({ segment_id }: Json) => segment_id),
    );
    expect(found).toEqual(all.segments.map(({ segment_id }: Json) => segment_id));
  });

  it("has no hits of an index that is made between two pages", async () => {
    const owner = await newClient();
    await addSpokenVideo(owner, "first", "The keeper feeds the goats.");
    const request = { index_names: "*", collapse: false, top_k: 1 };
    const { next_cursor: cursor } = await search(request, owner);
    await addSpokenVideo(owner, "second", "The keeper feeds two goats.");
    const page = await search({ ...request, cursor }, owner);
    expect(page.segments.map(({ index_name }: Json) => index_name)).not.toContain("second");
  });

  it("finds what is like a segment of any of them", async () => {
    const { segments } = await search({ index_names: ["trip"], modes: ["image"] });
    const [example] = segments;
    const named = { query: undefined, similar_to: example.segment_id };
    const result = await search({ ...named, index_names: ["tower", "trip"] });
    expect(result.segments.map(({ segment_id }: Json) => segment_id)).not.toContain(
      example.segment_id,
    );
    expect(result.total).toBeGreaterThan(0);
    const response = await client.send("POST", "/search", {
      json: { index_names: ["tower"], similar_to: example.segment_id },
    });
    expect([response.status, await response.json()]).toEqual([
      404,
      { detail: `There is no segment or asset "${example.segment_id}" in these indices.` },
    ]);
  });

  it("finds a sequence in any of them, and no hit with what mustn't be there", async () => {
    const index_names = ["tower", "trip"];
    const sequence = ["lighthouse", "goats"];
    const chains = await search({ query: undefined, index_names, sequence });
    expect(chains.segments[0]).toMatchObject({ index_name: "trip", asset_id: trip.asset_id });
    expect(chains.segments[0].steps).toHaveLength(2);
    const without = await search({ query: "keeper", index_names, none: ["cat"], top_p: 0.3 });
    expect(assetIds(without)).toContain(trip.asset_id);
    expect(assetIds(without)).not.toContain(tower.asset_id);
    const both = await search({ query: undefined, index_names, all: ["keeper", "cat"], top_k: 1 });
    expect(assetIds(both)).toEqual([tower.asset_id]);
  });

  it("of an account without any is empty", async () => {
    const result = await search({ index_names: "*" }, await newClient());
    expect(result).toMatchObject({ segments: [], total: 0, next_cursor: null, partial: [] });
  });

  it("leaves an index out that is being deleted", async () => {
    const owner = await newClient();
    await addSpokenVideo(owner, "kept", "The keeper feeds the goats.");
    await addSpokenVideo(owner, "deleted", "The keeper feeds two goats.");
    await owner.json("DELETE", "/index/deleted");
    const { segments } = await search({ index_names: "*" }, owner);
    expect(new Set(segments.map(({ index_name }: Json) => index_name))).toEqual(new Set(["kept"]));
    const json = { query: "goats", index_names: ["kept", "deleted"] };
    expect((await owner.send("POST", "/search", { json })).status).toBe(404);
  });

  it("counts each condition as a search of each index, and makes 100 at most", async () => {
    const many = await newClient();
    const names = Array.from({ length: 10 }, (_, at) => `part-${at}`);
    for (const index_name of names) await many.json("POST", "/index", { json: { index_name } });
    const conditions = Array.from({ length: 5 }, (_, at) => `word ${at}`);
    const searches = async (): Promise<number> =>
      (await many.json("GET", "/stats")).usage.today.searches;
    const json = { query: "cat", index_names: names, all: conditions, none: conditions };
    expect(await many.issues("POST", "/search", { json })).toEqual([
      [["body", "index_names"], "value_error"],
    ]);
    expect(await searches()).toBe(0);
    await many.json("POST", "/search", { json: { ...json, all: ["hat"], none: ["bat"] } });
    expect(await searches()).toBe(30);
    await many.json("POST", "/index/part-0/search", { json: { sequence: ["a cat", "a hat"] } });
    expect(await searches()).toBe(32);
  });

  it("counts as one search of each index", async () => {
    const owner = await newClient();
    for (const index_name of ["a", "b"]) {
      await owner.json("POST", "/index", { json: { index_name } });
    }
    await setLimits(owner, { searches_per_day: 1 });
    const json = { query: "goats", index_names: ["a", "b"] };
    const response = await owner.send("POST", "/search", { json });
    expect([response.status, await response.json()]).toEqual([
      429,
      { detail: expect.stringContaining("limit searches_per_day (1)") },
    ]);
    await search({ index_names: ["a"] }, owner);
  });

  it("of all covers the 20 to which something was added last, and names the others", async () => {
    const owner = await newClient();
    for (let at = 0; at < 21; at++) {
      await owner.json("POST", "/index", { json: { index_name: `index-${at}` } });
    }
    await addSpokenVideo(owner, "index-21", "The keeper feeds the goats.");
    const { segments, partial } = await search({ index_names: "*" }, owner);
    expect(segments[0].index_name).toBe("index-21");
    expect(partial).toEqual(
      ["index-1", "index-0"].map((index_name) => ({
        index_name,
        reason: expect.stringContaining("name this one"),
      })),
    );
  });
});

describe("indices of another account", () => {
  it.each([
    ["unknown", () => "nothing"],
    ["another account's", () => "secret"],
  ])("are a 404 by name, as if %s", async (_, name) => {
    const index_names = ["trip", name()];
    const search = await client.send("POST", "/search", { json: { query: "x", index_names } });
    const query = `query=goats&index_names=trip&index_names=${name()}`;
    const answer = await client.send("GET", `/answer?${query}`);
    for (const response of [search, answer]) {
      expect([response.status, await response.json()]).toEqual([
        404,
        { detail: `There is no index named "${name()}".` },
      ]);
    }
  });

  it("have no hits and no citations in what `*` finds", async () => {
    const query = new URLSearchParams({ query: "Who sold three goats?", index_names: "*" });
    for (const [reader, other] of [
      [client, [foreign.asset_id]],
      [stranger, [trip.asset_id, tower.asset_id]],
    ] as const) {
      const found = await search({ query: "sold three goats", index_names: "*" }, reader);
      const answer = await reader.json("GET", `/answer?${query.toString()}`);
      const ids = [found.segments, answer.citations, answer.related]
        .flat()
        .map(({ asset_id }: Json) => asset_id);
      expect(ids.length).toBeGreaterThan(0);
      expect(ids.filter((id) => other.includes(id))).toEqual([]);
    }
  });

  it("need the scope `read`", async () => {
    const limited = await newClient(["write"]);
    const json = { query: "x", index_names: "*" };
    expect((await limited.send("POST", "/search", { json })).status).toBe(403);
    expect((await limited.send("GET", "/answer?query=x&index_names=*")).status).toBe(403);
  });
});

describe("a request for several indices is refused", () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `index-${at}`);
  it.each<[string, object, [(string | number)[], string][]]>([
    ["without names", { query: "x" }, [[["body", "index_names"], "missing"]]],
    ["with no name", { query: "x", index_names: [] }, [[["body", "index_names"], "too_short"]]],
    [
      "with more than 20",
      { query: "x", index_names: names(21) },
      [[["body", "index_names"], "too_long"]],
    ],
    [
      "with one as text",
      { query: "x", index_names: "trip" },
      [[["body", "index_names"], "list_type"]],
    ],
    [
      "with what can't be a name",
      { query: "x", index_names: ["trip", "../trip"] },
      [[["body", "index_names", 1], "string_pattern_mismatch"]],
    ],
    ["without a query", { index_names: ["trip"] }, [[["body", "query"], "missing"]]],
    [
      "with a query without a word",
      { query: "?!", index_names: ["trip"] },
      [[["body", "query"], "value_error"]],
    ],
    [
      "with a cursor of one index",
      { query: "x", index_names: ["trip"], cursor: "YWZ0ZXI6MQ" },
      [[["body", "cursor"], "value_error"]],
    ],
    [
      "with several mistakes at once",
      { index_names: [], top_k: 0 },
      [
        [["body", "top_k"], "greater_than_equal"],
        [["body", "index_names"], "too_short"],
        [["body", "query"], "missing"],
      ],
    ],
  ])("%s", async (_, json, expected) => {
    const issues = await client.issues("POST", "/search", { json });
    expect(issues).toEqual(expect.arrayContaining(expected));
    expect(issues).toHaveLength(expected.length);
  });

  it("with the cursor of another query", async () => {
    const request = { index_names: ["trip", "tower"], top_k: 1 };
    const { next_cursor: cursor } = await search(request);
    const json = { ...request, query: "another", cursor };
    expect(await client.issues("POST", "/search", { json })).toEqual([
      [["body", "cursor"], "value_error"],
    ]);
  });

  it("as a question without names, or with 21", async () => {
    expect(await client.issues("GET", "/answer?query=x")).toEqual([
      [["query", "index_names"], "missing"],
    ]);
    const many = names(21).map((name) => `index_names=${name}`);
    expect(await client.issues("GET", `/answer?query=x&${many.join("&")}`)).toEqual([
      [["query", "index_names"], "too_long"],
    ]);
  });
});
