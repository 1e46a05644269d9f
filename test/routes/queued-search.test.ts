import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type AccountId, type IndexId, newId } from "../../src/ids.ts";
import { insertJob } from "../../src/store/d1/jobs.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { deliver } from "../support/ingest-helpers.ts";
import { createSampleIndex } from "../support/sample-index.ts";

let client: Client;
let video: Json;

beforeAll(async () => {
  ({ client, video } = await createSampleIndex());
});

const search = (json: object) => client.json("POST", "/index/trip/search", { json });

/** Removes URLs, whose signatures change. */
const withoutUrls = (result: Json): Json =>
  JSON.parse(JSON.stringify(result, (key, value) => (key.endsWith("_url") ? null : value)));

/** Inserts a search job whose message was never sent. */
async function insertUnsentJob() {
  const row = await env.DB.prepare("SELECT account_id, index_id FROM assets WHERE asset_id = ?")
    .bind(video.asset_id)
    .first<{ account_id: AccountId; index_id: IndexId }>();
  const { account_id: accountId, index_id: indexId } = row!;
  const job = { kind: "search", jobId: newId("job"), accountId, indexId } as const;
  const message = { ...job, indexName: "trip", request: {}, clip: null };
  await insertJob(env.DB, message, Date.now());
  return message;
}

describe("a queued search", () => {
  it("returns a job at once, with the result of a direct search", async () => {
    const json = { query: "goats", top_k: 1 };
    const { job_id, state } = await search({ ...json, queue_job: true });
    expect(state).toBe("queued");
    const job = await client.waitForJob(job_id);
    expect(job).toMatchObject({ kind: "search", state: "succeeded", progress: 1, error: null });
    const direct = await search(json);
    expect({ ...withoutUrls(job.result), next_cursor: null }).toEqual({
      ...withoutUrls(direct),
      next_cursor: null,
    });
    const next = await search({ ...json, cursor: job.result.next_cursor });
    expect(next.segments[0].rank).toBe(2);
    const { jobs } = await client.json("GET", "/jobs");
    expect(jobs.find((one: Json) => one.job_id === job_id)).toMatchObject({ result: null });
  });

  it("is validated before it is queued", async () => {
    const json = { query: "x", queue_job: true, asset_ids: ["vid_nothing"] };
    expect((await client.send("POST", "/index/trip/search", { json })).status).toBe(404);
    const issues = await client.issues("POST", "/index/trip/search", { json: { queue_job: true } });
    expect(issues).toEqual([[["body", "query"], "missing"]]);
  });

  it.each<[string, number, string, number]>([
    ["the maximum size", 200, "x", 126_000],
    ["one kilobyte more", 413, "x", 127_000],
    ["more bytes than characters", 413, "é", 64_000],
  ])("of %s returns %d", async (_, status, letter, count) => {
    const before = await client.json("GET", "/jobs");
    const filter = { camera: letter.repeat(count) };
    const json = { query: "goats", filter, queue_job: true };
    const response = await client.send("POST", "/index/trip/search", { json });
    expect(response.status).toBe(status);
    const { job_id: jobId, detail } = await response.json<Json>();
    const jobs = await client.json("GET", "/jobs");
    expect(jobs.total - before.total).toBe(jobId ? 1 : 0);
    if (jobId) expect(await client.waitForJob(jobId)).toMatchObject({ state: "succeeded" });
    else expect(detail).toContain("without queue_job");
  });

  it("that fails has an error code", async () => {
    const { job_id } = await search({ similar_to: "seg_nothing", queue_job: true });
    const job = await client.waitForJob(job_id);
    expect(job).toMatchObject({ state: "failed", result: null, error: { code: "not_found" } });
  });

  it("of another account returns 404", async () => {
    const { job_id } = await search({ query: "goats", queue_job: true });
    const other = await newClient();
    expect((await other.send("GET", `/jobs/${job_id}`)).status).toBe(404);
    expect((await other.send("DELETE", `/jobs/${job_id}`)).status).toBe(404);
  });
});

describe("a cancelled job", () => {
  it("isn't run, and can't be cancelled again", async () => {
    const job = await insertUnsentJob();
    const cancelled = await client.json("DELETE", `/jobs/${job.jobId}`);
    expect(cancelled).toMatchObject({ state: "cancelled" });
    expect((await deliver("sightline-local-jobs", job)).explicitAcks).toHaveLength(1);
    expect(await client.json("GET", `/jobs/${job.jobId}`)).toMatchObject({ state: "cancelled" });
    expect((await client.send("DELETE", `/jobs/${job.jobId}`)).status).toBe(409);
  });

  it("can't be an ingest: cancelling one returns 409", async () => {
    const response = await client.send("DELETE", `/jobs/${video.job_id}`);
    expect(response.status).toBe(409);
    expect(await response.text()).toContain("delete an asset");
  });
});
