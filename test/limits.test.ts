import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ACCOUNT_LIMITS } from "../src/config.ts";
import { searchFor } from "../src/search/request.ts";
import type { Limit } from "../src/store/limits.ts";
import { type Call, type Client, fixture, fixtureUrl, type Json, newClient } from "./client.ts";
import { deliver } from "./started.ts";

let client: Client;
let accountId: string;

beforeAll(async () => {
  client = await newClient();
  accountId = (await client.json("POST", "/init")).account_id;
  await client.json("POST", "/index", { json: { index_name: "a" } });
});

beforeEach(async () => {
  await allow({});
  await env.DB.prepare("DELETE FROM usage WHERE account_id = ?").bind(accountId).run();
});

/** What the operator would set, of this account. */
async function allow(limits: { [limit in Limit]?: number }) {
  await env.DB.prepare("UPDATE accounts SET limits = ? WHERE account_id = ?")
    .bind(JSON.stringify(limits), accountId)
    .run();
}

const usage = async () => (await client.json("GET", "/stats")).usage.today;

const picture = async () => ({ form: { image_file: await fixture("boats.jpg") } });
const video = async () => ({ form: { video_file: await fixture("clip.mp4") } });
const words = { json: { query: "boats" } };
const search: Asked = ["POST", "/index/a/search", async () => words];

type Asked = [method: string, path: string, call: () => Promise<Call>];

describe.each<[Limit, number, Asked, 429 | 402]>([
  ["searches_per_day", 0, search, 429],
  ["searches_per_day", 0, ["POST", "/index/a/search_image", picture], 429],
  ["searches_per_day", 0, ["POST", "/index/a/search_video", video], 429],
  [
    "searches_per_day",
    0,
    ["POST", "/index/a/search", async () => ({ json: { query: "boats", queue_job: true } })],
    429,
  ],
  ["answers_per_day", 0, ["GET", "/index/a/answer?query=boats", async () => ({})], 429],
  ["ingest_minutes_per_day", 0, ["POST", "/index/a/video", video], 429],
  ["ingest_images_per_day", 0, ["POST", "/index/a/image", picture], 429],
  ["concurrent_ingests", 0, ["POST", "/index/a/image", picture], 429],
  [
    "concurrent_ingests",
    0,
    ["POST", "/index/a/videonet/search", async () => ({ json: { query: "x" } })],
    429,
  ],
  ["stored_bytes", 1000, ["POST", "/index/a/image", picture], 402],
])("the limit %s of %i", (limit, most, [method, path, call], status) => {
  it(`holds for ${method} ${path}, and says its name`, async () => {
    await allow({ [limit]: most });
    const response = await client.send(method, path, await call());
    expect(response.status).toBe(status);
    const { detail }: Json = await response.json();
    expect(detail).toMatch(`This account has reached its limit ${limit} (${most})`);
    const retryAfter = response.headers.get("retry-after");
    if (status === 402) expect(retryAfter).toBeNull();
    else expect(Number(retryAfter)).toBeGreaterThan(0);
    expect((await client.json("GET", "/index/a")).total).toBe(0);
    expect((await usage()).searches).toBe(0);
  });
});

it("limits are shown: what every account may, and what this one may", async () => {
  const given = { searches_per_day: 7, upload_bytes: 1, nonsense: 1 };
  await allow(given);
  const requests = {
    requests_per_minute: Number(env.KEY_RATE),
    account_requests_per_minute: Number(env.ACCOUNT_RATE),
  };
  const limits = { ...ACCOUNT_LIMITS, ...requests, searches_per_day: 7 };
  expect((await client.json("POST", "/init")).limits).toEqual(limits);
  expect((await client.json("GET", "/stats")).limits).toEqual(limits);
});

it("what is left may be used up, and no more", async () => {
  await allow({ searches_per_day: 2 });
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) {
    const { searches } = await usage();
    statuses.push((await client.send("POST", "/index/a/search", words)).status);
    if (i < 2) await expect.poll(async () => (await usage()).searches).toBe(searches + 1);
  }
  expect(statuses).toEqual([200, 200, 429]);
});

describe("what shows only while it is ingested", () => {
  let made = 0;
  const bringIn = async (url: string): Promise<Json> => {
    const index = `while-${made++}`;
    await client.json("POST", "/index", { json: { index_name: index } });
    return client.settled(index, await client.json("POST", `/index/${index}/${url}`));
  };

  it("is refused then: a file that is larger than there is room for", async () => {
    await allow({ stored_bytes: 1000 });
    const failed = await bringIn(`image?image_url=${fixtureUrl("boats.jpg")}`);
    expect(failed).toMatchObject({ state: "failed", error: { code: "account_full" } });
    expect(failed.size_bytes).toBe(0);
    const { objects } = await env.MEDIA.list({ prefix: `${accountId}/` });
    expect(objects).toEqual([]);
  });

  it("is refused then: a video that is longer than the day's minutes", async () => {
    await allow({ ingest_minutes_per_day: 0.02 });
    const failed = await bringIn(`video?video_url=${fixtureUrl("clip.mp4")}`);
    expect(failed).toMatchObject({ state: "failed", error: { code: "limit_reached" } });
    await allow({});
    const path = `/index/${failed.index_name}/video/${failed.asset_id}`;
    await client.json("POST", `${path}/retry`);
    expect(await client.settled(failed.index_name, failed)).toMatchObject({ state: "ready" });
  });
});

it("a queued search is metered once, however often its message comes", async () => {
  const json = { query: "boats", queue_job: true };
  const { job_id } = await client.json("POST", "/index/a/search", { json });
  expect((await usage()).searches).toBe(1);
  await client.finished(job_id);
  const row = await env.DB.prepare("SELECT index_id FROM jobs WHERE job_id = ?")
    .bind(job_id)
    .first<{ index_id: string }>();
  const job = { kind: "search", jobId: job_id, accountId, indexId: row!.index_id };
  await env.DB.prepare("UPDATE jobs SET state = 'queued', held = 0 WHERE job_id = ?")
    .bind(job_id)
    .run();
  await deliver("sightline-jobs", { ...job, request: searchFor({ query: "boats", topK: 5 }) });
  expect(await client.finished(job_id)).toMatchObject({ state: "succeeded" });
  expect((await usage()).searches).toBe(1);
});
