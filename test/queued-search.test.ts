import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { type AccountId, type IndexId, newId } from "../src/ids.ts";
import { insertJob } from "../src/store/jobs.ts";
import { type Client, type Json, newClient } from "./client.ts";
import { deliver } from "./started.ts";
import { buildTrip } from "./trip.ts";

let client: Client;
let video: Json;

beforeAll(async () => {
  ({ client, video } = await buildTrip());
}, 60_000);

const search = (json: object) => client.json("POST", "/index/trip/search", { json });

/** Without the addresses, which are signed anew each time. */
const bare = (result: Json): Json =>
  JSON.parse(JSON.stringify(result, (key, value) => (key.endsWith("_url") ? null : value)));

/** A search that waits in a queue which doesn't bring it. */
async function waitingJob() {
  const row = await env.DB.prepare("SELECT account_id, index_id FROM assets WHERE asset_id = ?")
    .bind(video.asset_id)
    .first<{ account_id: AccountId; index_id: IndexId }>();
  const { account_id: accountId, index_id: indexId } = row!;
  const job = { jobId: newId("job"), accountId, indexId, kind: "search" as const };
  await insertJob(env.DB, job, Date.now());
  return job;
}

describe("a queued search", () => {
  it("answers at once, and has the result of one that isn't", async () => {
    const json = { query: "goats", top_k: 1 };
    const { job_id, state } = await search({ ...json, queue_job: true });
    expect(state).toBe("queued");
    const job = await client.finished(job_id);
    expect(job).toMatchObject({ kind: "search", state: "succeeded", progress: 1, error: null });
    const now = await search(json);
    expect({ ...bare(job.result), next_cursor: null }).toEqual({ ...bare(now), next_cursor: null });
    const next = await search({ ...json, cursor: job.result.next_cursor });
    expect(next.segments[0].rank).toBe(2);
    const { jobs } = await client.json("GET", "/jobs");
    expect(jobs.find((one: Json) => one.job_id === job_id)).toMatchObject({ result: null });
  });

  it("checks its request before it queues", async () => {
    const json = { query: "x", queue_job: true, asset_ids: ["vid_nothing"] };
    expect((await client.send("POST", "/index/trip/search", { json })).status).toBe(404);
    const issues = await client.issues("POST", "/index/trip/search", { json: { queue_job: true } });
    expect(issues).toEqual([[["body", "query"], "missing"]]);
  });

  it.each<[string, number, string, number]>([
    ["all that a queue takes", 200, "x", 126_000],
    ["more than that", 413, "x", 127_000],
    ["more bytes than that", 413, "é", 64_000],
  ])("of %s is a %d", async (_, status, letter, count) => {
    const before = await client.json("GET", "/jobs");
    const filter = { camera: letter.repeat(count) };
    const json = { query: "goats", filter, queue_job: true };
    const response = await client.send("POST", "/index/trip/search", { json });
    expect(response.status).toBe(status);
    const { job_id: jobId, detail } = await response.json<Json>();
    const jobs = await client.json("GET", "/jobs");
    expect(jobs.total - before.total).toBe(jobId ? 1 : 0);
    if (jobId) expect(await client.finished(jobId)).toMatchObject({ state: "succeeded" });
    else expect(detail).toContain("without queue_job");
  });

  it("that can't be done says why", async () => {
    const { job_id } = await search({ similar_to: "seg_nothing", queue_job: true });
    const job = await client.finished(job_id);
    expect(job).toMatchObject({ state: "failed", result: null, error: { code: "not_found" } });
  });

  it("is another account's business", async () => {
    const { job_id } = await search({ query: "goats", queue_job: true });
    const other = await newClient();
    expect((await other.send("GET", `/jobs/${job_id}`)).status).toBe(404);
    expect((await other.send("DELETE", `/jobs/${job_id}`)).status).toBe(404);
  });
});

describe("a job that is cancelled", () => {
  it("is not run any more", async () => {
    const job = await waitingJob();
    const cancelled = await client.json("DELETE", `/jobs/${job.jobId}`);
    expect(cancelled).toMatchObject({ state: "cancelled" });
    expect((await deliver("sightline-jobs", { ...job, request: {} })).explicitAcks).toHaveLength(1);
    expect(await client.json("GET", `/jobs/${job.jobId}`)).toMatchObject({ state: "cancelled" });
    expect((await client.send("DELETE", `/jobs/${job.jobId}`)).status).toBe(409);
  });

  it("can't be an ingest, which deleting its asset ends", async () => {
    const response = await client.send("DELETE", `/jobs/${video.job_id}`);
    expect(response.status).toBe(409);
    expect(await response.text()).toContain("delete an asset");
  });
});
