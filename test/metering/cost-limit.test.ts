import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { sweep } from "../../src/lifecycle/sweep.ts";
import { costGate, meterEnv } from "../../src/metering/meter-env.ts";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { type Client, fixture, type Json, newClient } from "../support/client.ts";
import { standIns } from "../support/job-cases.ts";
import { setLimits } from "../support/quota-accounts.ts";
import { assetRefOf, run, segmentIdsOf } from "../support/store-queries.ts";
import { addTranscribedVideo } from "../support/transcript-fixtures.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;
let video: Json;
let path: string;

beforeEach(async () => {
  client = await newClient();
  video = await addTranscribedVideo(client, "a");
  path = `/index/a/video/${video.asset_id}`;
});

/** Returns the billed calls of the day so far. */
async function billedCalls(): Promise<Json> {
  const { model_calls, operations } = (await client.json("GET", "/stats")).usage.today;
  const { frames, images, dimensions_queried } = operations;
  return { model_calls, frames, images, dimensions_queried };
}

const spendAll = () => setLimits(client, { cost_usd_per_day: 0 });
const CODE = "cost_limit_reached";

async function repair(): Promise<Json> {
  const { job_id } = await client.json("POST", "/index/a/traverse");
  return (await client.waitForJob(job_id)).result;
}

/** Waits until a job waits for a limit. */
const waitForDeferral = (jobId: string): Promise<Json> =>
  waitUntil(async () => {
    const job = await client.json("GET", `/jobs/${jobId}`);
    return job.error !== null && job;
  });

/** Lets a deferred job go on, as the cron does once it is due. */
async function resume(jobId: string): Promise<Json> {
  await run("UPDATE jobs SET due_at = 1 WHERE job_id = ?", jobId);
  await sweep(env, Date.now());
  return client.waitForJob(jobId);
}

describe("while an account's cost of the day is over its limit", () => {
  it("a traversal makes no billed call, names what waits, and a later one repairs it", async () => {
    const ids = await segmentIdsOf(video);
    const { text } = vectorPair(env, await assetRefOf(video));
    await text.deleteByIds(ids.map((id) => `${id}:speech`));
    await spendAll();
    const before = await billedCalls();
    const report = await waitUntil(async () => {
      const repaired = await repair();
      return repaired.findings.vectors_missing && repaired;
    });
    expect(await billedCalls()).toEqual(before);
    expect(report.repaired).not.toHaveProperty("vectors_missing");
    const message = expect.stringContaining("limit cost_usd_per_day (0)");
    expect(report.unrepaired).toMatchObject([{ code: "vectors_missing", message }]);
    await setLimits(client, {});
    expect((await repair()).repaired).toMatchObject({ vectors_missing: 1 });
    expect((await billedCalls()).model_calls).toBeGreaterThan(before.model_calls);
  });

  it("a replaced transcript waits, says so, and is embedded once when there is more", async () => {
    await spendAll();
    const before = await billedCalls();
    const transcript = new File(["1\n00:00:00,000 --> 00:00:04,000\nA new song.\n"], "t.srt");
    const { job_id } = await client.json("POST", `${path}/transcript`, { form: { transcript } });
    expect(await waitForDeferral(job_id)).toMatchObject({
      state: "running",
      error: { code: CODE },
    });
    expect(await billedCalls()).toEqual(before);
    await setLimits(client, {});
    expect(await resume(job_id)).toMatchObject({ state: "succeeded", error: null });
    expect((await billedCalls()).model_calls).toBe(before.model_calls + 1);
  });

  it("a playable copy waits, and is made when there is more", async () => {
    await spendAll();
    const { job_id } = await client.json("POST", `${path}/playback_copy`);
    expect(await waitForDeferral(job_id)).toMatchObject({ error: { code: CODE } });
    await setLimits(client, {});
    const { state, result } = await resume(job_id);
    expect({ state, ...result }).toMatchObject({
      state: "succeeded",
      working_copy: { reason: "not_playable" },
    });
  });

  it("refused searches make no billed calls, whatever they ask for", async () => {
    const search = (query: string) =>
      client.send("POST", "/index/a/search", { json: { query, use_boxes: true } });
    expect((await search("a house")).status).toBe(200);
    await spendAll();
    expect((await search("a first one")).status).toBe(429);
    const before = await billedCalls();
    for (const query of ["one", "two", "three"]) expect((await search(query)).status).toBe(429);
    const form = { image_file: await fixture("boats.jpg") };
    expect((await client.send("POST", "/index/a/search_image", { form })).status).toBe(429);
    expect((await client.send("GET", "/index/a/traverse")).status).toBe(429);
    expect(await billedCalls()).toEqual(before);
    await setLimits(client, {});
    expect((await search("a house")).status).toBe(200);
  });

  it("assets and indices are deleted", async () => {
    await spendAll();
    for (const deleted of [path, "/index/a"]) {
      const { job_id } = await client.json("DELETE", deleted);
      expect(await client.waitForJob(job_id)).toMatchObject({ state: "succeeded" });
    }
  });
});

describe("the bindings of an account", () => {
  it("refuse billed calls before a check of its quota, and after one that refuses it", async () => {
    const { accountId } = await assetRefOf(video);
    const metered = meterEnv(standIns(), accountId, { priority: "interactive" });
    const call = () => metered.TEXT_VECTORS_1.query([...Array<number>(1024).fill(0.1)]);
    expect(call).toThrow("before its account was admitted");
    await costGate(metered).admit(Promise.resolve());
    expect((await call()).matches).toBeInstanceOf(Array);
    const refusal = new Error("refused");
    await expect(costGate(metered).admit(Promise.reject(refusal))).rejects.toBe(refusal);
    expect(call).toThrow(refusal);
    expect(await metered.IMAGES.info((await fixture("boats.jpg")).stream())).toBeDefined(); // free
  });

  it("store nothing that isn't charged to an account", async () => {
    const { accountId } = await assetRefOf(video);
    const metered = meterEnv(standIns(), accountId, { priority: "background" });
    await expect(metered.MEDIA.put("stray", "text")).rejects.toThrow("belongs to no asset");
    const body = new Blob(["text"]).stream();
    await expect(metered.MEDIA.put("acc/ind/vid/source", body)).rejects.toThrow("text and bytes");
  });
});
