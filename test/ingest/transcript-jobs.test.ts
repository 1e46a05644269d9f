import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MODELS } from "../../src/config.ts";
import { newId } from "../../src/ids.ts";
import { sweep } from "../../src/lifecycle/sweep.ts";
import { insertJob } from "../../src/store/d1/jobs.ts";
import { indexDatabase } from "../../src/store/index-database/index-database.ts";
import { recordVectors } from "../../src/store/index-database/segments.ts";
import { putCues } from "../../src/store/transcripts.ts";
import { vectorPair } from "../../src/store/vectorize/vector-pairs.ts";
import { vectorId } from "../../src/store/vectorize/vectors.ts";
import type { Asset, Cue } from "../../src/types.ts";
import { localAi } from "../local/bindings.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { deliver } from "../support/ingest-helpers.ts";
import { assetRefOf, countStored, segmentIdsOf } from "../support/store-queries.ts";
import {
  addTranscribedVideo,
  submitTranscript,
  speechVectors,
  segmentTranscripts,
} from "../support/transcript-fixtures.ts";
import { waitUntil } from "../support/wait.ts";

let client: Client;
let video: Json;
let path: string;
let assetRef: Pick<Asset, "assetId" | "indexId" | "accountId">;

const cue = (start: number, end: number, text: string) => ({ start, end, text });
const twoCues = (first: string, second: string) => [cue(0, 4, first), cue(5, 8, second)];
const OLD = twoCues("An old song.", "An old tale.");

beforeAll(async () => {
  client = await newClient();
  video = await addTranscribedVideo(client, "jobs");
  path = `/index/jobs/video/${video.asset_id}`;
  const row = await env.DB.prepare(
    `SELECT asset_id AS assetId, index_id AS indexId, account_id AS accountId
     FROM assets WHERE asset_id = ?`,
  )
    .bind(video.asset_id)
    .first<typeof assetRef>();
  assetRef = row!;
});

beforeEach(async () => {
  await submitTranscript(client, path, OLD);
});

/** Inserts a transcript job without sending its message. */
async function insertTranscriptJob(cues: Cue[]) {
  const own = { language: null, warnings: [] };
  const job = { kind: "transcript" as const, jobId: newId("job"), ...assetRef, ...own };
  await putCues(env.MEDIA, { ...video, ...assetRef }, cues, job.jobId);
  await insertJob(env.DB, job, Date.now());
  return job;
}

const deliverJob = (message: object, attempts = 1) =>
  deliver("sightline-local-jobs", message, attempts);
const getJob = ({ jobId }: { jobId: string }) => client.json("GET", `/jobs/${jobId}`);
const getTexts = () => segmentTranscripts(client, path);

/** Returns the speech vectors that a transcript gets. */
async function vectorsOf(cues: Cue[]) {
  await submitTranscript(client, path, cues);
  const vectors = await speechVectors(video);
  await submitTranscript(client, path, OLD);
  return vectors;
}

async function listStoredCues(): Promise<string[]> {
  const { objects } = await env.MEDIA.list({
    prefix: `${assetRef.accountId}/${assetRef.indexId}/${assetRef.assetId}/transcript`,
  });
  return objects.map(({ key }) => key.split("/").at(-1)!.replace(".json", ""));
}

