import { beforeAll, describe, expect, it } from "vitest";
import { type Client, type Json, newClient } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";

let client: Client;
let video: Json;
let words: Json;
let boats: Json;
/** The video's segments: one about a lighthouse, and one about its keeper and two goats. */
let first: Json;
let second: Json;

beforeAll(async () => {
  ({ client, video, words, boats } = await createSampleIndex());
  const path = `/index/trip/video/${video.video_id}/segments`;
  [first, second] = (await client.json("GET", path)).segments;
});

const search = (json: object) => client.json("POST", "/index/trip/search", { json });
const issues = (json: object) => client.issues("POST", "/index/trip/search", { json });
const idsOf = ({ segments }: Json) => segments.map(({ segment_id }: Json) => segment_id);
const scoreOf = ({ segments }: Json, id: string) =>
  segments.find(({ segment_id }: Json) => segment_id === id)?.score;

describe("a search with `all`", () => {
  it("ranks a segment with both things first, by the product of their probabilities", async () => {
    const both = await search({ query: "keeper", all: ["goats"] });
    expect(both.segments[0].segment_id).toBe(second.segment_id);
    const [keeper, goats] = [await search({ query: "keeper" }), await search({ query: "goats" })];
    const product = scoreOf(keeper, second.segment_id) * scoreOf(goats, second.segment_id);
    expect(both.segments[0].score).toBeCloseTo(product, 6);
    const other = await search({ query: "lighthouse", all: ["goats"] });
    expect(other.segments[0].score).toBeLessThan(0.1);
  });

  it("leaves out what was skipped", async () => {
    const ids = idsOf(
      await search({ query: "keeper", all: ["goats"], skipped: [second.segment_id] }),
    );
    expect(ids).not.toContain(second.segment_id);
    expect(idsOf(await search({ query: "keeper", all: ["goats"] }))).toContain(second.segment_id);
  });

  it("alone needs all of them, and says what each rests on", async () => {
    const { segments } = await search({ all: ["keeper", { query: "goats", modes: ["speech"] }] });
    const [hit] = segments;
    expect(hit.segment_id).toBe(second.segment_id);
    expect(hit.conditions).toMatchObject([
      { kind: "all", query: "keeper", similar_to: null },
      { kind: "all", query: "goats", similar_to: null },
    ]);
    expect(hit.conditions[1].evidence[0].text).toMatch(/<mark>goats<\/mark>/);
    expect(hit.evidence.map(({ kind }: Json) => kind)).toContain("speech");
  });

  it("finds a thing within `scope_seconds` in the same video", async () => {
    const json = { query: "lighthouse", all: ["goats"], top_k: 1 };
    const [far] = (await search(json)).segments;
    const [near] = (await search({ ...json, scope_seconds: 5 })).segments;
    expect(near.segment_id).toBe(first.segment_id);
    expect(near.score).toBeGreaterThan(0.5);
    expect(far.score).toBeLessThan(0.1);
    expect(near.conditions[0].evidence[0].text).toMatch(/<mark>goats<\/mark>/);
  });

  it("takes an example, which isn't a hit itself", async () => {
    const all = [{ similar_to: boats.asset_id }];
    const ids = (await search({ all })).segments.map(({ asset_id }: Json) => asset_id);
    expect(ids).not.toContain(boats.asset_id);
    expect(ids.length).toBeGreaterThan(0);
    const unknown = { json: { query: "goats", all: [{ similar_to: "seg_nothing" }] } };
    expect((await client.send("POST", "/index/trip/search", unknown)).status).toBe(404);
  });
});

describe("the words of `all` and `none`", () => {
  it("are corrected as those of the query, and the response says so", async () => {
    const json = { query: "lighthouse", all: ["a lighthuose"], none: ["goets", "zebra"] };
    const { query, segments } = await search(json);
    expect(query).toMatchObject({
      corrected: null,
      corrected_conditions: [
        { kind: "all", query: "a lighthuose", corrected: "a lighthouse" },
        { kind: "none", query: "goets", corrected: "goats" },
      ],
    });
    const queries = segments[0].conditions.map((one: Json) => one.query);
    expect(queries).toEqual(["a lighthouse", "goats", "zebra"]);
  });

  it("are searched as written with `correct: false`", async () => {
    const { query } = await search({ query: "lighthouse", all: ["goets"], correct: false });
    expect(query.corrected_conditions).toBeUndefined();
  });
});

