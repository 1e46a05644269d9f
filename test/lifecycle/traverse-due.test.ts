import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import worker from "../../local/worker.ts";
import { MODELS } from "../../src/config.ts";
import { type AccountId, type IndexId, newId } from "../../src/ids.ts";
import { listIndicesDue, markTraversed } from "../../src/store/d1/indices.ts";
import { insertJob, updateJob } from "../../src/store/d1/jobs.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { run } from "../support/store-queries.ts";

const HOUR_MS = 3_600_000;
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
const setSettings = (settings: object) =>
  client.json("PATCH", "/index/due", { json: { settings } });

describe("an index is due for a traversal", () => {
  it("a day after its creation, and a day after each traversal", async () => {
    expect(await isDue(now + 23 * HOUR_MS)).toBe(false);
    expect(await listIndicesDue(env.DB, now + 25 * HOUR_MS, 10)).toEqual([{ accountId, indexId }]);
    await markTraversed(env.DB, indexId, true, now + 25 * HOUR_MS);
    expect(await isDue(now + 48 * HOUR_MS)).toBe(false);
    expect(await isDue(now + 50 * HOUR_MS)).toBe(true);
  });

  it.each([
    [{ traverse_every_hours: 2 }, 1, 3],
    [{ traverse_every_hours: 48 }, 47, 49],
    [{ language: "en" }, 23, 25],
  ])("after the interval in its settings: %j", async (settings, before, after) => {
    await setSettings(settings);
    expect(await isDue(now + before * HOUR_MS)).toBe(false);
    expect(await isDue(now + after * HOUR_MS)).toBe(true);
  });

  it("never, if its settings disable the schedule", async () => {
    await setSettings({ traverse_every_hours: null });
    expect(await isDue(now + 10_000 * HOUR_MS)).toBe(false);
  });

  it("if its vectors are of another model, whatever its settings", async () => {
    await setSettings({ traverse_every_hours: null });
    await run("UPDATE indices SET text_model = 'older' WHERE index_id = ?", indexId);
    expect(await isDue(now)).toBe(true);
    await markTraversed(env.DB, indexId, false, now);
    expect(await isDue(now)).toBe(true);
    await markTraversed(env.DB, indexId, true, now);
    expect(await isDue(now)).toBe(false);
    const model = "SELECT text_model AS model FROM indices WHERE index_id = ?";
    expect(await env.DB.prepare(model).bind(indexId).first("model")).toBe(MODELS.embedText.id);
  });

  it("and the cron starts the traversal", async () => {
    await run("UPDATE indices SET text_model = 'older' WHERE index_id = ?", indexId);
    const tick = { scheduledTime: now, cron: "* * * * *", noRetry: () => undefined };
    await worker.scheduled(tick, env);
    const { jobs } = await client.json("GET", "/jobs");
    const job = jobs.find(({ kind }: Json) => kind === "traverse");
    expect(await client.waitForJob(job.job_id)).toMatchObject({
      state: "succeeded",
      result: { assets: 0, findings: {}, sources: 0 },
    });
    expect(await isDue(now)).toBe(false);
    const { index } = await client.json("GET", "/index/due");
    expect(index.last_traversed_at).not.toBeNull();
  });

  it("neither during a traversal nor within an hour after its start", async () => {
    const job = { kind: "traverse", jobId: newId("job"), accountId, indexId } as const;
    await insertJob(env.DB, job, now);
    expect(await isDue(now + 25 * HOUR_MS)).toBe(false);
    await updateJob(env.DB, job.jobId, { state: "failed", progress: 0 });
    await run("UPDATE indices SET text_model = 'older' WHERE index_id = ?", indexId);
    expect(await isDue(now + HOUR_MS / 2)).toBe(false);
    expect(await isDue(now + 2 * HOUR_MS)).toBe(true);
  });

  it("no longer after its deletion", async () => {
    await run("UPDATE indices SET deleted_at = ? WHERE index_id = ?", now, indexId);
    expect(await isDue(now + 25 * HOUR_MS)).toBe(false);
  });
});
