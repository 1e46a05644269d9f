import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ACCOUNT_LIMITS } from "../../src/config.ts";
import { makeSearchRequest } from "../../src/search/request.ts";
import type { Limit } from "../../src/store/d1/quotas.ts";
import {
  type Call,
  type Client,
  fixture,
  fixtureUrl,
  type Json,
  newClient,
} from "../support/client.ts";
import { deliver } from "../support/ingest-helpers.ts";

let client: Client;
let accountId: string;

beforeAll(async () => {
  client = await newClient();
  accountId = (await client.json("POST", "/init")).account_id;
  await client.json("POST", "/index", { json: { index_name: "a" } });
});

beforeEach(async () => {
  await setLimits({});
  await env.DB.prepare("DELETE FROM usage WHERE account_id = ?").bind(accountId).run();
});

/** Overrides limits of the account, as an operator would. */
async function setLimits(limits: { [limit in Limit]?: number }) {
  await env.DB.prepare("UPDATE accounts SET limits = ? WHERE account_id = ?")
    .bind(JSON.stringify(limits), accountId)
    .run();
}

const usage = async () => (await client.json("GET", "/stats")).usage.today;

const imageForm = async () => ({ form: { image_file: await fixture("boats.jpg") } });
const videoForm = async () => ({ form: { video_file: await fixture("clip.mp4") } });
const textQuery = { json: { query: "boats" } };
const search: RequestCase = ["POST", "/index/a/search", async () => textQuery];

type RequestCase = [method: string, path: string, call: () => Promise<Call>];

describe.each<[Limit, number, RequestCase, 429 | 402]>([
  ["searches_per_day", 0, search, 429],
  ["searches_per_day", 0, ["POST", "/index/a/search_image", imageForm], 429],
  ["searches_per_day", 0, ["POST", "/index/a/search_video", videoForm], 429],
  [
    "searches_per_day",
    0,
    ["POST", "/index/a/search", async () => ({ json: { query: "boats", queue_job: true } })],
    429,
  ],
  ["answers_per_day", 0, ["GET", "/index/a/answer?query=boats", async () => ({})], 429],
  ["ingest_minutes_per_day", 0, ["POST", "/index/a/video", videoForm], 429],
  ["ingest_images_per_day", 0, ["POST", "/index/a/image", imageForm], 429],
  ["concurrent_ingests", 0, ["POST", "/index/a/image", imageForm], 429],
  [
    "concurrent_ingests",
    0,
    ["POST", "/index/a/videonet/search", async () => ({ json: { query: "x" } })],
    429,
  ],
  ["stored_bytes", 1000, ["POST", "/index/a/image", imageForm], 402],
])("the limit %s of %i", (limit, value, [method, path, call], status) => {
  it(`refuses ${method} ${path} with ${status} and names the limit`, async () => {
    await setLimits({ [limit]: value });
    const response = await client.send(method, path, await call());
    expect(response.status).toBe(status);
    const { detail }: Json = await response.json();
    expect(detail).toMatch(`This account has reached its limit ${limit} (${value})`);
    const retryAfter = response.headers.get("retry-after");
    if (status === 402) expect(retryAfter).toBeNull();
    else expect(Number(retryAfter)).toBeGreaterThan(0);
    expect((await client.json("GET", "/index/a")).total).toBe(0);
    expect((await usage()).searches).toBe(0);
  });
});

it("the API returns the default limits, with the account's overrides", async () => {
  const overrides = { searches_per_day: 7, upload_bytes: 1, nonsense: 1 };
  await setLimits(overrides);
  const requests = {
    requests_per_minute: Number(env.KEY_RATE),
    account_requests_per_minute: Number(env.ACCOUNT_RATE),
  };
  const limits = { ...ACCOUNT_LIMITS, ...requests, searches_per_day: 7 };
  expect((await client.json("POST", "/init")).limits).toEqual(limits);
  expect((await client.json("GET", "/stats")).limits).toEqual(limits);
});

it("searches are accepted up to the daily limit, and refused beyond", async () => {
  await setLimits({ searches_per_day: 2 });
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) {
    const { searches } = await usage();
    statuses.push((await client.send("POST", "/index/a/search", textQuery)).status);
    if (i < 2) await expect.poll(async () => (await usage()).searches).toBe(searches + 1);
  }
  expect(statuses).toEqual([200, 200, 429]);
});

describe("an ingest", () => {
  let indexCount = 0;
  const ingest = async (url: string): Promise<Json> => {
    const index = `ingest-${indexCount++}`;
    await client.json("POST", "/index", { json: { index_name: index } });
    return client.waitForAsset(index, await client.json("POST", `/index/${index}/${url}`));
  };

  it("fails with account_full if the downloaded file exceeds the stored_bytes limit", async () => {
    await setLimits({ stored_bytes: 1000 });
    const failed = await ingest(`image?image_url=${fixtureUrl("boats.jpg")}`);
    expect(failed).toMatchObject({ state: "failed", error: { code: "account_full" } });
    expect(failed.size_bytes).toBe(0);
    const { objects } = await env.MEDIA.list({ prefix: `${accountId}/` });
    expect(objects).toEqual([]);
  });

  it("fails with limit_reached if the video exceeds the day's minutes", async () => {
    await setLimits({ ingest_minutes_per_day: 0.02 });
    const failed = await ingest(`video?video_url=${fixtureUrl("clip.mp4")}`);
    expect(failed).toMatchObject({ state: "failed", error: { code: "limit_reached" } });
    await setLimits({});
    const path = `/index/${failed.index_name}/video/${failed.asset_id}`;
    await client.json("POST", `${path}/retry`);
    expect(await client.waitForAsset(failed.index_name, failed)).toMatchObject({ state: "ready" });
  });
});

it("a queued search is metered once if its message is delivered twice", async () => {
  const json = { query: "boats", queue_job: true };
  const { job_id } = await client.json("POST", "/index/a/search", { json });
  expect((await usage()).searches).toBe(1);
  await client.waitForJob(job_id);
  const row = await env.DB.prepare("SELECT index_id FROM jobs WHERE job_id = ?")
    .bind(job_id)
    .first<{ index_id: string }>();
  const job = { kind: "search", jobId: job_id, accountId, indexId: row!.index_id, indexName: "a" };
  await env.DB.prepare("UPDATE jobs SET state = 'queued', leased = 0 WHERE job_id = ?")
    .bind(job_id)
    .run();
  await deliver("sightline-local-jobs", {
    ...job,
    request: makeSearchRequest({ query: "boats", topK: 5 }),
    clip: null,
  });
  expect(await client.waitForJob(job_id)).toMatchObject({ state: "succeeded" });
  expect((await usage()).searches).toBe(1);
});
