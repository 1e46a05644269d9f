import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { calibrationTag } from "../../src/search/calibration.ts";
import type { Client, Json } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { type AssetRef, assetRefOf, run, runInIndex } from "../support/store-queries.ts";

let client: Client;
let index: AssetRef;
let goats: string;

beforeAll(async () => {
  const sample = await createSampleIndex();
  ({ client } = sample);
  index = await assetRefOf(sample.video);
  ({ segment_id: goats } = (await search({ query: "goats" })).segments[0]);
});

beforeEach(async () => {
  await setCalibration("automatic");
  await runInIndex(index, "DELETE FROM judgments");
  await judge("house", null);
});

const search = (json: object) => client.json("POST", "/index/trip/search", { json });
const judge = (query: string, relevant: boolean | null) =>
  client.json("POST", "/index/trip/judgments", { json: { query, segment_id: goats, relevant } });
const quality = () => client.json("GET", "/index/trip/quality");
const setCalibration = (calibration: string) =>
  client.json("PATCH", "/index/trip", { json: { settings: { calibration } } });
const stateOfIndex = async () => (await client.json("GET", "/index/trip")).index.calibration;

/** Inserts judgments of as many queries with the same log odds, of which the first are relevant. */
async function insertJudgments(
  count: number,
  relevant: number,
  logOdds: number,
  tag = calibrationTag(env),
) {
  await runInIndex(
    index,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO judgments SELECT 'jud_' || ? || '_' || i, segment_key, '', ? || '_' || i, NULL,
       i <= ?, ?, 'speech', ?, 0
     FROM n, segments WHERE segment_id = ?`,
    count,
    logOdds,
    logOdds,
    relevant,
    logOdds,
    tag,
    goats,
  );
}

/** Inserts judgments that say that scores are too high. */
async function insertDoubts() {
  await insertJudgments(60, 12, 2);
  await insertJudgments(60, 3, -1);
}

const scoresOf = (result: Json) => result.segments.map(({ score }: Json) => score);
const idsOf = (result: Json) => result.segments.map(({ segment_id }: Json) => segment_id);

describe("the quality of an index", () => {
  it("is unknown without judgments", async () => {
    const { calibration, outdated, all, by_evidence } = await quality();
    expect({ calibration, outdated }).toEqual({ calibration: "fitted", outdated: 0 });
    const figures = { precision: null, calibration_error: null, ndcg_at_10: null, bins: null };
    expect(all).toEqual({ judgments: 0, relevant: 0, is_enough: false, ...figures });
    expect(Object.keys(by_evidence)).toEqual(["visual", "speech", "text", "caption"]);
    expect(by_evidence.speech).toEqual(all);
  });

  it("has figures of 30 judgments, by kind of evidence, and leaves out outdated ones", async () => {
    await insertJudgments(30, 24, 1);
    await insertJudgments(5, 0, 3, 7);
    const { outdated, all, by_evidence } = await quality();
    expect(outdated).toBe(5);
    expect(all).toMatchObject({ judgments: 30, relevant: 24, is_enough: true });
    expect(all.precision[2]).toMatchObject({ threshold: 0.5, judgments: 30, precision: 0.8 });
    expect(all.bins).toHaveLength(1);
    const { value, low, high } = all.calibration_error;
    expect(value).toBeCloseTo(0.8 - 1 / (1 + Math.exp(-1)), 6);
    expect(low).toBeLessThan(value);
    expect(high).toBeGreaterThan(value);
    expect(all.ndcg_at_10).toEqual({ value: 1, queries: 24 });
    expect(by_evidence.speech).toEqual(all);
    expect(by_evidence.visual.is_enough).toBe(false);
  });
});

describe("judgments that say that scores are too high", () => {
  it("lower the scores of searches in the same order, which say `own`", async () => {
    const before = await search({ query: "house" });
    await insertDoubts();
    expect((await judge("goats", true)).calibration).toBe("own");
    const after = await search({ query: "house" });
    expect(after.calibration).toBe("own");
    expect(await stateOfIndex()).toBe("own");
    expect((await client.json("GET", "/index")).indices[0].calibration).toBe("own");
    expect(idsOf(after)).toEqual(idsOf(before));
    for (const [i, score] of scoresOf(after).entries()) {
      expect(score).toBeLessThan(scoresOf(before)[i]);
    }
    expect((await quality()).calibration).toBe("own");
  });

  it("count for `top_p`, pages, queued searches and the evidence of answers", async () => {
    await insertDoubts();
    await judge("goats", true);
    const { segments, total } = await search({ query: "house" });
    const [best] = segments;
    expect((await search({ query: "house", top_p: best.score })).total).toBe(1);
    expect((await search({ query: "house", top_p: best.score + 0.001 })).total).toBe(0);
    const page = await search({ query: "house", top_k: 1 });
    const next = await search({ query: "house", top_k: 1, cursor: page.next_cursor });
    expect(next.total).toBe(total);
    expect(idsOf(next)).toEqual([segments[1].segment_id]);
    const queued = await search({ query: "house", queue_job: true });
    expect(queued.calibration).toBe("own");
    const { result } = await client.waitForJob(queued.job_id);
    expect(result.calibration).toBe("own");
    expect(scoresOf(result)[0]).toBeCloseTo(best.score, 6);
    const answer = await client.json("GET", "/index/trip/answer?query=where+is+the+house");
    expect(answer.related.every(({ score }: Json) => score < 0.6)).toBe(true);
  });

  it("are stored with the general score, whatever the calibration is", async () => {
    const [{ score }] = (await search({ query: "goats" })).segments;
    await insertDoubts();
    await judge("goats", true);
    const { judgment } = await judge("goats", false);
    expect(judgment.score).toBeCloseTo(score, 6);
    const { job_id } = await search({ query: "goats", queue_job: true });
    await client.waitForJob(job_id);
    const json = { search_id: job_id, segment_id: goats, relevant: true };
    const again = await client.json("POST", "/index/trip/judgments", { json });
    expect(again.judgment.score).toBeCloseTo(score, 6);
  });

  it("change nothing with the setting `general`, and do again with `automatic`", async () => {
    const before = await search({ query: "house" });
    await setCalibration("general");
    await insertDoubts();
    expect((await judge("goats", true)).calibration).toBe("fitted");
    expect(scoresOf(await search({ query: "house" }))).toEqual(scoresOf(before));
    await setCalibration("automatic");
    expect(await stateOfIndex()).toBe("own");
    expect(scoresOf(await search({ query: "house" }))[0]).toBeLessThan(scoresOf(before)[0]);
  });

  it("count until they are removed", async () => {
    await insertDoubts();
    await judge("goats", true);
    await runInIndex(index, "DELETE FROM judgments");
    expect((await judge("goats", null)).calibration).toBe("fitted");
    expect((await search({ query: "house" })).calibration).toBe("fitted");
  });

  it("don't count after the general parameters have changed", async () => {
    await insertDoubts();
    await judge("goats", true);
    await run("UPDATE indices SET calibration_tag = 7 WHERE index_id = ?", index.indexId);
    expect((await search({ query: "house" })).calibration).toBe("fitted");
    expect(await stateOfIndex()).toBe("fitted");
  });
});
