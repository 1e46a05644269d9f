import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { JUDGMENTS } from "../../src/parameters.ts";
import { type Client, type Json, newClient, uniqueFixture } from "../support/client.ts";
import { createSampleIndex } from "../support/sample-index.ts";
import { assetRefOf, runInIndex, segmentIdsOf } from "../support/store-queries.ts";

let client: Client;
let video: Json;
let words: Json;
let goats: string;
let lantern: string;

beforeAll(async () => {
  ({ client, video, words } = await createSampleIndex());
  const { segments } = await client.json("POST", "/index/trip/search", {
    json: { query: "goats" },
  });
  goats = segments[0].segment_id;
  lantern = (await segmentIdsOf(words))[0]!;
});

const PATH = "/index/trip/judgments";
const judge = (json: object) => client.json("POST", PATH, { json });
const list = (query = "") => client.json("GET", `${PATH}${query}`);
const clear = async () => runInIndex(await assetRefOf(video), "DELETE FROM judgments");

describe("a judgment", () => {
  it("is stored with the score and the evidence of a search", async () => {
    const query = "two goats";
    const { segments } = await client.json("POST", "/index/trip/search", { json: { query } });
    const hit = segments.find(({ segment_id }: Json) => segment_id === goats);
    const { judgment } = await judge({ query, segment_id: goats, relevant: true });
    expect(judgment).toMatchObject({ query, search_id: null, segment_id: goats, relevant: true });
    expect(judgment.score).toBeCloseTo(hit.score, 6);
    expect(judgment.log_odds).toBeCloseTo(Math.log(hit.score / (1 - hit.score)), 6);
    expect(judgment.evidence).toBe(hit.evidence[0].kind);
    const { judgments, total } = await list();
    expect({ judgments, total }).toEqual({ judgments: [judgment], total: 1 });
  });

  it("of the same query and segment replaces the earlier one", async () => {
    await clear();
    const first = await judge({ query: "Two  goats", segment_id: goats, relevant: true });
    const second = await judge({ query: "two goats", segment_id: goats, relevant: false });
    expect(second.judgment.judgment_id).toBe(first.judgment.judgment_id);
    const { judgments } = await list();
    expect(judgments).toEqual([second.judgment]);
    expect(judgments[0]).toMatchObject({ query: "two goats", relevant: false });
  });

  it("of null removes the earlier one, and may be sent again", async () => {
    await clear();
    await judge({ query: "goats", segment_id: goats, relevant: true });
    for (const relevant of [null, null]) {
      expect(await judge({ query: "goats", segment_id: goats, relevant })).toEqual({
        judgment: null,
      });
    }
    expect((await list()).total).toBe(0);
  });

  it("of a segment that the search doesn't find has no score", async () => {
    await clear();
    const { judgment } = await judge({
      query: '"goats" -lantern',
      segment_id: lantern,
      relevant: true,
    });
    expect(judgment).toMatchObject({ score: null, log_odds: null, evidence: null });
  });

  it("never takes a score from the caller", async () => {
    await clear();
    const json = { query: "goats", segment_id: goats, relevant: true, score: 0.01, log_odds: 9 };
    const response = await client.send("POST", PATH, { json });
    if (response.status === 200) {
      const { judgment } = await response.json<Json>();
      expect(judgment.score).toBeGreaterThan(0.1);
    } else expect(response.status).toBe(422);
  });
});

describe("a judgment of a queued search", () => {
  const queue = async (json: object) => {
    const { job_id } = await client.json("POST", "/index/trip/search", {
      json: { ...json, queue_job: true },
    });
    const { result } = await client.waitForJob(job_id);
    return { job_id, result };
  };

  it("with an example has the score of its result, and the search's id", async () => {
    await clear();
    const { job_id, result } = await queue({ similar_to: goats });
    const [hit] = result.segments;
    const json = { search_id: job_id, segment_id: hit.segment_id, relevant: true };
    const { judgment } = await judge(json);
    expect(judgment).toMatchObject({ query: "", search_id: job_id });
    expect(judgment.score).toBeCloseTo(hit.score, 6);
    await judge({ ...json, relevant: false });
    expect((await list()).total).toBe(1);
  });

  it("of words is one of its query", async () => {
    await clear();
    const { job_id } = await queue({ query: "goats" });
    const { judgment } = await judge({ search_id: job_id, segment_id: goats, relevant: true });
    expect(judgment).toMatchObject({ query: "goats", search_id: null });
    await judge({ query: "goats", segment_id: goats, relevant: false });
    expect((await list()).total).toBe(1);
  });

  it.each(["a segment that isn't among the results", "a job of another kind"])(
    "with %s returns 404",
    async (kind) => {
      const { job_id } = await queue({ query: "goats", modes: ["video"] });
      const json = kind.startsWith("a segment")
        ? { search_id: job_id, segment_id: lantern, relevant: true }
        : { search_id: video.job_id, segment_id: goats, relevant: true };
      expect((await client.send("POST", PATH, { json })).status).toBe(404);
    },
  );
});

