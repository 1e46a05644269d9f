import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Client, Json } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { type AssetRef, assetRefOf, run, runInIndex } from "../support/store-queries.ts";

let client: Client;
let index: AssetRef;
let segments: Json[];

beforeAll(async () => {
  const sample = await createSampleIndex();
  ({ client } = sample);
  index = await assetRefOf(sample.video);
  ({ segments } = await search());
});

beforeEach(() => runInIndex(index, "DELETE FROM judgments"));

const search = () => client.json("POST", "/index/trip/search", { json: { query: "goats" } });
const judge = (segment_id: string, relevant: boolean | null) =>
  client.json("POST", "/index/trip/judgments", { json: { query: "goats", segment_id, relevant } });
const quality = () => client.json("GET", "/index/trip/quality");

it("the quality of an index without judgments has a count of 0 for each tenth", async () => {
  const tenths = Array.from({ length: 10 }, (_, i) => ({ from: i / 10, judged: 0, right: 0 }));
  const counts = { judged: 0, right: 0, unfound: 0, outdated: 0 };
  expect(await quality()).toEqual({ calibration: "fitted", ...counts, tenths });
});

it("the quality of an index counts what was judged and right by tenth of the score", async () => {
  const [best, other] = segments;
  await judge(best.segment_id, true);
  await judge(other.segment_id, false);
  const { judged, right, tenths } = await quality();
  expect({ judged, right }).toEqual({ judged: 2, right: 1 });
  expect(tenths[Math.floor(best.score * 10)].right).toBe(1);
  expect(tenths[Math.floor(other.score * 10)].judged).toBeGreaterThan(0);
  await judge(best.segment_id, null);
  expect(await quality()).toMatchObject({ judged: 1, right: 0 });
  await runInIndex(index, "UPDATE judgments SET calibration_tag = 7");
  expect(await quality()).toMatchObject({ judged: 1, outdated: 1 });
});

it("judgments, and what an earlier version fitted to them, change no score", async () => {
  await run(
    `UPDATE indices SET calibration_slope = 0.5, calibration_offset = -1, calibration_tag = 1
     WHERE index_id = ?`,
    index.indexId,
  );
  for (const { segment_id } of segments) await judge(segment_id, false);
  const scoresOf = (hits: Json[]) => hits.map(({ score }) => score);
  const again = await search();
  expect(scoresOf(again.segments)).toEqual(scoresOf(segments));
  expect(again.calibration).toBe("fitted");
});
