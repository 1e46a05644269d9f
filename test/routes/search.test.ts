import { beforeAll, describe, expect, it } from "vitest";
import { localAi } from "../local/bindings.ts";
import { type Client, fixture, type Json } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";

let client: Client;
let video: Json;
let words: Json;
let boats: Json;

beforeAll(async () => {
  ({ client, video, words, boats } = await createSampleIndex());
});

const search = (json: object) => client.json("POST", "/index/trip/search", { json });

async function idsOf(json: object): Promise<string[]> {
  const { segments } = await search({ query: "lantern goat boat", ...json });
  return segments.map(({ asset_id }: Json) => asset_id);
}

describe("search", () => {
  it.each<[string, () => Json, string, RegExp]>([
    ["goat", () => video, "speech", /<mark>goats<\/mark>/],
    ["lantern", () => words, "text", /<mark>LANTERN<\/mark>/i],
    ["boat", () => boats, "visual", /<mark>boat<\/mark>/],
  ])("ranks the asset with %s first, with evidence", async (query, expected, kind, text) => {
    const { segments } = await search({ query });
    expect(segments[0]).toMatchObject({ asset_id: expected().asset_id, rank: 1 });
    const evidence = segments[0].evidence.find((one: Json) => one.kind === kind);
    expect(evidence.text).toMatch(text);
    const scores = segments.map(({ score }: Json) => score);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
  });

  it("returns boxes only with `use_boxes`", async () => {
    const [first] = (await search({ query: "boats", use_boxes: true })).segments;
    expect(first.boxes.length).toBeGreaterThan(0);
    for (const box of first.boxes) expect(box.label).toBe("boat");
    expect((await search({ query: "boats" })).segments[0].boxes).toBeNull();
  });

  it("is limited to the requested assets, modes and number of hits", async () => {
    expect(new Set(await idsOf({}))).toEqual(
      new Set([video, words, boats].map(({ asset_id }) => asset_id)),
    );
    expect(await idsOf({ asset_ids: [words.asset_id] })).toEqual([words.asset_id]);
    const shots = [video.asset_id, video.asset_id];
    expect(await idsOf({ modes: ["video"] })).toEqual(shots);
    expect(await idsOf({ modes: ["speech"] })).toEqual(shots);
    expect(await idsOf({ top_k: 1 })).toHaveLength(1);
  });

  it("matches a phrase in the requested modes only", async () => {
    expect(await idsOf({ query: '"lives here"', modes: ["speech"] })).toEqual([video.asset_id]);
    expect(await idsOf({ query: '"lives here"', modes: ["text"] })).toEqual([]);
  });

  it("returns no hit with a score below `top_p`", async () => {
    expect(await idsOf({ query: "goats", top_p: 0.5 })).toEqual([video.asset_id]);
    expect(await idsOf({ query: "goats", top_p: 1 })).toEqual([]);
    expect(await idsOf({ query: "a submarine under the ice", top_p: 0.5 })).toEqual([]);
  });

  it("returns every hit exactly once over all pages", async () => {
    const hits = [];
    let cursor: string | undefined;
    do {
      const page = await search({ query: "lantern goat boat", top_k: 1, cursor });
      expect(page.total).toBe(4);
      hits.push(...page.segments.map(({ rank, segment_id }: Json) => [rank, segment_id]));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(hits.map(([rank]) => rank)).toEqual([1, 2, 3, 4]);
    expect(new Set(hits.map(([, id]) => id)).size).toBe(4);
  });

  it("is refused a cursor of another query or filter, but takes another `top_k`", async () => {
    const query = "lantern goat boat";
    const { next_cursor: cursor } = await search({ query, top_k: 1 });
    expect((await search({ query, top_k: 2, cursor })).segments.length).toBeGreaterThan(0);
    for (const json of [{ query: "lantern" }, { query, modes: ["image"] }, { query, top_p: 0.1 }]) {
      const issues = await client.issues("POST", "/index/trip/search", {
        json: { ...json, cursor },
      });
      expect(issues).toEqual([[["body", "cursor"], "value_error"]]);
    }
  });

  it("uses full text only while the text embedding model is unavailable", async () => {
    await localAi().inject("@cf/baai/bge-m3", "3040", 1);
    const during = await search({ query: "two goats", modes: ["speech"] });
    expect(during.segments[0]).toMatchObject({
      asset_id: video.asset_id,
      signals: { term_coverage: 1 },
    });
    expect(during.segments[0].signals).not.toHaveProperty("text_margin");
    const after = await search({ query: "two goats", modes: ["speech"] });
    expect(after.segments[0].signals).toHaveProperty("text_margin");
  });

  it("finds an image by its embedding if no query term matches its text", async () => {
    const { segments } = await search({ query: "ships in a harbour", modes: ["image"] });
    expect(segments[0].asset_id).toBe(boats.asset_id);
    const visual = segments[0].evidence.find(({ kind }: Json) => kind === "visual");
    expect(visual.score).toBeGreaterThan(0);
    expect(visual.text).toBeUndefined();
  });

  it("of an index without ready assets returns an empty list", async () => {
    await client.json("POST", "/index", { json: { index_name: "empty" } });
    const json = { query: "anything" };
    const result = await client.json("POST", "/index/empty/search", { json });
    expect(result).toEqual({
      segments: [],
      total: 0,
      next_cursor: null,
      calibration: "fitted",
      query: {
        excluded: [],
        corrected: null,
        hint: "There is nothing to find yet: add videos and images.",
        suggested: null,
      },
    });
  });

  it("says which words it excludes", async () => {
    await client.json("POST", "/index", { json: { index_name: "excluded" } });
    const search = (query: string) =>
      client.json("POST", "/index/excluded/search", { json: { query } });
    expect(await search('cabin -carpenter -"hot dog"')).toMatchObject({
      query: { excluded: ["carpenter", "hot dog"] },
    });
    expect(await search("-15 degrees")).toMatchObject({ query: { excluded: [] } });
  });

  it("finds a word with one wrong letter, and says what it searched for", async () => {
    const query = "a lantren -goat";
    const { segments, query: interpretation } = await search({ query });
    expect(interpretation).toMatchObject({ excluded: ["goat"], corrected: "a lantern -goat" });
    expect(segments[0]).toMatchObject({ asset_id: words.asset_id });
    for (const literal of [
      { query, correct: false },
      { query: '"lantren"' },
      { query: "lanten" },
    ]) {
      const { query: uncorrected } = await search(literal);
      expect(uncorrected.corrected === null).toBe(literal.query !== "lanten");
    }
  });

  it.each([
    ["two gaots", "two goats"],
    ["keaper", "keeper"],
    ["plaice", null],
  ])("corrects %s to %s", async (query, corrected) => {
    expect((await search({ query })).query.corrected).toBe(corrected);
  });

  it("doesn't correct a word of the dictionary, or a short one", async () => {
    for (const query of ["lanterns", "coat", "gaot", "boast"]) {
      expect((await search({ query })).query.corrected).toBeNull();
    }
  });

  it("accepts any text with a word as a query", async () => {
    for (const query of [
      'x"',
      "NOT",
      "a* OR (",
      "東京",
      "-x",
      "x 🙂",
      "x\u0000",
      "a\ud800b",
      "x".repeat(2000),
    ]) {
      await search({ query });
    }
  });
});

describe("near-duplicate hits", () => {
  const searchCopies = (json: object) => {
    return client.json("POST", "/index/copies/search", { json: { query: "boats", ...json } });
  };

  beforeAll(async () => {
    await client.json("POST", "/index", { json: { index_name: "copies" } });
    for (const name of ["boats.jpg", "boats-grey.jpg", "words.jpg"]) {
      const form = { image_file: await fixture(name) };
      const asset = await client.json("POST", "/index/copies/image", { form });
      await client.waitForAsset("copies", asset);
    }
  });

  it("are collapsed into one hit, which lists the others", async () => {
    const all = await searchCopies({ collapse: false });
    expect(all.total).toBe(3);
    const [first, second] = all.segments;
    const { segments, total } = await searchCopies({});
    expect(total).toBe(2);
    expect(segments[0]).toMatchObject({
      segment_id: first.segment_id,
      duplicates: [second.segment_id],
    });
    expect(segments[1].duplicates).toEqual([]);
  });

  it("aren't collapsed if they are copies of the example", async () => {
    const form = { image_file: await fixture("boats.jpg") };
    const { segments } = await client.json("POST", "/index/copies/search_image", { form });
    const titles = segments.slice(0, 2).map(({ title }: Json) => title);
    expect(new Set(titles)).toEqual(new Set(["boats.jpg", "boats-grey.jpg"]));
  });
});

it("a search returns the time of its parts in `Server-Timing`", async () => {
  const response = await client.send("POST", "/index/trip/search", { json: { query: "goats" } });
  expect(response.headers.get("server-timing")).toMatch(
    /^(fulltext|embed|knn|hydrate|localize)(;dur=\d+, (fulltext|embed|knn|hydrate|localize))*;dur=\d+, total;dur=\d+$/,
  );
});
