import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { MODELS } from "../src/config.ts";
import { newId } from "../src/ids.ts";
import { insertJob } from "../src/store/jobs.ts";
import { putCues } from "../src/store/transcripts.ts";
import type { Asset, Cue } from "../src/types.ts";
import { type Client, type Json, newClient } from "./client.ts";
import { localAi } from "./local/bindings.ts";
import { deliver } from "./started.ts";
import { addTold, replaceWith, speechVectors, spokenOver } from "./told.ts";

let client: Client;
let video: Json;
let path: string;
let owner: Pick<Asset, "assetId" | "indexId" | "accountId">;

const cue = (start: number, end: number, text: string) => ({ start, end, text });
const said = (first: string, second: string) => [cue(0, 4, first), cue(5, 8, second)];
const OLD = said("An old song.", "An old tale.");

beforeAll(async () => {
  client = await newClient();
  video = await addTold(client, "jobs");
  path = `/index/jobs/video/${video.asset_id}`;
  const row = await env.DB.prepare(
    "SELECT asset_id AS assetId, index_id AS indexId, account_id AS accountId FROM assets WHERE asset_id = ?",
  )
    .bind(video.asset_id)
    .first<typeof owner>();
  owner = row!;
}, 60_000);

beforeEach(async () => {
  await replaceWith(client, path, OLD);
});

/** A replacement whose message the queue doesn't bring. */
async function waiting(cues: Cue[]) {
  const job = { jobId: newId("job"), ...owner, kind: "transcript", language: null };
  await putCues(env.MEDIA, { ...video, ...owner }, cues, job.jobId);
  await insertJob(env.DB, job, Date.now());
  return job;
}

const bring = (message: object, attempts = 1) => deliver("sightline-jobs", message, attempts);
const jobOf = ({ jobId }: { jobId: string }) => client.json("GET", `/jobs/${jobId}`);
const spoken = () => spokenOver(client, path);

/** The vectors that a transcript would have had from the start. */
async function vectorsOf(cues: Cue[]) {
  await replaceWith(client, path, cues);
  const vectors = await speechVectors(video);
  await replaceWith(client, path, OLD);
  return vectors;
}

async function keptCues(): Promise<string[]> {
  const { objects } = await env.MEDIA.list({
    prefix: `${owner.accountId}/${owner.indexId}/${owner.assetId}/transcript`,
  });
  return objects.map(({ key }) => key.split("/").at(-1)!.replace(".json", ""));
}

describe("a replacement that is interrupted", () => {
  it("by a model that fails is made good when the queue brings it again", async () => {
    const cues = said("An old song.", "A new bridge.");
    const expected = await vectorsOf(cues);
    const before = await speechVectors(video);
    const message = await waiting(cues);
    await localAi().inject(MODELS.embedText.id, "3040", 1);
    const first = await bring(message);
    expect(first.retryMessages).toHaveLength(1);
    expect(await jobOf(message)).toMatchObject({ state: "running", error: null });
    expect(await spoken()).toEqual(["An old song.", "A new bridge."]);
    expect(await speechVectors(video)).toEqual(before);
    expect((await bring(message, 2)).explicitAcks).toHaveLength(1);
    expect(await jobOf(message)).toMatchObject({ state: "succeeded", result: { segments: 1 } });
    expect(await speechVectors(video)).toEqual(expected);
  });

  it("for good says so, and the next one makes its vectors good", async () => {
    const cues = said("An old song.", "A new tower.");
    const expected = await vectorsOf(cues);
    const message = await waiting(cues);
    await localAi().inject(MODELS.embedText.id, "5007", 1);
    expect((await bring(message)).explicitAcks).toHaveLength(1);
    expect(await jobOf(message)).toMatchObject({
      state: "failed",
      error: { code: "model_missing" },
    });
    expect(await keptCues()).toEqual([message.jobId]);
    expect((await replaceWith(client, path, cues)).result).toMatchObject({ segments: 1 });
    expect(await speechVectors(video)).toEqual(expected);
  });

  it("after its end was lost does the same again", async () => {
    const message = await waiting(said("A new song.", "An old tale."));
    await bring(message);
    const after = await speechVectors(video);
    await env.DB.prepare("UPDATE jobs SET state = 'running' WHERE job_id = ?")
      .bind(message.jobId)
      .run();
    await bring(message, 2);
    await bring(message, 3);
    expect(await jobOf(message)).toMatchObject({ state: "succeeded" });
    expect(await spoken()).toEqual(["A new song.", "An old tale."]);
    expect(await speechVectors(video)).toEqual(after);
    expect(await keptCues()).toEqual([message.jobId]);
  });

  it("too often is given up, and leaves the old transcript", async () => {
    const message = await waiting(said("Never.", "Never."));
    await deliver("sightline-jobs-dead", message);
    expect(await jobOf(message)).toMatchObject({ state: "failed", error: { code: "internal" } });
    expect(await spoken()).toEqual(["An old song.", "An old tale."]);
    expect(await keptCues()).not.toContain(message.jobId);
  });
});