describe("a search with `none`", () => {
  it("moves back what has the thing, and says what speaks for it", async () => {
    const plain = await search({ query: "lighthouse goats" });
    const without = await search({ query: "lighthouse goats", none: ["goats"] });
    expect(idsOf(without)[0]).toBe(first.segment_id);
    const before = scoreOf(plain, second.segment_id);
    expect(scoreOf(without, second.segment_id)).toBeLessThan(0.2 * before);
    const hit = without.segments.find(({ segment_id }: Json) => segment_id === second.segment_id);
    const [{ kind, score, evidence }] = hit.conditions;
    expect([kind, score < 0.2]).toEqual(["none", true]);
    expect(evidence[0].text).toMatch(/<mark>goats<\/mark>/);
  });

  it("lists each kind that was examined as evidence of absence", async () => {
    const { segments } = await search({ query: "lighthouse", none: ["zebra"] });
    const hit = segments.find(({ segment_id }: Json) => segment_id === first.segment_id);
    const [{ score, evidence }] = hit.conditions;
    expect(score).toBeGreaterThan(0.5);
    const kinds = evidence.map((one: Json) => one.kind).toSorted();
    expect(kinds).toEqual(expect.arrayContaining(["speech", "visual"]));
    expect(evidence.every((one: Json) => one.score < 0.5 && one.text === undefined)).toBe(true);
  });

  it("trusts a detector that named the thing", async () => {
    const { segments } = await search({ none: ["boat"] });
    const page = segments.find(({ asset_id }: Json) => asset_id === words.asset_id);
    expect(page.score).toBeGreaterThan(0.9);
    const withBoat = await search({ query: "boat", none: ["boat"] });
    const hit = withBoat.segments.find(({ asset_id }: Json) => asset_id === boats.asset_id);
    expect(hit.conditions[0].score).toBeLessThan(0.5);
  });

  it("within `scope_seconds` counts what is elsewhere in the video", async () => {
    const json = { query: "lighthouse", none: ["goats"] };
    const [alone, around] = [await search(json), await search({ ...json, scope_seconds: 5 })];
    const id = first.segment_id;
    expect(scoreOf(around, id)).toBeLessThan(0.2 * scoreOf(alone, id));
  });

  it("alone finds segments of which absence is likely, without those that have the word", async () => {
    const result = await search({ none: ["goats"] });
    expect(idsOf(result)).toContain(first.segment_id);
    expect(idsOf(result)).not.toContain(second.segment_id);
    expect(result.segments[0]).toMatchObject({ evidence: [], signals: {} });
    expect(result.segments[0].score).toBe(result.segments[0].conditions[0].score);
  });

  it("finds no example of another account", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "trip" } });
    for (const field of ["all", "none"]) {
      const json = { query: "goats", [field]: [{ similar_to: boats.asset_id }] };
      expect((await other.send("POST", "/index/trip/search", { json })).status).toBe(404);
    }
  });

  it("takes an example: what is like it moves back", async () => {
    const none = [{ similar_to: boats.asset_id }];
    const { segments } = await search({ none });
    const scores = segments.map(({ score }: Json) => score);
    expect(segments.at(-1).asset_id).toBe(boats.asset_id);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
  });

  it("is as `all` without a thing that nothing has", async () => {
    const [without, plain] = [
      await search({ query: "goats", none: ["zebra"] }),
      await search({ query: "goats" }),
    ];
    expect(idsOf(without)[0]).toBe(idsOf(plain)[0]);
  });

  it("counts only what its `modes` allow", async () => {
    const spoken = [{ query: "goats", modes: ["speech"] }];
    const written = [{ query: "goats", modes: ["text"] }];
    const json = { query: "keeper", modes: ["video"] };
    const id = second.segment_id;
    const [bySpeech, byText] = [
      await search({ ...json, none: spoken }),
      await search({ ...json, none: written }),
    ];
    expect(scoreOf(bySpeech, id)).toBeLessThan(0.2 * scoreOf(byText, id));
    expect(bySpeech.segments.every(({ video_id }: Json) => video_id !== null)).toBe(true);
  });
});

