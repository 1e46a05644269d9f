import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import worker from "../local/worker.ts";
import { JOBS } from "../src/config.ts";
import { type AccountId, type IndexId, newId } from "../src/ids.ts";
import type { JobMessage } from "../src/queues/messages.ts";
import { searchFor } from "../src/search/request.ts";
import { claimJob, insertJob, releaseJob, renewJob } from "../src/store/jobs.ts";
import { type Client, newClient } from "./client.ts";
import { deliver, startAsset } from "./started.ts";

let client: Client;
let indexId: IndexId;
let accountId: AccountId;

beforeAll(async () => {
  client = await newClient();
  ({ indexId } = await startAsset(client, "jobs"));
  accountId = (await client.json("POST", "/init")).account_id;
});

/** On record since `at`, but in no queue. */
async function lostJob(at: number) {
  const job: JobMessage = {
    kind: "search",
    jobId: newId("job"),
    accountId,
    indexId,
    request: searchFor({ query: "goats", topK: 5 }),
  };
  await insertJob(env.DB, job, at);
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

  it("is given up, with a reason, when it never gets on", async () => {
    const job = await lostJob(Date.now());
    await env.DB.prepare("UPDATE jobs SET asks = ? WHERE job_id = ?")
      .bind(JOBS.mostAsks + 1, job.jobId)
      .run();
    expect((await deliver("sightline-jobs", job)).explicitAcks).toHaveLength(1);
    const error = { code: "internal", message: "The job failed too often; ask again." };
    expect(await recordOf(job)).toMatchObject({ state: "failed", error });
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
