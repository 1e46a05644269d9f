import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import worker from "../local/worker.ts";
import { app } from "../src/app.ts";
import { JOBS } from "../src/config.ts";
import { type AccountId, type IndexId, newId } from "../src/ids.ts";
import type { JobMessage } from "../src/queues/messages.ts";
import { searchFor } from "../src/search/request.ts";
import { claimJob, insertJob, releaseJob, renewJob } from "../src/store/jobs.ts";
import { clipKey } from "../src/store/media.ts";
import { type Client, newClient } from "./client.ts";
import { deliver, startAsset } from "./started.ts";
import { run } from "./stores.ts";

let client: Client;
let indexId: IndexId;
let accountId: AccountId;

beforeAll(async () => {
  client = await newClient();
  ({ indexId } = await startAsset(client, "jobs"));
  accountId = (await client.json("POST", "/init")).account_id;
});

/** On record since `at`, but in no queue. */
async function lostJob(at: number, beside: Partial<JobMessage> = {}) {
  const job: JobMessage = {
    kind: "search",
    jobId: newId("job"),
    accountId,
    indexId,
    request: searchFor({ query: "goats", topK: 5 }),
    ...beside,
  };
  await insertJob(env.DB, job, at);
  return job;
}

async function askedFor(asks: number, job: JobMessage) {
  await run("UPDATE jobs SET asks = ? WHERE job_id = ?", asks, job.jobId);
  return job;
}

const sweepAt = (scheduledTime: number) =>
  worker.scheduled({ scheduledTime, cron: "* * * * *" } as ScheduledController, env);
const recordOf = ({ jobId }: JobMessage) => client.json("GET", `/jobs/${jobId}`);
const rowOf = ({ jobId }: JobMessage) =>
  env.DB.prepare("SELECT state, message, due_at AS dueAt, held, asks FROM jobs WHERE job_id = ?")
    .bind(jobId)
    .first<{ state: string; message: string | null; dueAt: number | null; asks: number }>();

describe("a job whose message was lost", () => {
  it("is sent again when it is overdue, and not before", async () => {
    const now = Date.now();
    const job = await lostJob(now);
    await sweepAt(now + JOBS.unheardMs - 1);
    expect(await rowOf(job)).toMatchObject({ state: "queued", asks: 0 });
    await sweepAt(now + JOBS.unheardMs);
    expect(await client.finished(job.jobId)).toMatchObject({ state: "succeeded" });
  });

  it("leaves nothing of what was asked on record once it has ended", async () => {
    const job = await lostJob(Date.now());
    expect((await rowOf(job))!.message).toContain("goats");
    await deliver("sightline-jobs", job);
    expect(await rowOf(job)).toMatchObject({ state: "succeeded", message: null, dueAt: null });
  });

  it("is run, though it was asked for as often as may be", async () => {
    const now = Date.now();
    const job = await askedFor(JOBS.mostAsks - 1, await lostJob(now));
    await sweepAt(now + JOBS.unheardMs);
    expect(await client.finished(job.jobId)).toMatchObject({ state: "succeeded" });
  });

  it("is given up, with a reason, when it never gets on, and leaves no clip", async () => {
    const now = Date.now();
    const key = clipKey(indexId, newId("upl"));
    await env.MEDIA.put(key, "a clip");
    const clip = { key, region: { start: 0, end: 1 } };
    const job = await askedFor(JOBS.mostAsks, await lostJob(now, { clip }));
    await sweepAt(now + JOBS.unheardMs);
    const error = { code: "internal", message: "The job failed too often; ask again." };
    expect(await recordOf(job)).toMatchObject({ state: "failed", error });
    await vi.waitUntil(async () => (await env.MEDIA.head(key)) === null);
  });
});

describe("a message that a queue doesn't take", () => {
  /** One that came on record all the same. */
  async function largeJob(at: number) {
    const job = await lostJob(at);
    const message = JSON.stringify({ ...job, request: "x".repeat(200_000) });
    await run("UPDATE jobs SET message = ? WHERE job_id = ?", message, job.jobId);
    return job;
  }

  it("keeps no other from being sent, and nothing else from being swept", async () => {
    const now = Date.now();
    const [large, other] = [await largeJob(now), await lostJob(now)];
    await client.json("POST", "/index", { json: { index_name: "hidden" } });
    await run("UPDATE indices SET deleted_at = 1 WHERE name = 'hidden'");
    await sweepAt(now + JOBS.unheardMs);
    expect(await rowOf(large)).toMatchObject({ state: "queued", asks: 1 });
    expect(await client.finished(other.jobId)).toMatchObject({ state: "succeeded" });
    const left = () => env.DB.prepare("SELECT 1 FROM indices WHERE name = 'hidden'").first();
    await vi.waitUntil(async () => (await left()) === null);
  });

  it("ends its job all the same", async () => {
    const now = Date.now();
    const job = await askedFor(JOBS.mostAsks, await largeJob(now));
    await sweepAt(now + JOBS.unheardMs);
    expect(await rowOf(job)).toMatchObject({ state: "failed", message: null, dueAt: null });
  });

  it("is sent later, as its job is on record", async () => {
    const queue = { send: () => Promise.reject(new Error("out")) } as unknown as Queue;
    const request = new Request("https://a.example/index/jobs/search", {
      method: "POST",
      headers: { "x-api-key": client.key, "content-type": "application/json" },
      body: JSON.stringify({ query: "goats", queue_job: true }),
    });
    const response = await app.fetch(request, { ...env, JOBS: queue }, createExecutionContext());
    const { job_id: jobId } = await response.json<{ job_id: string }>();
    await sweepAt(Date.now() + JOBS.unheardMs);
    expect(await client.finished(jobId)).toMatchObject({ state: "succeeded" });
  });
});

describe("a job that a worker holds", () => {
  it("isn't begun by another, until the lease has run out", async () => {
    const job = await lostJob(Date.now());
    const before = Date.now() - JOBS.leaseMs;
    expect(await claimJob(env.DB, job.jobId, Date.now())).toBe("yes");
    expect((await deliver("sightline-jobs", job)).explicitAcks).toHaveLength(1);
    expect(await recordOf(job)).toMatchObject({ state: "running", result: null });
    await env.DB.prepare("UPDATE jobs SET due_at = ? WHERE job_id = ?")
      .bind(before, job.jobId)
      .run();
    await deliver("sightline-jobs", job);
    expect(await recordOf(job)).toMatchObject({ state: "succeeded" });
  });

  it("stays held while it is renewed, and is free when it is given back", async () => {
    const job = await lostJob(Date.now());
    const now = Date.now();
    await claimJob(env.DB, job.jobId, now);
    await renewJob(env.DB, job.jobId, now + JOBS.leaseMs);
    expect(await claimJob(env.DB, job.jobId, now + JOBS.leaseMs + 1)).toBe("held");
    await releaseJob(env.DB, job.jobId, now + 2 * JOBS.leaseMs);
    expect(await claimJob(env.DB, job.jobId, now + JOBS.leaseMs + 1)).toBe("yes");
    await deliver("sightline-jobs-dead", job);
    expect(await claimJob(env.DB, job.jobId, now + 10 * JOBS.leaseMs)).toBe("over");
  });
});