describe("conditions", () => {
  it("work with filters, groups, `top_p` and `asset_ids`", async () => {
    const json = { query: "keeper lighthouse", none: ["boat"] };
    const filtered = await search({ ...json, filter: { camera: "A" } });
    expect(new Set(idsOf(filtered))).toEqual(new Set([first.segment_id, second.segment_id]));
    expect(idsOf(await search({ ...json, group_by: "asset", modes: ["video"] }))).toHaveLength(1);
    expect(idsOf(await search({ ...json, asset_ids: [words.asset_id] }))).toHaveLength(1);
    const likely = await search({ query: "goats", none: ["boat"], top_p: 0.5 });
    expect(idsOf(likely)).toEqual([second.segment_id]);
    expect(likely.total).toBe(1);
  });

  it("return every hit exactly once over all pages", async () => {
    const json = { query: "lantern goat boat", none: ["zebra"], top_k: 1 };
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page: Json = await search({ ...json, cursor });
      ids.push(...idsOf(page));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(ids).toEqual(idsOf(await search({ ...json, top_k: 30 })));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("are in the results of a job", async () => {
    const json = { query: "keeper", all: ["goats"], none: ["boat"], top_k: 1 };
    const { job_id } = await search({ ...json, queue_job: true });
    const { result } = await client.waitForJob(job_id);
    const direct = await search(json);
    expect(result.segments[0].conditions).toEqual(direct.segments[0].conditions);
    expect(result.segments[0].score).toBeCloseTo(direct.segments[0].score, 6);
  });

  it("that are empty lists change nothing", async () => {
    const [plain, empty] = [
      await search({ query: "goats" }),
      await search({ query: "goats", all: [], none: [], scope_seconds: 3 }),
    ];
    expect(idsOf(empty)).toEqual(idsOf(plain));
    expect(empty.segments[0].conditions).toBeUndefined();
  });

  it.each<[string, object, unknown[]]>([
    ["no query", { all: [], none: [] }, ["body", "query"]],
    ["a thing without a word", { query: "goats", none: ["?"] }, ["body", "none", 0]],
    ["a number for words", { none: [{ query: 7 }] }, ["body", "none", 0, "query"]],
    ["an unknown mode", { all: [{ query: "a", modes: ["x"] }] }, ["body", "all", 0, "modes", 0]],
    [
      "words and an example at once",
      { all: [{ query: "a goat", similar_to: "seg_1" }] },
      ["body", "all", 0, "query"],
    ],
    ["too many things", { all: Array.from({ length: 6 }, () => "a goat") }, ["body", "all"]],
    ["a scope of two hours", { all: ["goats"], scope_seconds: 7200 }, ["body", "scope_seconds"]],
  ])("with %s are refused", async (_, json, loc) => {
    const locations = (await issues(json)).map(([where]) => where.slice(0, loc.length));
    expect(locations).toContainEqual(loc);
  });

  it("of a segment that was deleted meanwhile aren't met by it", async () => {
    const json = { all: ["lantern"], none: ["zebra"] };
    const assets = async () =>
      (await search(json)).segments.map(({ asset_id }: Json) => asset_id) as string[];
    expect(await assets()).toContain(words.asset_id);
    await client.json("DELETE", `/index/trip/image/${words.image_id}`);
    expect(await assets()).not.toContain(words.asset_id);
  });
});

describe("`query.suggested`", () => {
  it("offers `none` for words that say that something isn't there", async () => {
    const { query } = await search({ query: "a beach without people" });
    expect(query.suggested).toEqual({ query: "a beach", none: ["people"] });
    expect(query.hint).toContain("`none`");
    const plain = await search({ query: "a beach", none: ["people"] });
    expect(plain.query).toMatchObject({ hint: null, suggested: null });
  });
});
