import { beforeAll, describe, expect, it } from "vitest";
import { type Client, fixture, type Json } from "./client.ts";
import { localAi } from "./local/bindings.ts";
import { buildTrip } from "./trip.ts";

let client: Client;
let video: Json;
let words: Json;
let boats: Json;

beforeAll(async () => {
  ({ client, video, words, boats } = await buildTrip());
}, 60_000);

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
  ])("finds %s first, and says why", async (query, expected, kind, text) => {
    const { segments } = await search({ query });
    expect(segments[0]).toMatchObject({ asset_id: expected().asset_id, rank: 1 });
    const evidence = segments[0].evidence.find((piece: Json) => piece.kind === kind);
    expect(evidence.text).toMatch(text);
    const scores = segments.map(({ score }: Json) => score);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
  });

  it("shows where it is seen, when asked", async () => {
    const [first] = (await search({ query: "boats", use_boxes: true })).segments;
    expect(first.boxes.length).toBeGreaterThan(0);
    for (const box of first.boxes) expect(box.label).toBe("boat");
    expect((await search({ query: "boats" })).segments[0].boxes).toBeNull();
  });

  it("keeps to the assets, the kinds and the evidence asked for", async () => {
    expect(new Set(await idsOf({}))).toEqual(
      new Set([video, words, boats].map(({ asset_id }) => asset_id)),
    );
    expect(await idsOf({ asset_ids: [words.asset_id] })).toEqual([words.asset_id]);
    const shots = [video.asset_id, video.asset_id];
    expect(await idsOf({ modes: ["video"] })).toEqual(shots);
    expect(await idsOf({ modes: ["speech"] })).toEqual(shots);
    expect(await idsOf({ top_k: 1 })).toHaveLength(1);
  });

  it.each<[string, () => object, number]>([
    ["all", () => ({}), 4],
    ["one kind", () => ({ modes: ["image"] }), 2],
    ["some assets", () => ({ asset_ids: [video.asset_id, words.asset_id] }), 3],
    ["a rule", () => ({ filter: { duration_seconds: { $gt: 0 } } }), 2],
  ])("says how few segments it is about: of %s", async (_, wish, count) => {
    const { segments } = await search({ query: "goat", ...wish() });
    expect(segments[0].signals.few).toBeCloseTo(-Math.log(count), 10);
  });

  it("takes a phrase for one of the evidence asked for", async () => {
    expect(await idsOf({ query: '"lives here"', modes: ["speech"] })).toEqual([video.asset_id]);
    expect(await idsOf({ query: '"lives here"', modes: ["text"] })).toEqual([]);
  });

  it("leaves out what is less likely than wished", async () => {
    expect(await idsOf({ query: "goats", top_p: 0.5 })).toEqual([video.asset_id]);
    expect(await idsOf({ query: "goats", top_p: 1 })).toEqual([]);
    expect(await idsOf({ query: "a submarine under the ice", top_p: 0.5 })).toEqual([]);
  });

  it("pages through all there is, each hit once", async () => {
    const seen = [];
    let cursor: string | undefined;
    do {
      const page = await search({ query: "lantern goat boat", top_k: 1, cursor });
      expect(page.total).toBe(4);
      seen.push(...page.segments.map((s: Json) => [s.rank, s.segment_id]));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(seen.map(([rank]) => rank)).toEqual([1, 2, 3, 4]);
    expect(new Set(seen.map(([, id]) => id)).size).toBe(4);
  });

  it("goes by words alone while the model is out", async () => {
    await localAi().inject("@cf/baai/bge-m3", "3040", 1);
    const during = await search({ query: "two goats", modes: ["speech"] });
    expect(during.segments[0]).toMatchObject({ asset_id: video.asset_id, signals: { told: 1 } });
    expect(during.segments[0].signals).not.toHaveProperty("meaningLead");
    const after = await search({ query: "two goats", modes: ["speech"] });
    expect(after.segments[0].signals).toHaveProperty("meaningLead");
  });

  it("finds a picture by its looks, where no word of the query is known of it", async () => {
    const { segments } = await search({ query: "ships in a harbour", modes: ["image"] });
    expect(segments[0].asset_id).toBe(boats.asset_id);
    const visual = segments[0].evidence.find(({ kind }: Json) => kind === "visual");
    expect(visual.score).toBeGreaterThan(0);
    expect(visual.text).toBeUndefined();
  });

  it("answers an empty list for an index with nothing ready", async () => {
    await client.json("POST", "/index", { json: { index_name: "empty" } });
    const json = { query: "anything" };
    const result = await client.json("POST", "/index/empty/search", { json });
    expect(result).toEqual({ segments: [], total: 0, next_cursor: null });
  });

  it("takes any text for a query", async () => {
    for (const query of [
      '"',
      "NOT",
      "a* OR (",
      "東京",
      "-x",
      "🙂",
      "\u0000",
      "a\ud800b",
      "x".repeat(2000),
    ]) {
      await search({ query });
    }
  });
});

describe("near-duplicates", () => {
  const searchCopies = (json: object) => {
    return client.json("POST", "/index/copies/search", { json: { query: "boats", ...json } });
  };

  beforeAll(async () => {
    await client.json("POST", "/index", { json: { index_name: "copies" } });
    for (const name of ["boats.jpg", "boats-grey.jpg", "words.jpg"]) {
      const form = { image_file: await fixture(name) };
      const asset = await client.json("POST", "/index/copies/image", { form });
      await client.settled("copies", asset);
    }
  }, 30_000);

  it("are one hit, which names the others", async () => {
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

  it("are all there where a picture asks for its copies", async () => {
    const form = { image_file: await fixture("boats.jpg") };
    const { segments } = await client.json("POST", "/index/copies/search_image", { form });
    const titles = segments.slice(0, 2).map(({ title }: Json) => title);
    expect(new Set(titles)).toEqual(new Set(["boats.jpg", "boats-grey.jpg"]));
  });
});

it("says how long its parts took", async () => {
  const response = await client.send("POST", "/index/trip/search", { json: { query: "goats" } });
  expect(response.headers.get("server-timing")).toMatch(
    /^(words|model|vectors|rows|regions)(;dur=\d+, (words|model|vectors|rows|regions))*;dur=\d+, total;dur=\d+$/,
  );
});
