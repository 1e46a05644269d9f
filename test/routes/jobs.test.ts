import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import worker from "../../local/worker.ts";
import { JOBS } from "../../src/config.ts";
import { type AccountId, type IndexId, newId } from "../../src/ids.ts";
import type { JobMessage, QueryClip } from "../../src/messages.ts";
import { makeSearchRequest } from "../../src/search/request.ts";
import {
  claimJob,
  failExhaustedJobs,
  insertJob,
  redispatchOverdueJobs,
  releaseJob,
  renewJob,
  updateJob,
} from "../../src/store/d1/jobs.ts";
import { queryClipKey } from "../../src/store/r2/object-keys.ts";
import { type Client, newClient, uniqueFixture } from "../support/client.ts";
import { fetchDeployed } from "../support/deployed.ts";
import { deliver, startAsset } from "../support/ingest-helpers.ts";
import { run } from "../support/store-queries.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;
let indexId: IndexId;
let accountId: AccountId;

beforeAll(async () => {
  client = await newClient();
  ({ indexId } = await startAsset(client, "jobs"));
  accountId = (await client.json("POST", "/init")).account_id;
});

/** Inserts a search job at time `at` without sending its message. */
async function insertSearchJob(at: number, clip: QueryClip | null = null) {
  const job: JobMessage = {
    kind: "search",
    jobId: newId("job"),
    accountId,
    indexId,
    indexName: "jobs",
    request: makeSearchRequest({ query: "goats", topK: 5 }),
    clip,
  };
  await insertJob(env.DB, job, at);
  return job;
}

async function setDispatches(dispatches: number, job: JobMessage) {
  await run("UPDATE jobs SET dispatches = ? WHERE job_id = ?", dispatches, job.jobId);
  return job;
}

const sweepAt = (scheduledTime: number) =>
  worker.scheduled({ scheduledTime, cron: "* * * * *" } as ScheduledController, env);
const getJob = ({ jobId }: JobMessage) => client.json("GET", `/jobs/${jobId}`);
const getJobRow = ({ jobId }: JobMessage) =>
  env.DB.prepare(
    "SELECT state, message, due_at AS dueAt, leased, dispatches FROM jobs WHERE job_id = ?",
  )
    .bind(jobId)
    .first<{ state: string; message: string | null; dueAt: number | null; dispatches: number }>();

describe("a job whose message was lost", () => {
  it("is sent again once it is overdue", async () => {
    const now = Date.now();
    const job = await insertSearchJob(now);
    await sweepAt(now + JOBS.redispatchMs - 1);
    expect(await getJobRow(job)).toMatchObject({ state: "queued", dispatches: 0 });
    await sweepAt(now + JOBS.redispatchMs);
    expect(await client.waitForJob(job.jobId)).toMatchObject({ state: "succeeded" });
  });

  it("has no stored message once it has ended", async () => {
    const job = await insertSearchJob(Date.now());
    expect((await getJobRow(job))!.message).toContain("goats");
    await deliver("sightline-local-jobs", job);
    expect(await getJobRow(job)).toMatchObject({ state: "succeeded", message: null, dueAt: null });
  });

  it("runs on its last dispatch", async () => {
    const now = Date.now();
    const job = await setDispatches(JOBS.maxDispatches - 1, await insertSearchJob(now));
    await sweepAt(now + JOBS.redispatchMs);
    expect(await client.waitForJob(job.jobId)).toMatchObject({ state: "succeeded" });
  });

  it("fails after too many dispatches, and its clip is deleted", async () => {
    const now = Date.now();
    const key = queryClipKey(indexId, newId("upl"));
    await env.MEDIA.put(key, "a clip");
    const clip = { key, range: { start: 0, end: 1 } };
    const job = await setDispatches(JOBS.maxDispatches, await insertSearchJob(now, clip));
    await sweepAt(now + JOBS.redispatchMs);
    const error = { code: "internal", message: "The job failed too often; ask again." };
    expect(await getJob(job)).toMatchObject({ state: "failed", error });
    await waitUntil(async () => (await env.MEDIA.head(key)) === null);
  });
});

describe("a job that a limit of the platform cuts off", () => {
  it("runs three times, and then fails", async () => {
    let now = Date.now();
    const job = await insertSearchJob(now);
    for (let runs = 1; runs <= 3; runs++) {
      expect(await claimJob(env.DB, job.jobId, now)).toBe("claimed");
      now += JOBS.leaseMs;
      expect(await failExhaustedJobs(env.DB, now, 100)).toHaveLength(runs === 3 ? 1 : 0);
      await redispatchOverdueJobs(env.DB, now, 100);
    }
    expect(await getJob(job)).toMatchObject({ state: "failed", error: { code: "internal" } });
  });

  it("runs three times, too, if the queue delivers its message again", async () => {
    let now = Date.now();
    const job = await insertSearchJob(now);
    for (let runs = 1; runs <= 3; runs++) {
      expect(await claimJob(env.DB, job.jobId, now)).toBe("claimed");
      now += JOBS.leaseMs;
    }
    expect(await failExhaustedJobs(env.DB, now, 100)).toHaveLength(1);
    expect(await claimJob(env.DB, job.jobId, now)).toBe("finished");
  });

  it("has all its runs after progress", async () => {
    const now = Date.now();
    const job = await setDispatches(JOBS.maxDispatches - 1, await insertSearchJob(now));
    await claimJob(env.DB, job.jobId, now);
    await updateJob(env.DB, job.jobId, { state: "running", progress: 0.5 });
    expect(await failExhaustedJobs(env.DB, now + JOBS.leaseMs, 100)).toHaveLength(0);
  });
});

