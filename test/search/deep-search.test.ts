import { beforeAll, describe, expect, it } from "vitest";
import { addAssetWithoutSegments, captionSegments } from "../support/caption-fixtures.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { readPages } from "../support/search-pages.ts";

/** Segments of a video that match both query terms, and of each image that match one of them. */
const [VIDEO_SEGMENTS, IMAGE_SEGMENTS] = [300, 3];
const QUERY = "harbour crane";

let client: Client;
let assetIds: string[];

beforeAll(async () => {
  client = await newClient();
  await client.json("POST", "/index", { json: { index_name: "port" } });
  const video = await addAssetWithoutSegments(client, "port", "video", "clip.mp4");
  const images = [
    await addAssetWithoutSegments(client, "port", "image", "boats.jpg"),
    await addAssetWithoutSegments(client, "port", "image", "words.jpg"),
  ];
  const captions = Array.from(
    { length: VIDEO_SEGMENTS },
    (_, at) => `the harbour crane lifts load ${at}`,
  );
  await captionSegments(video, captions);
  for (const image of images) {
    const captions = Array.from(
      { length: IMAGE_SEGMENTS },
      (_, at) => `a quiet evening at the harbour, ${at}`,
    );
    await captionSegments(image, captions);
  }
  assetIds = [video, ...images].map(({ assetId }) => assetId);
});

const search = (json: object) => {
  return client.json("POST", "/index/port/search", { json: { query: QUERY, ...json } });
};

describe("a search with more hits than Vectorize returns", () => {
  it("returns every hit once, in the same order for any page size", async () => {
    const [pages, longerPages] = [
      await readPages((page) => search({ top_k: 40, ...page })),
      await readPages((page) => search({ top_k: 70, ...page })),
    ];
    const hits = pages.flatMap(({ segments }) => segments);
    const ids = hits.map(({ segment_id }) => segment_id);
    expect(ids).toHaveLength(VIDEO_SEGMENTS + 2 * IMAGE_SEGMENTS);
    expect(new Set(ids).size).toBe(ids.length);
    expect(hits.map(({ rank }) => rank)).toEqual(ids.map((_, at) => at + 1));
    const longerHits = longerPages.flatMap(({ segments }) => segments);
    expect(longerHits.map(({ segment_id }) => segment_id)).toEqual(ids);
    expect(pages.at(-1)!.total).toBe(ids.length);
  });

  it("counts the name of an asset for one of its hits", async () => {
    const path = `/index/port/video/${assetIds[0]}`;
    await client.json("PATCH", path, { json: { title: "Harbour crane.mp4" } });
    const pages = await readPages((page) => search({ top_k: 70, ...page }));
    const hits = pages.flatMap(({ segments }) => segments);
    const isNamed = ({ evidence }: Json) => evidence.some(({ kind }: Json) => kind === "title");
    expect(hits.filter(isNamed)).toHaveLength(1);
    await client.json("PATCH", path, { json: { title: "clip.mp4" } });
  });

  it("grouped by asset finds all assets, even if one has all of the best segments", async () => {
    const { segments, total } = await search({ group_by: "asset" });
    expect(segments.map(({ asset_id }: Json) => asset_id)[0]).toBe(assetIds[0]);
    expect(new Set(segments.map(({ asset_id }: Json) => asset_id))).toEqual(new Set(assetIds));
    expect(total).toBe(assetIds.length);
  });

  it("finds the other segments if an excluded term removes most of the best", async () => {
    const { segments } = await search({ query: `${QUERY} -load`, top_p: 0 });
    expect(new Set(segments.map(({ asset_id }: Json) => asset_id))).toEqual(
      new Set(assetIds.slice(1)),
    );
  });

  it("returns all hits with a score from `top_p` on, and no others", async () => {
    const all: Json[] = (await search({ top_k: 500 })).segments;
    const top_p = all[150]!.score;
    const pages = await readPages((page) => search({ top_k: 40, top_p, ...page }));
    const scores = pages.flatMap(({ segments }) => segments).map(({ score }) => score);
    expect(scores).toHaveLength(all.filter(({ score }) => score >= top_p).length);
    expect(Math.min(...scores)).toBe(top_p);
  });
});
