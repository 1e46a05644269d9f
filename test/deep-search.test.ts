import { beforeAll, describe, expect, it } from "vitest";
import { addEmpty, caption } from "./captioned.ts";
import { type Client, type Json, newClient } from "./client.ts";

/** Of so many segments of one video all words of a query are told, of others one of them. */
const [LONG, SHORT] = [300, 3];
const QUERY = "harbour crane";

let client: Client;
let ids: string[];

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "port" } });
  const long = await addEmpty(client, "port", "video", "clip.mp4");
  const short = [
    await addEmpty(client, "port", "image", "boats.jpg"),
    await addEmpty(client, "port", "image", "words.jpg"),
  ];
  const captions = Array.from({ length: LONG }, (_, at) => `the harbour crane lifts load ${at}`);
  await caption(long, captions);
  for (const owner of short) {
    const some = Array.from({ length: SHORT }, (_, at) => `a quiet evening at the harbour, ${at}`);
    await caption(owner, some);
  }
  ids = [long, ...short].map(({ assetId }) => assetId);
}, 60_000);

const search = (json: object) => {
  return client.json("POST", "/index/port/search", { json: { query: QUERY, ...json } });
};

async function pagesOf(json: { top_k: number; top_p?: number }): Promise<Json[]> {
  const pages = [];
  let cursor: string | undefined;
  do {
    const page = await search({ ...json, cursor });
    pages.push(page);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return pages;
}

describe("a search that goes deep", () => {
  it("has every hit on one page, in the same order, however long pages are", async () => {
    const [some, more] = [await pagesOf({ top_k: 40 }), await pagesOf({ top_k: 70 })];
    const hits = some.flatMap(({ segments }) => segments);
    const found = hits.map(({ segment_id }) => segment_id);
    expect(found).toHaveLength(LONG + 2 * SHORT);
    expect(new Set(found).size).toBe(found.length);
    expect(hits.map(({ rank }) => rank)).toEqual(found.map((_, at) => at + 1));
    const others = more.flatMap(({ segments }) => segments).map(({ segment_id }) => segment_id);
    expect(others).toEqual(found);
    expect(some.at(-1)!.total).toBe(found.length);
  });

  it("finds all assets, where one has all of the best segments", async () => {
    const { segments, total } = await search({ group_by: "asset" });
    expect(segments.map(({ asset_id }: Json) => asset_id)[0]).toBe(ids[0]);
    expect(new Set(segments.map(({ asset_id }: Json) => asset_id))).toEqual(new Set(ids));
    expect(total).toBe(ids.length);
  });

  it("finds what is left, where most of the best are left out", async () => {
    const { segments } = await search({ query: `${QUERY} -load`, top_p: 0 });
    expect(new Set(segments.map(({ asset_id }: Json) => asset_id))).toEqual(new Set(ids.slice(1)));
  });

  it("shows all that is likely, and nothing else, on any page", async () => {
    const all: Json[] = (await search({ top_k: 500 })).segments;
    const top_p = all[150]!.score;
    const pages = await pagesOf({ top_k: 40, top_p });
    const scores = pages.flatMap(({ segments }) => segments).map(({ score }) => score);
    expect(scores).toHaveLength(all.filter(({ score }) => score >= top_p).length);
    expect(Math.min(...scores)).toBe(top_p);
  });
});