describe("a transcript job", () => {
  it("whose model failed updates the vectors when its message is delivered again", async () => {
    const cues = twoCues("An old song.", "A new bridge.");
    const expected = await vectorsOf(cues);
    const before = await speechVectors(video);
    const message = await insertTranscriptJob(cues);
    await localAi().inject(MODELS.embedText.id, "3007", 1);
    const first = await deliverJob(message);
    expect(first.retryMessages).toHaveLength(1);
    expect(await getJob(message)).toMatchObject({ state: "running", error: null });
    expect(await getTexts()).toEqual(["An old song.", "A new bridge."]);
    expect(await speechVectors(video)).toEqual(before);
    expect((await deliverJob(message, 2)).explicitAcks).toHaveLength(1);
    expect(await getJob(message)).toMatchObject({ state: "succeeded", result: { segments: 1 } });
    expect(await speechVectors(video)).toEqual(expected);
  });

  it("that meets a rate limit in 20 deliveries is done once the limit has passed", async () => {
    const cues = twoCues("An old song.", "A new road.");
    const expected = await vectorsOf(cues);
    const message = await insertTranscriptJob(cues);
    await localAi().inject(MODELS.embedText.id, "3021", 20);
    for (let i = 1; i <= 20; i++) {
      expect((await deliverJob(message, i)).explicitAcks).toHaveLength(1);
      const row = await env.DB.prepare(
        "SELECT state, leased, dispatches, due_at AS dueAt FROM jobs WHERE job_id = ?",
      )
        .bind(message.jobId)
        .first<{ dueAt: number }>();
      expect(row).toMatchObject({ state: "running", leased: 0, dispatches: 0 });
      expect(row!.dueAt).toBeGreaterThan(Date.now() + 60_000);
    }
    await sweep(env, Date.now() + 120_000);
    expect(await client.waitForJob(message.jobId)).toMatchObject({ state: "succeeded" });
    expect(await speechVectors(video)).toEqual(expected);
  });

  it("that failed for good leaves its vectors to the next job", async () => {
    const cues = twoCues("An old song.", "A new tower.");
    const expected = await vectorsOf(cues);
    const message = await insertTranscriptJob(cues);
    await localAi().inject(MODELS.embedText.id, "5007", 1);
    expect((await deliverJob(message)).explicitAcks).toHaveLength(1);
    expect(await getJob(message)).toMatchObject({
      state: "failed",
      error: { code: "model_not_found" },
    });
    expect(await listStoredCues()).toEqual([message.jobId]);
    expect((await submitTranscript(client, path, cues)).result).toMatchObject({ segments: 1 });
    expect(await speechVectors(video)).toEqual(expected);
  });

  it("that is delivered again after its end keeps its result", async () => {
    const message = await insertTranscriptJob(twoCues("A new song.", "An old tale."));
    await deliverJob(message);
    const after = await speechVectors(video);
    await env.DB.prepare("UPDATE jobs SET state = 'running' WHERE job_id = ?")
      .bind(message.jobId)
      .run();
    await deliverJob(message, 2);
    await deliverJob(message, 3);
    expect(await getJob(message)).toMatchObject({ state: "succeeded" });
    expect(await getTexts()).toEqual(["A new song.", "An old tale."]);
    expect(await speechVectors(video)).toEqual(after);
    expect(await listStoredCues()).toEqual([message.jobId]);
  });

  it("in the dead-letter queue fails and leaves the old transcript", async () => {
    const message = await insertTranscriptJob(twoCues("Never.", "Never."));
    await deliver("sightline-local-jobs-dead", message);
    expect(await getJob(message)).toMatchObject({ state: "failed", error: { code: "internal" } });
    expect(await getTexts()).toEqual(["An old song.", "An old tale."]);
    expect(await listStoredCues()).not.toContain(message.jobId);
  });
});

