import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { parseQuery, toFtsQuery } from "../../src/search/query.ts";
import { toSearchScope, makeSearchRequest } from "../../src/search/request.ts";
import { findSegments } from "../../src/store/index-database/find-segments.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import { QueryTerms } from "../../src/text/query-terms.ts";
import { addAssetWithoutSegments, captionSegments } from "../support/caption-fixtures.ts";
import { newClient } from "../support/client.ts";
import { type AssetRef, countStored } from "../support/store-queries.ts";

/** Segments of a video; one in twenty has "kite", one in twelve has each of `COMMON_WORDS`. */
const [SEGMENT_COUNT, KITE_INTERVAL] = [1000, 20];
const COMMON_WORDS = ["wolf", "bear", "lynx"];
const LIMIT = 20;

/** Full-width letters, half-width kana, a combining mark, and unsegmented scripts. */
const FOREIGN = ["２０２４ ＴＶ", "ｶﾒﾗ", "か\u3099く", "一辆红色的汽车", "猫は庭で寝ている"];

let park: AssetRef;
let zoo: AssetRef;
let other: AssetRef;

beforeAll(async () => {
  const client = await newClient();
  for (const index_name of ["animals", "others"]) {
    await client.json("POST", "/index", { json: { index_name } });
  }
  park = await addAssetWithoutSegments(client, "animals", "video", "clip.mp4");
  other = await addAssetWithoutSegments(client, "others", "video", "clip.mp4");
  zoo = await addAssetWithoutSegments(client, "animals", "image", "words.jpg");
  const captions = Array.from({ length: SEGMENT_COUNT }, (_, at) => {
    const commonWords = COMMON_WORDS.filter((_, i) => Math.floor((at % 250) / 20) === i);
    return ["dog", ...(at % KITE_INTERVAL === 1 ? ["kite"] : []), ...commonWords, `at ${at}`].join(
      " ",
    );
  });
  captions[SEGMENT_COUNT - 1] = "wolf bear lynx";
  captions[SEGMENT_COUNT - 2] = "lantern";
  await captionSegments(park, captions);
  await captionSegments(
    other,
    captions.map((caption) => `${caption} elsewhere`),
  );
  await captionSegments(zoo, [...Array.from({ length: LIMIT }, () => "dog"), ...FOREIGN]);
});

/** Searches and returns positions of segments; −1 for a segment of another asset than `owner`. */
async function findPositions(
  query: string,
  assetIds: string[] = [],
  owner = park,
): Promise<number[]> {
  const parsed = parseQuery(query);
  const terms = new QueryTerms(parsed.words, parsed.plainText);
  const { tokens } = terms;
  const { assets, columns, useNames } = toSearchScope(makeSearchRequest({ topK: LIMIT, assetIds }));
  const { fullTextHits } = await findSegments([indexDatabase(env, owner)], {
    scope: assets,
    fullText: { query: toFtsQuery(parsed, terms), tokens, columns, useNames, limit: LIMIT },
    ids: [],
    excludedIds: [],
    rules: { must: null, mustNot: null, mustOfNames: null },
  });
  return fullTextHits.map(({ segmentId }) => {
    const [assetId, position] = segmentId.split("-");
    return assetId === owner.assetId ? Number(position) : -1;
  });
}

describe("full-text search", () => {
  it("ranks only segments with a rare word, if enough have one", async () => {
    expect(await findPositions("wolf bear lynx")).toContain(SEGMENT_COUNT - 1);
    const kites = await findPositions("wolf bear lynx kite");
    expect(kites).toHaveLength(LIMIT);
    expect(kites.filter((at) => at % KITE_INTERVAL !== 1)).toEqual([]);
    expect(kites[0]! % 250).toBeLessThan(COMMON_WORDS.length * 20); // common words count, too
  });

  it("ranks segments with common words, too, if few have a rare one", async () => {
    const hits = await findPositions("dog lantern");
    expect(hits[0]).toBe(SEGMENT_COUNT - 2);
    expect(hits).toHaveLength(LIMIT);
  });

  it("isn't limited by rare words outside the scope", async () => {
    expect(await findPositions("dog kite", [zoo.assetId], zoo)).toHaveLength(LIMIT);
  });

  it.each([
    ["tv 2024", 0],
    ["ＴＶ", 0],
    ['"2024 TV"', 0],
    ["カメラ", 1],
    ["がく", 2],
    ["红色汽车", 3],
    ["庭の猫", 4],
  ])("matches normalised and unsegmented text: %s", async (query, at) => {
    expect(await findPositions(query, [], zoo)).toEqual([LIMIT + at]);
  });

  it("requires every phrase", async () => {
    expect(await findPositions('kite "wolf bear"')).toEqual([SEGMENT_COUNT - 1]);
  });

  it("fills the limit with segments without the excluded word", async () => {
    const hits = await findPositions("wolf bear lynx -kite");
    expect(hits).toHaveLength(LIMIT);
    expect(hits.filter((at) => at % KITE_INTERVAL === 1)).toEqual([]);
    expect(await findPositions("kite -dog")).toEqual([]);
  });

  it("finds segments of its own index only", async () => {
    expect(await findPositions("elsewhere")).toEqual([]);
    expect(new Set(await findPositions("elsewhere", [], other))).not.toContain(-1);
    expect(await findPositions("elsewhere", [], other)).toHaveLength(LIMIT);
  });
});

it("segments that are written twice keep their full text and their number", async () => {
  const before = await countStored(other.indexId);
  expect(before).toMatchObject({ segments: SEGMENT_COUNT, segment_fts_docsize: SEGMENT_COUNT });
  const dogs = Array.from({ length: SEGMENT_COUNT }, () => "dog");
  await captionSegments(other, dogs);
  expect(await countStored(other.indexId)).toEqual(before);
  expect(await findPositions("elsewhere", [], other)).toEqual([]);
});