describe("a job whose message the queue refuses", () => {
  /** Inserts a job whose message is larger than a queue takes. */
  async function insertLargeJob(at: number) {
    const job = await insertSearchJob(at);
    const message = JSON.stringify({ ...job, request: "x".repeat(200_000) });
    await run("UPDATE jobs SET message = ? WHERE job_id = ?", message, job.jobId);
    return job;
  }

  it("doesn't stop the sweep from sending other jobs and purging indices", async () => {
    const now = Date.now();
    const [large, other] = [await insertLargeJob(now), await insertSearchJob(now)];
    await client.json("POST", "/index", { json: { index_name: "hidden" } });
    await run("UPDATE indices SET deleted_at = 1 WHERE name = 'hidden'");
    await sweepAt(now + JOBS.redispatchMs);
    expect(await getJobRow(large)).toMatchObject({ state: "queued", dispatches: 1 });
    expect(await client.waitForJob(other.jobId)).toMatchObject({ state: "succeeded" });
    const findIndex = () => env.DB.prepare("SELECT 1 FROM indices WHERE name = 'hidden'").first();
    await waitUntil(async () => (await findIndex()) === null);
  });

  it("fails after too many dispatches", async () => {
    const now = Date.now();
    const job = await setDispatches(JOBS.maxDispatches, await insertLargeJob(now));
    await sweepAt(now + JOBS.redispatchMs);
    expect(await getJobRow(job)).toMatchObject({ state: "failed", message: null, dueAt: null });
  });

  it("is sent by a later sweep", async () => {
    const queue = { send: () => Promise.reject(new Error("unavailable")) } as unknown as Queue;
    const response = await fetchDeployed({ JOBS: queue }, client.key, "/index/jobs/search", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: "goats", queue_job: true }),
    });
    const { job_id: jobId } = await response.json<{ job_id: string }>();
    await sweepAt(Date.now() + JOBS.redispatchMs);
    expect(await client.waitForJob(jobId)).toMatchObject({ state: "succeeded" });
  });
});

describe("a leased job", () => {
  it("isn't run by another worker until its lease has expired", async () => {
    const job = await insertSearchJob(Date.now());
    const before = Date.now() - JOBS.leaseMs;
    expect(await claimJob(env.DB, job.jobId, Date.now())).toBe("claimed");
    expect((await deliver("sightline-local-jobs", job)).explicitAcks).toHaveLength(1);
    expect(await getJob(job)).toMatchObject({ state: "running", result: null });
    await env.DB.prepare("UPDATE jobs SET due_at = ? WHERE job_id = ?")
      .bind(before, job.jobId)
      .run();
    await deliver("sightline-local-jobs", job);
    expect(await getJob(job)).toMatchObject({ state: "succeeded" });
  });

  it("stays leased while it is renewed, and can be claimed after its release", async () => {
    const job = await insertSearchJob(Date.now());
    const now = Date.now();
    await claimJob(env.DB, job.jobId, now);
    await renewJob(env.DB, job.jobId, now + JOBS.leaseMs);
    expect(await claimJob(env.DB, job.jobId, now + JOBS.leaseMs + 1)).toBe("leased");
    await releaseJob(env.DB, job.jobId, now + 2 * JOBS.leaseMs);
    expect(await claimJob(env.DB, job.jobId, now + JOBS.leaseMs + 1)).toBe("claimed");
    await deliver("sightline-local-jobs-dead", job);
    expect(await claimJob(env.DB, job.jobId, now + 10 * JOBS.leaseMs)).toBe("finished");
  });
});

describe("the record of a job", () => {
  it("names its index and its asset until they are deleted, in lists as well", async () => {
    await client.json("POST", "/index", { json: { index_name: "named" } });
    const form = { image_file: await uniqueFixture("words.jpg") };
    const asset = await client.json("POST", "/index/named/image", { form });
    const { asset_id, title } = await client.waitForAsset("named", asset);
    const about = { index_name: "named", asset_id, asset_title: title };
    expect(await client.waitForJob(asset.job_id)).toMatchObject({ kind: "ingest", ...about });
    const { jobs } = await client.json("GET", "/jobs");
    expect(jobs).toContainEqual(expect.objectContaining({ job_id: asset.job_id, ...about }));

    const repair = await client.json("POST", "/index/named/traverse");
    const nothing = { asset_id: null, asset_title: null };
    expect(await client.waitForJob(repair.job_id)).toMatchObject({
      index_name: "named",
      ...nothing,
    });

    const deletion = await client.json("DELETE", `/index/named/image/${asset_id}`);
    expect(await client.waitForJob(deletion.job_id)).toMatchObject({
      index_name: "named",
      asset_id,
      asset_title: null,
    });
    const { job_id } = await client.json("DELETE", "/index/named");
    expect(await client.waitForJob(job_id)).toMatchObject({ index_name: null, ...nothing });
  });
});
