import { beforeAll, describe, expect, it } from "vitest";
import { refineVector } from "../../src/search/example.ts";
import type { Client, Json } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { segmentIdsOf } from "../support/store-queries.ts";

let client: Client;
let boats: string;
let lantern: string;

beforeAll(async () => {
  const sample = await createSampleIndex();
  ({ client } = sample);
  boats = (await segmentIdsOf(sample.boats))[0]!;
  lantern = (await segmentIdsOf(sample.words))[0]!;
});

const search = (json: object) => client.json("POST", "/index/trip/search", { json });
const idsOf = ({ segments }: Json) => segments.map(({ segment_id }: Json) => segment_id);
const scoreOf = ({ segments }: Json, id: string) =>
  segments.find(({ segment_id }: Json) => segment_id === id)?.score;

describe("a search with `more_like`", () => {
  it("moves a segment forward, and scores it higher", async () => {
    const query = "something by the water";
    const [before, after] = [await search({ query }), await search({ query, more_like: [boats] })];
    expect(idsOf(after)[0]).toBe(boats);
    expect(scoreOf(after, boats)).toBeGreaterThan(scoreOf(before, boats));
  });

  it("returns the same when it is queued, and page by page", async () => {
    const json = { query: "something by the water", more_like: [boats] };
    const ids = idsOf(await search(json));
    const { job_id } = await search({ ...json, queue_job: true });
    const { result } = await client.waitForJob(job_id);
    expect(idsOf(result)).toEqual(ids);
    const first = await search({ ...json, top_k: 1 });
    const second = await search({ ...json, top_k: 1, cursor: first.next_cursor });
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids.slice(0, 2));
  });

  it("also refines a search by an example", async () => {
    const plain = await search({ similar_to: boats });
    const refined = await search({ similar_to: boats, more_like: [lantern] });
    expect(scoreOf(refined, lantern)).toBeGreaterThan(scoreOf(plain, lantern) ?? 0);
  });
});

describe("a search with `less_like`", () => {
  it("leaves those segments out", async () => {
    const before = await search({ query: "lantern" });
    expect(idsOf(before)).toContain(lantern);
    const after = await search({ query: "lantern", less_like: [lantern] });
    expect(idsOf(after)).not.toContain(lantern);
  });
});

describe("a search with `skipped`", () => {
  it("leaves those segments out, page by page and queued, and ignores unknown ones", async () => {
    const query = "something by the water";
    const ids = idsOf(await search({ query }));
    const skipped = [ids[0], "seg_nothing"];
    const json = { query, skipped };
    expect(idsOf(await search(json))).toEqual(ids.slice(1));
    const first = await search({ ...json, top_k: 1 });
    const second = await search({ ...json, top_k: 1, cursor: first.next_cursor });
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids.slice(1, 3));
    const { job_id } = await search({ ...json, queue_job: true });
    expect(idsOf((await client.waitForJob(job_id)).result)).toEqual(ids.slice(1));
  });

  it("moves its vector less towards what is right, since what is near comes next anyway", async () => {
    const query = "something by the water";
    const skipped = [lantern];
    const more = await search({ query, more_like: [boats] });
    const less = await search({ query, more_like: [boats], skipped });
    expect(scoreOf(less, boats)).toBeLessThan(scoreOf(more, boats));
    expect(scoreOf(less, boats)).toBeGreaterThan(scoreOf(await search({ query, skipped }), boats));
  });

  it("with more than 80 ids returns 422", async () => {
    const json = { query: "boats", skipped: Array.from({ length: 81 }, () => boats) };
    const issues = await client.issues("POST", "/index/trip/search", { json });
    expect(issues).toEqual([[["body", "skipped"], "too_long"]]);
  });
});

describe.each(["more_like", "less_like"])("the field %s", (field) => {
  it.each(["seg_nothing", `seg_${"0".repeat(26)}`])(
    "with the unknown id %s returns 404, which names it",
    async (id) => {
      const json = { query: "boats", [field]: [boats, id] };
      const response = await client.send("POST", "/index/trip/search", { json });
      expect(response.status).toBe(404);
      expect(await response.text()).toContain(id);
    },
  );

  it("with more than 20 ids returns 422", async () => {
    const json = { query: "boats", [field]: Array.from({ length: 21 }, () => boats) };
    const issues = await client.issues("POST", "/index/trip/search", { json });
    expect(issues).toEqual([[["body", field], "too_long"]]);
  });
});

describe("a refined vector", () => {
  const [x, y] = [
    [1, 0],
    [0, 1],
  ] as [number[], number[]];

  it("is that of the query without feedback", () => {
    const vector = [3, 4];
    expect(refineVector(vector, null)).toBe(vector);
    expect(refineVector(vector, { relevant: null, irrelevant: null })).toBe(vector);
  });

  it("is the query's direction, nearer to what is right and farther from what is wrong", () => {
    expect(refineVector([2, 0], { relevant: y, irrelevant: null })).toEqual([1, 0.75]);
    const [, away] = refineVector(x, { relevant: null, irrelevant: y });
    expect(away).toBeLessThan(0);
  });
});
