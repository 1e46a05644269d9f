import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import worker from "../local/worker.ts";
import { MODELS } from "../src/config.ts";
import { type AccountId, type IndexId, newId } from "../src/ids.ts";
import { insertJob, updateJob } from "../src/store/jobs.ts";
import { listIndicesDue, markTraversed } from "../src/store/traversals.ts";
import { type Client, type Json, newClient } from "./client.ts";
import { run } from "./stores.ts";

const HOUR = 3_600_000;
let client: Client;
let indexId: IndexId;
let accountId: AccountId;
let now: number;

beforeAll(async () => {
  client = await newClient();
});

beforeEach(async () => {
  await client.json("POST", "/index", { json: { index_name: "due" } });
  const row = await env.DB.prepare(
    "SELECT index_id AS indexId, account_id AS accountId FROM indices WHERE deleted_at IS NULL",
  ).first<{ indexId: IndexId; accountId: AccountId }>();
  ({ indexId, accountId } = row!);
  now = Date.now();
  return async () => {
    await run("UPDATE indices SET deleted_at = ? WHERE index_id = ?", now, indexId);
  };
});

const isDue = async (at: number) => (await listIndicesDue(env.DB, at, 10)).length > 0;
const set = (settings: object) => client.json("PATCH", "/index/due", { json: { settings } });

describe("an index is due to be traversed", () => {
  it("a day after it was made, and a day after it was", async () => {
    expect(await isDue(now + 23 * HOUR)).toBe(false);
    expect(await listIndicesDue(env.DB, now + 25 * HOUR, 10)).toEqual([{ accountId, indexId }]);
    await markTraversed(env.DB, indexId, true, now + 25 * HOUR);
    expect(await isDue(now + 48 * HOUR)).toBe(false);
    expect(await isDue(now + 50 * HOUR)).toBe(true);
  });

  it.each([
    [{ traverse_every_hours: 2 }, 1, 3],
    [{ traverse_every_hours: 48 }, 47, 49],
    [{ language: "en" }, 23, 25],
  ])("as its settings say: %j", async (settings, before, after) => {
    await set(settings);
    expect(await isDue(now + before * HOUR)).toBe(false);
    expect(await isDue(now + after * HOUR)).toBe(true);
  });

  it("never, where they say so", async () => {
    await set({ traverse_every_hours: null });
    expect(await isDue(now + 10_000 * HOUR)).toBe(false);
  });

  it("where its vectors are another model's, whatever they say", async () => {
    await set({ traverse_every_hours: null });
    await run("UPDATE indices SET text_model = 'older' WHERE index_id = ?", indexId);
    expect(await isDue(now)).toBe(true);
    await markTraversed(env.DB, indexId, false, now);
    expect(await isDue(now)).toBe(true);
    await markTraversed(env.DB, indexId, true, now);
    expect(await isDue(now)).toBe(false);
    const model = "SELECT text_model AS model FROM indices WHERE index_id = ?";
    expect(await env.DB.prepare(model).bind(indexId).first("model")).toBe(MODELS.embedText.id);
  });

  it("and then the cron has it done", async () => {
    await run("UPDATE indices SET text_model = 'older' WHERE index_id = ?", indexId);
    const tick = { scheduledTime: now, cron: "* * * * *", noRetry: () => undefined };
    await worker.scheduled(tick, env);
    const { jobs } = await client.json("GET", "/jobs");
    const job = jobs.find(({ kind }: Json) => kind === "traverse");
    expect(await client.finished(job.job_id)).toMatchObject({
      state: "succeeded",
      result: { assets: 0, findings: {}, sources: 0 },
    });
    expect(await isDue(now)).toBe(false);
    const { index } = await client.json("GET", "/index/due");
    expect(index.last_traversed_at).not.toBeNull();
  });

  it("not while it is, nor for an hour after that was begun", async () => {
    const job = { kind: "traverse", jobId: newId("job"), accountId, indexId };
    await insertJob(env.DB, job, now);
    expect(await isDue(now + 25 * HOUR)).toBe(false);
    await updateJob(env.DB, job.jobId, { state: "failed", progress: 0 });
    await run("UPDATE indices SET text_model = 'older' WHERE index_id = ?", indexId);
    expect(await isDue(now + HOUR / 2)).toBe(false);
    expect(await isDue(now + 2 * HOUR)).toBe(true);
  });

  it("but one that was deleted isn't", async () => {
    await run("UPDATE indices SET deleted_at = ? WHERE index_id = ?", now, indexId);
    expect(await isDue(now + 25 * HOUR)).toBe(false);
  });
});