describe("of two replacements the later one wins", () => {
  const FIRST = said("The first.", "An old tale.");
  const SECOND = said("An old song.", "The second.");

  it.each([
    ["in order", [0, 1]],
    ["the other way round", [1, 0]],
    ["and come again", [1, 0, 1, 0]],
  ])("when the messages come %s", async (_, order) => {
    const expected = await vectorsOf(SECOND);
    const messages = [await waiting(FIRST), await waiting(SECOND)];
    for (const at of order) expect((await bring(messages[at]!)).explicitAcks).toHaveLength(1);
    expect(await Promise.all(messages.map(jobOf))).toMatchObject([
      { state: "cancelled" },
      { state: "succeeded" },
    ]);
    expect(await spoken()).toEqual(["An old song.", "The second."]);
    expect(await speechVectors(video)).toEqual(expected);
    expect(await keptCues()).toEqual([messages[1]!.jobId]);
  });

  it("when the first is half-way in, whoever writes its vectors last", async () => {
    const expected = await vectorsOf(SECOND);
    const first = await waiting(FIRST);
    await localAi().inject(MODELS.embedText.id, "3040", 1);
    await bring(first);
    const second = await waiting(SECOND);
    await bring(second);
    expect(await speechVectors(video)).toEqual(expected);
    // As if the first had written its vectors only now, and stopped there.
    const { results } = await env.DB.prepare(
      "SELECT segment_id AS id, index_id AS namespace FROM segments WHERE asset_id = ? AND position = 0",
    )
      .bind(video.asset_id)
      .all<{ id: string; namespace: string }>();
    const [{ id, namespace }] = results as [{ id: string; namespace: string }];
    const late = { id: `${id}:speech`, namespace, values: expected[1]! };
    await env.TEXT_VECTORS.upsert([late]);
    await bring(first, 2);
    expect(await jobOf(first)).toMatchObject({ state: "cancelled" });
    expect(await spoken()).toEqual(["An old song.", "The second."]);
    expect(await speechVectors(video)).toEqual(expected);
    const left = "SELECT COUNT(*) AS n FROM unembedded_speech WHERE segment_id = ?";
    expect(await env.DB.prepare(left).bind(id).first("n")).toBe(0);
  });

  it("when both are sent at once, over HTTP", async () => {
    const post = async (cues: Cue[]) => {
      const form = { transcript: new File([JSON.stringify(cues)], "a.json") };
      const { job_id } = await client.json("POST", `${path}/transcript`, { form });
      return job_id as string;
    };
    const jobs = [await post(FIRST), await post(SECOND)];
    const [, second] = await Promise.all(jobs.map((id) => client.finished(id)));
    expect(second).toMatchObject({ state: "succeeded" });
    await vi.waitUntil(async () => (await keptCues()).length === 1);
    expect(await keptCues()).toEqual([jobs[1]]);
    expect(await spoken()).toEqual(["An old song.", "The second."]);
  });
});

describe("a replacement that is cancelled", () => {
  it("doesn't happen", async () => {
    const message = await waiting(said("Never.", "Never."));
    expect(await client.json("DELETE", `/jobs/${message.jobId}`)).toMatchObject({
      kind: "transcript",
      state: "cancelled",
    });
    expect((await bring(message)).explicitAcks).toHaveLength(1);
    expect(await spoken()).toEqual(["An old song.", "An old tale."]);
    expect(await keptCues()).not.toContain(message.jobId);
  });

  it("can't be when it is in", async () => {
    const message = await waiting(said("A new song.", "An old tale."));
    await localAi().inject(MODELS.embedText.id, "3040", 1);
    await bring(message);
    expect((await client.send("DELETE", `/jobs/${message.jobId}`)).status).toBe(409);
    await bring(message, 2);
    expect(await jobOf(message)).toMatchObject({ state: "succeeded" });
    expect((await client.send("DELETE", `/jobs/${message.jobId}`)).status).toBe(409);
  });
});

it("a video that is deleted meanwhile leaves nothing behind", async () => {
  const other = await addTold(client, "gone");
  const message = { ...(await waiting(OLD)), assetId: other.asset_id };
  await env.DB.prepare("UPDATE jobs SET asset_id = ? WHERE job_id = ?")
    .bind(other.asset_id, message.jobId)
    .run();
  const { job_id } = await client.json("DELETE", `/index/gone/video/${other.asset_id}`);
  await client.finished(job_id);
  await bring(message);
  expect(await jobOf(message)).toMatchObject({ state: "failed", error: { code: "conflict" } });
  const { objects } = await env.MEDIA.list();
  expect(objects.filter(({ key }) => key.includes(other.asset_id))).toEqual([]);
});