describe("a judgment is refused", () => {
  it.each(["seg_nothing", `seg_${"0".repeat(26)}`])(
    "with 404 of the unknown segment %s",
    async (segment_id) => {
      const json = { query: "goats", segment_id, relevant: true };
      const response = await client.send("POST", PATH, { json });
      expect(response.status).toBe(404);
      expect(await response.text()).toContain(segment_id);
    },
  );

  it("with 404 of a segment of another account", async () => {
    const other = await newClient();
    await other.json("POST", "/index", { json: { index_name: "trip" } });
    const json = { query: "goats", segment_id: goats, relevant: true };
    expect((await other.send("POST", PATH, { json })).status).toBe(404);
  });

  it("with 422 of both a query and a search, of neither, and of one without a word", async () => {
    const segment = { segment_id: goats, relevant: true };
    const search_id = video.job_id;
    const issuesOf = (json: object) =>
      client.issues("POST", PATH, { json: { ...segment, ...json } });
    const at = ["body", "query"];
    expect(await issuesOf({ query: "goats", search_id })).toEqual([
      [["body", "search_id"], "value_error"],
    ]);
    expect(await issuesOf({ query: "?!" })).toEqual([[at, "value_error"]]);
    expect(await issuesOf({})).toEqual([[at, "missing"]]);
  });

  it("with 409 beyond the limit of an index, but replaces an earlier one there", async () => {
    await clear();
    await judge({ query: "goats", segment_id: goats, relevant: true });
    await runInIndex(
      await assetRefOf(video),
      `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO judgments SELECT 'jud_' || i, segment_key, 'q' || i, 'q' || i, NULL, 1, NULL,
         NULL, 0, 0 FROM n, (SELECT segment_key FROM judgments LIMIT 1)`,
      JUDGMENTS.maxCount,
    );
    const json = { query: "another", segment_id: goats, relevant: true };
    const response = await client.send("POST", PATH, { json });
    expect(response.status).toBe(409);
    expect(await response.text()).toContain(String(JUDGMENTS.maxCount));
    const { judgment } = await judge({ query: "goats", segment_id: goats, relevant: false });
    expect(judgment.relevant).toBe(false);
    await clear();
  });
});

describe("the list of judgments", () => {
  it("has pages, in the order of their creation", async () => {
    await clear();
    for (const query of ["a", "b", "c"]) {
      await judge({ query, segment_id: goats, relevant: query !== "b" });
    }
    const first = await list("?limit=2");
    expect(first.total).toBe(3);
    const second = await list(`?limit=2&cursor=${first.next_cursor}`);
    const queries = [...first.judgments, ...second.judgments].map(({ query }: Json) => query);
    expect(queries).toEqual(["a", "b", "c"]);
    expect(second.next_cursor).toBeNull();
  });
});

describe("judgments end", () => {
  it("with their asset, and with their index", async () => {
    const own = await newClient();
    await own.json("POST", "/index", { json: { index_name: "trip" } });
    const add = async () => {
      const form = { image_file: await uniqueFixture("words.jpg") };
      const asset = await own.json("POST", "/index/trip/image", { form });
      await own.waitForAsset("trip", asset);
      const [segment_id] = await segmentIdsOf(asset);
      await own.json("POST", PATH, { json: { query: "lantern", segment_id, relevant: true } });
      return asset;
    };
    const [first, second] = [await add(), await add()];
    const ref = await assetRefOf(second);
    const count = "SELECT COUNT(*) AS n FROM judgments";
    expect(await runInIndex(ref, count)).toEqual([{ n: 2 }]);
    const { job_id } = await own.json("DELETE", `/index/trip/image/${first.asset_id}`);
    expect((await own.json("GET", PATH)).total).toBe(1);
    await own.waitForJob(job_id);
    expect(await runInIndex(ref, count)).toEqual([{ n: 1 }]);
    const deleted = await own.json("DELETE", "/index/trip");
    await own.waitForJob(deleted.job_id);
    expect(await runInIndex(ref, count)).toEqual([]);
    const row = await env.DB.prepare("SELECT 1 FROM indices WHERE index_id = ?")
      .bind(ref.indexId)
      .first();
    expect(row).toBeNull();
  });
});