describe("the later of two transcript jobs replaces the transcript", () => {
  const FIRST = twoCues("The first.", "An old tale.");
  const SECOND = twoCues("An old song.", "The second.");

  it.each([
    ["in order", [0, 1]],
    ["in reverse order", [1, 0]],
    ["twice", [1, 0, 1, 0]],
  ])("when their messages arrive %s", async (_, order) => {
    const expected = await vectorsOf(SECOND);
    const messages = [await insertTranscriptJob(FIRST), await insertTranscriptJob(SECOND)];
    for (const at of order) expect((await deliverJob(messages[at]!)).explicitAcks).toHaveLength(1);
    expect(await Promise.all(messages.map(getJob))).toMatchObject([
      { state: "cancelled" },
      { state: "succeeded" },
    ]);
    expect(await getTexts()).toEqual(["An old song.", "The second."]);
    expect(await speechVectors(video)).toEqual(expected);
    expect(await listStoredCues()).toEqual([messages[1]!.jobId]);
  });

  it("when the first stopped half-way and writes its vectors last", async () => {
    const expected = await vectorsOf(SECOND);
    const first = await insertTranscriptJob(FIRST);
    await localAi().inject(MODELS.embedText.id, "3040", 1);
    await deliverJob(first);
    const second = await insertTranscriptJob(SECOND);
    await deliverJob(second);
    expect(await speechVectors(video)).toEqual(expected);
    // The state after the first has written its vectors only now and stopped.
    const [id] = await segmentIdsOf(video);
    const ref = await assetRefOf(video);
    const { indexId: namespace } = ref;
    const late = { id: vectorId(id!, "speech"), namespace, values: expected[1]! };
    await recordVectors(indexDatabase(env, await assetRefOf(video)), [late.id], [], Date.now());
    await vectorPair(env, ref).text.upsert([late]);
    await deliverJob(first, 2);
    expect(await getJob(first)).toMatchObject({ state: "cancelled" });
    expect(await getTexts()).toEqual(["An old song.", "The second."]);
    expect(await speechVectors(video)).toEqual(expected);
    expect(await countStored(namespace)).not.toHaveProperty("unembedded_speech");
  });

  it("when both are posted at once", async () => {
    const post = async (cues: Cue[]) => {
      const form = { transcript: new File([JSON.stringify(cues)], "a.json") };
      const { job_id } = await client.json("POST", `${path}/transcript`, { form });
      return job_id as string;
    };
    const jobs = [await post(FIRST), await post(SECOND)];
    const [, second] = await Promise.all(jobs.map((id) => client.waitForJob(id)));
    expect(second).toMatchObject({ state: "succeeded" });
    await waitUntil(async () => (await listStoredCues()).length === 1);
    expect(await listStoredCues()).toEqual([jobs[1]]);
    expect(await getTexts()).toEqual(["An old song.", "The second."]);
  });
});

describe("cancelling a transcript job", () => {
  it("before it runs keeps the old transcript", async () => {
    const message = await insertTranscriptJob(twoCues("Never.", "Never."));
    expect(await client.json("DELETE", `/jobs/${message.jobId}`)).toMatchObject({
      kind: "transcript",
      state: "cancelled",
    });
    expect((await deliverJob(message)).explicitAcks).toHaveLength(1);
    expect(await getTexts()).toEqual(["An old song.", "An old tale."]);
    expect(await listStoredCues()).not.toContain(message.jobId);
  });

  it("after it has replaced the transcript returns 409", async () => {
    const message = await insertTranscriptJob(twoCues("A new song.", "An old tale."));
    await localAi().inject(MODELS.embedText.id, "3040", 1);
    await deliverJob(message);
    expect((await client.send("DELETE", `/jobs/${message.jobId}`)).status).toBe(409);
    await deliverJob(message, 2);
    expect(await getJob(message)).toMatchObject({ state: "succeeded" });
    expect((await client.send("DELETE", `/jobs/${message.jobId}`)).status).toBe(409);
  });
});

it("a transcript job fails and leaves no objects if its video was deleted", async () => {
  const other = await addTranscribedVideo(client, "gone");
  const message = { ...(await insertTranscriptJob(OLD)), assetId: other.asset_id };
  await env.DB.prepare("UPDATE jobs SET asset_id = ? WHERE job_id = ?")
    .bind(other.asset_id, message.jobId)
    .run();
  const { job_id } = await client.json("DELETE", `/index/gone/video/${other.asset_id}`);
  await client.waitForJob(job_id);
  await deliverJob(message);
  expect(await getJob(message)).toMatchObject({ state: "failed", error: { code: "conflict" } });
  const { objects } = await env.MEDIA.list();
  expect(objects.filter(({ key }) => key.includes(other.asset_id))).toEqual([]);
});
