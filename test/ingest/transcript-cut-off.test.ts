import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/ids.ts";
import { replaceTranscript } from "../../src/ingest/transcript/replace.ts";
import { insertJob } from "../../src/store/d1/jobs.ts";
import { putCues } from "../../src/store/transcripts.ts";
import { type Client, type Json, newClient } from "../support/client.ts";
import { cutOffEverywhere } from "../support/cut-off.ts";
import { type AssetRef, assetRefOf, run } from "../support/store-queries.ts";
import {
  addTranscribedVideo,
  segmentTranscripts,
  speechVectors,
  submitTranscript,
} from "../support/transcript-fixtures.ts";

const twoCues = (first: string, second: string) => [
  { start: 0, end: 4, text: first },
  { start: 5, end: 8, text: second },
];
const OLD = twoCues("An old song.", "An old tale.");
const NEW = twoCues("A new song.", "");

let client: Client;
let video: Json;
let path: string;
let ref: AssetRef;

beforeAll(async () => {
  client = await newClient();
  video = await addTranscribedVideo(client, "cut");
  path = `/index/cut/video/${video.asset_id}`;
  ref = await assetRefOf(video);
});

/** Inserts a running job that replaces the transcript. */
async function insertRunningJob() {
  const own = { language: null, warnings: [] };
  const job = { kind: "transcript" as const, jobId: newId("job"), ...ref, ...own };
  await putCues(env.MEDIA, { ...video, ...ref }, NEW, job.jobId);
  await insertJob(env.DB, job, Date.now());
  await run("UPDATE jobs SET state = 'running', leased = 1 WHERE job_id = ?", job.jobId);
  return job;
}

describe("a replacement of a transcript that is cut off between two calls of the stores", () => {
  let expected: Map<string, unknown>;
  let job: Awaited<ReturnType<typeof insertRunningJob>>;

  beforeAll(async () => {
    expected = new Map();
    for (const cues of [NEW, OLD]) {
      await submitTranscript(client, path, cues);
      const texts = await segmentTranscripts(client, path);
      expected.set(texts.join("|"), await speechVectors(video));
    }
    expect(expected.size).toBe(2);
  });

  /** Checks that the segments have the record's transcript, and vectors of it. */
  async function expectConsistent() {
    const { cues } = await client.json("GET", `${path}/transcript`);
    const texts = await segmentTranscripts(client, path);
    expect(texts.filter(Boolean)).toEqual(cues.map(({ text }: Json) => text).filter(Boolean));
    expect(await speechVectors(video)).toEqual(expected.get(texts.join("|")));
    const { nodes, health } = await client.json("GET", "/index/cut/traverse");
    expect([...nodes.map((node: Json) => node.health), health]).toEqual([HEALTHY, HEALTHY]);
  }

  async function replace(cutEnv: Env) {
    job = await insertRunningJob();
    await replaceTranscript(cutEnv, { ...job, language: null }, async () => true);
  }

  it("is completed if its job runs again", async () => {
    const calls = await cutOffEverywhere(replace, async () => {
      await replaceTranscript(env, { ...job, language: null }, async () => true);
      await run("UPDATE jobs SET state = 'succeeded' WHERE job_id = ?", job.jobId);
      expect((await segmentTranscripts(client, path))[0]).toBe("A new song.");
      await expectConsistent();
      await submitTranscript(client, path, OLD);
    });
    expect(calls).toBeGreaterThan(12);
  });

  it("is consistent after one traversal if its job has ended", async () => {
    await cutOffEverywhere(replace, async () => {
      const end = "UPDATE jobs SET state = 'cancelled', updated_at = 0 WHERE job_id = ?";
      await run(end, job.jobId);
      const { job_id } = await client.json("POST", "/index/cut/traverse");
      expect((await client.waitForJob(job_id)).result).toMatchObject({ unrepaired: [] });
      await expectConsistent();
      await submitTranscript(client, path, OLD);
    });
  });
});

const HEALTHY = { ok: true, findings: [] };
