import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { parseQuery } from "../src/search/query.ts";
import { scopeOf, searchFor } from "../src/search/request.ts";
import { Terms } from "../src/search/terms.ts";
import { searchWords } from "../src/store/words.ts";
import { addEmpty, caption } from "./captioned.ts";
import { newClient } from "./client.ts";
import type { Owner } from "./stores.ts";

/** So many segments; of them one in twenty tells of a kite, and one in twelve of each of some animals. */
const [ALL, KITES] = [1000, 20];
const MIDDLING = ["wolf", "bear", "lynx"];
const LIMIT = 20;

/** Full-width letters, half-width kana, a mark by itself, and scripts that put no spaces between words. */
const FOREIGN = ["２０２４ ＴＶ", "ｶﾒﾗ", "か\u3099く", "一辆红色的汽车", "猫は庭で寝ている"];

let park: Owner;
let zoo: Owner;
let other: Owner;

beforeAll(async () => {
  const client = await newClient();
  for (const index_name of ["animals", "others"]) {
    await client.json("POST", "/index", { json: { index_name } });
  }
  park = await addEmpty(client, "animals", "video", "clip.mp4");
  other = await addEmpty(client, "others", "video", "clip.mp4");
  zoo = await addEmpty(client, "animals", "image", "words.jpg");
  const captions = Array.from({ length: ALL }, (_, at) => {
    const middling = MIDDLING.filter((_, i) => Math.floor((at % 250) / 20) === i);
    return ["dog", ...(at % KITES === 1 ? ["kite"] : []), ...middling, `at ${at}`].join(" ");
  });
  captions[ALL - 1] = "wolf bear lynx";
  captions[ALL - 2] = "lantern";
  await caption(park, captions);
  await caption(
    other,
    captions.map((caption) => `${caption} elsewhere`),
  );
  await caption(zoo, [...Array.from({ length: LIMIT }, () => "dog"), ...FOREIGN]);
}, 60_000);

/** Places of what is found in `owner`, with others left out where it is named. */
async function found(query: string, assetIds: string[] = [], owner = park): Promise<number[]> {
  const parsed = parseQuery(query);
  const { tokens } = new Terms(parsed.words);
  const { assets, columns } = scopeOf(owner.indexId, searchFor({ topK: LIMIT, assetIds }));
  const { hits } = await searchWords(env.DB, {
    scope: assets,
    query: parsed,
    tokens,
    columns,
    limit: LIMIT,
  });
  return hits.map(({ segmentId }) => {
    const [assetId, position] = segmentId.split("-");
    return assetId === owner.assetId ? Number(position) : -1;
  });
}

describe("words", () => {
  it("that tell are what the rest is ranked among, where enough segments hold them", async () => {
    expect(await found("wolf bear lynx")).toContain(ALL - 1);
    const kites = await found("wolf bear lynx kite");
    expect(kites).toHaveLength(LIMIT);
    expect(kites.filter((at) => at % KITES !== 1)).toEqual([]);
    expect(kites[0]! % 250).toBeLessThan(MIDDLING.length * 20); // the other words count
  });

  it("that say little are found too, where too few segments hold those that tell", async () => {
    const hits = await found("dog lantern");
    expect(hits[0]).toBe(ALL - 2);
    expect(hits).toHaveLength(LIMIT);
  });

  it("that tell, but stand out of scope, hide nothing", async () => {
    expect(await found("dog kite", [zoo.assetId], zoo)).toHaveLength(LIMIT);
  });

  it.each([
    ["tv 2024", 0],
    ["ＴＶ", 0],
    ['"2024 TV"', 0],
    ["カメラ", 1],
    ["がく", 2],
    ["红色汽车", 3],
    ["庭の猫", 4],
  ])("are found as they are meant: %s", async (query, at) => {
    expect(await found(query, [], zoo)).toEqual([LIMIT + at]);
  });

  it("of a phrase must stand there, whatever else tells", async () => {
    expect(await found('kite "wolf bear"')).toEqual([ALL - 1]);
  });

  it("that are left out leave room for others", async () => {
    const hits = await found("wolf bear lynx -kite");
    expect(hits).toHaveLength(LIMIT);
    expect(hits.filter((at) => at % KITES === 1)).toEqual([]);
    expect(await found("kite -dog")).toEqual([]);
  });

  it("are those of the index alone", async () => {
    expect(await found("elsewhere")).toEqual([]);
    expect(new Set(await found("elsewhere", [], other))).not.toContain(-1);
    expect(await found("elsewhere", [], other)).toHaveLength(LIMIT);
  });
});

it("segments that are written twice stay what they are, in the range of their index", async () => {
  const rows = async () => {
    const { results } = await env.DB.prepare(
      "SELECT index_id, segment_id, rowid >> 32 AS range FROM segments WHERE asset_id = ? ORDER BY rowid",
    )
      .bind(other.assetId)
      .all<{ index_id: string; range: number }>();
    return results;
  };
  const before = await rows();
  expect(before).toHaveLength(ALL);
  await caption(
    other,
    Array.from({ length: ALL }, () => "dog"),
  );
  expect(await rows()).toEqual(before);
  const number = await env.DB.prepare("SELECT rowid FROM indices WHERE index_id = ?")
    .bind(other.indexId)
    .first("rowid");
  expect(new Set(before.map(({ range }) => range))).toEqual(new Set([number]));
});
