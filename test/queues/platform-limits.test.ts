import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import worker from "../../local/worker.ts";
import { LIFECYCLE, LIMITS } from "../../src/config.ts";
import { type InvocationCalls, newInvocationCalls } from "../../src/counts.ts";
import { newId } from "../../src/ids.ts";
import { runPart } from "../../src/ingest/steps/step-runners.ts";
import { countAudioChunks } from "../../src/ingest/transcript/audio-chunks.ts";
import { inspectAsset } from "../../src/lifecycle/inspect.ts";
import { SlicePaused } from "../../src/lifecycle/slice.ts";
import type { JobMessage } from "../../src/messages.ts";
import { costGate, meterEnv } from "../../src/metering/meter-env.ts";
import { probeImageModel } from "../../src/models/embed.ts";
import { CONVERSION } from "../../src/parameters.ts";
import { runJob } from "../../src/queues/jobs.ts";
import { getAsset } from "../../src/store/d1/assets.ts";
import { updateJob } from "../../src/store/d1/jobs.ts";
import { putConversionPlan } from "../../src/store/r2/conversion-plan.ts";
import { convertedPartKey } from "../../src/store/r2/object-keys.ts";
import { putRecognized } from "../../src/store/transcripts.ts";
import { type Asset, INGEST_STEPS, type Step } from "../../src/types.ts";
import { CallCounts } from "../../tools/call-counts.ts";
import { type Client, newClient } from "../support/client.ts";
import { deliver } from "../support/ingest-helpers.ts";
import {
  JOB_CASES,
  MAX_SEGMENTS,
  addAsset,
  addAssets,
  addSegments,
  insert,
  numbersTo,
  standIns,
  withoutShards,
} from "../support/job-cases.ts";
import { type AssetRef, run } from "../support/store-queries.ts";

/** What one invocation of a Worker may do. */
const PLATFORM = { queries: 1000, subrequests: 10_000 };
type Calls = typeof PLATFORM;

let client: Client;

beforeAll(async () => {
  client = await newClient();
});

/** Runs a job as a queue does whose account may spend. */
function runMetered(
  counted: Env,
  job: JobMessage,
  calls: InvocationCalls,
  onProgress: (progress: number, result?: unknown) => Promise<boolean>,
): Promise<unknown> {
  const metered = meterEnv(counted, job.accountId, { priority: "background", calls });
  costGate(metered).open();
  return runJob(metered, job, { calls, onProgress });
}

/**
 * Runs a job to its end. Returns the calls of all its work or, of a job in slices, the most between
 * two checkpoints.
 */
async function measure(job: JobMessage, isSliced: boolean): Promise<Calls> {
  const counts = new CallCounts(standIns());
  const most = { queries: 0, subrequests: 0 };
  let before = { queries: 0, subrequests: 0 };
  const note = () => {
    const { queries, subrequests } = counts;
    most.queries = Math.max(most.queries, queries - before.queries);
    most.subrequests = Math.max(most.subrequests, subrequests - before.subrequests);
    before = { queries, subrequests };
  };
  const onProgress = async (progress: number, result?: unknown) => {
    if (isSliced) note();
    return updateJob(env.DB, job.jobId, { state: "running", progress, result });
  };
  for (let isComplete = false; !isComplete;) {
    try {
      await counts.during((counted) => runMetered(counted, job, newInvocationCalls(), onProgress));
      isComplete = true;
    } catch (error) {
      if (!(error instanceof SlicePaused)) throw error;
    }
    note();
  }
  return most;
}

/** Extrapolates the calls at two sizes to a third one. */
function extrapolate([n, m]: [number, number], [atN, atM]: [Calls, Calls], largest: number): Calls {
  const at = (name: keyof Calls) =>
    atM[name] + (Math.max(0, atM[name] - atN[name]) / (m - n)) * (largest - m);
  return { queries: at("queries"), subrequests: at("subrequests") };
}

/** Calls of a message beside its work: the lease, the result, the usage, the next message. */
const OVERHEAD: Calls = { queries: 20, subrequests: 40 };

describe("a message of a job stays within the limits of an invocation", () => {
  it.each(Object.entries(JOB_CASES))("of the kind %s", async (_, each) => {
    const { sizes, largest, isSliced, prepare } = each;
    const measured: Calls[] = [];
    for (const n of sizes) measured.push(await measure(await prepare(client, n), isSliced));
    const [small, large] = measured;
    const work = extrapolate(sizes, [small!, large!], largest);
    const { maxQueries, maxSubrequests } = LIFECYCLE.slice;
    const slice = isSliced ? { queries: maxQueries, subrequests: maxSubrequests } : NONE;
    expect(slice.queries + work.queries + OVERHEAD.queries).toBeLessThan(PLATFORM.queries);
    expect(slice.subrequests + work.subrequests + OVERHEAD.subrequests).toBeLessThan(
      PLATFORM.subrequests,
    );
  });

  it("beside its work, it makes few calls", async () => {
    const ref = await addAsset(client, "words.jpg");
    const job = await insert<"delete_asset">({
      kind: "delete_asset",
      jobId: newId("job"),
      ...withoutShards(ref),
    });
    const work = await measure(job, false);
    await run("UPDATE jobs SET state = 'queued' WHERE job_id = ?", job.jobId);
    const counts = new CallCounts(env);
    await counts.during(() => deliver("sightline-jobs", job, 1, counts.env));
    expect(counts.queries).toBeLessThan(work.queries + OVERHEAD.queries);
    expect(counts.subrequests).toBeLessThan(work.subrequests + OVERHEAD.subrequests);
  });

  it("that inspects the longest video", async () => {
    const ref = await addAsset(client, "words.jpg");
    const sizes: [number, number] = [400, 800];
    const measured: Calls[] = [];
    for (const n of sizes) {
      await addSegments(ref, n / sizes.length, "");
      const counts = new CallCounts(env);
      const asset = (await getAsset(env.DB, ref.assetId))!;
      const imageModel = await probeImageModel(env);
      await counts.during((counted) => inspectAsset(counted, asset, imageModel, Date.now()));
      const { queries, subrequests } = counts;
      measured.push({ queries, subrequests });
    }
    const added: [number, number] = [sizes[0] / 2, (sizes[0] + sizes[1]) / 2];
    const work = extrapolate(added, [measured[0]!, measured[1]!], MAX_SEGMENTS);
    expect(work.subrequests).toBeGreaterThan(MAX_SEGMENTS / 10);
    const { maxQueries, maxSubrequests } = LIFECYCLE.slice;
    expect(maxQueries + work.queries + OVERHEAD.queries).toBeLessThan(PLATFORM.queries);
    expect(maxSubrequests + work.subrequests + OVERHEAD.subrequests).toBeLessThan(
      PLATFORM.subrequests,
    );
  });

  it("counts as many calls as it makes", async () => {
    const job = await JOB_CASES.delete_index.prepare(client, 3);
    const counts = new CallCounts(standIns());
    const calls = newInvocationCalls();
    await counts.during((counted) => runMetered(counted, job, calls, async () => true));
    const { queries, subrequests, fetches } = counts;
    expect(calls).toEqual({ queries, subrequests: subrequests - fetches }); // those aren't bindings
  });
});

const NONE: Calls = { queries: 0, subrequests: 0 };

/** Makes an asset that looks as long as a video may be, with the speech of all its audio chunks. */
async function toLongest(asset: Asset): Promise<Asset> {
  const longest = { ...asset, durationMs: LIMITS.videoSeconds * 1000, hasAudio: true };
  for (let part = 0; part < countAudioChunks(longest); part++) {
    await putRecognized(env.MEDIA, longest, part, { cues: [], language: "en", error: null });
  }
  return longest;
}

/** Stores the plan of a conversion of the longest video. */
async function withPlan(asset: Asset): Promise<Asset> {
  await putConversionPlan(env.MEDIA, asset, {
    reason: "unsupported_codec",
    recordings: [{ bytes: null, originSeconds: 0, startMs: 0, endMs: LIMITS.videoSeconds * 1000 }],
    frameFormat: { width: 320, height: 180, fps: 10 },
    hasAudio: true,
  });
  return asset;
}

/** Converts two minutes, and stores them by turns as the parts of the longest video. */
async function withParts(asset: Asset): Promise<Asset> {
  await withPlan(asset);
  const minutes: Uint8Array[] = [];
  for (const part of [0, 1]) {
    await runPart("convert", standIns(), asset, part, 1);
    minutes.push(await (await env.MEDIA.get(convertedPartKey(asset, part)))!.bytes());
  }
  const count = (LIMITS.videoSeconds * 1000) / CONVERSION.partMs;
  for (let part = 2; part < count; part++) {
    await env.MEDIA.put(convertedPartKey(asset, part), minutes[part % 2]!);
  }
  return asset;
}

/** How the largest part of each step is made: a new step without an entry doesn't compile. */
const STEP_CASES: Record<Step, (asset: Asset) => Promise<Asset>> = {
  fetch: async (asset) => asset,
  plan_conversion: async (asset) => asset,
  convert: async (asset) => withPlan(asset),
  merge_parts: withParts,
  probe: async (asset) => asset,
  detect_shots: async (asset) => asset, // a window
  segment: toLongest,
  recognize_speech: async (asset) => asset, // a chunk
  align_transcript: toLongest,
  describe: async (asset) => asset, // `INGEST.segmentsPerPart` segments
  index_frames: async (asset) => asset,
  embed: async (asset) => asset,
  finish: async (asset) => asset,
};

describe("a part of an ingest step stays within the limits of an invocation", () => {
  let ref: AssetRef;

  beforeAll(async () => {
    ref = await addAsset(client, "speech.mp4");
  });

  it.each(INGEST_STEPS)("of %s", async (step) => {
    const asset = await STEP_CASES[step]((await getAsset(env.DB, ref.assetId))!);
    const counts = new CallCounts(standIns());
    await counts.during((counted) => runPart(step, counted, asset, 0, 1));
    expect(counts.queries).toBeLessThan(PLATFORM.queries / 2);
    expect(counts.subrequests).toBeLessThan(PLATFORM.subrequests / 2);
  });
});

describe("other invocations stay within the limits", () => {
  it("a sweep with more to do than it does at once", async () => {
    const ref = await addAsset(client, "words.jpg");
    await addAssets(ref, 300);
    const indices = `INSERT INTO indices (index_id, account_id, name, created_at, updated_at,
        deleted_at)
      SELECT 'idx_' || value, ?, 'gone-' || value, 1, 1, 1 FROM json_each(?)`;
    await run(indices, ref.accountId, numbersTo(100));
    const counts = new CallCounts(env);
    const tick = { scheduledTime: Date.now(), cron: "* * * * *" } as ScheduledController;
    await counts.during(() => worker.scheduled(tick, { ...env, ...counts.env }));
    expect(counts.queries).toBeGreaterThan(LIFECYCLE.slice.maxQueries / 2);
    expect(counts.queries).toBeLessThan(PLATFORM.queries);
    expect(counts.subrequests).toBeLessThan(PLATFORM.subrequests);
  });

  it("a batch of dead jobs", async () => {
    const prepared = await JOB_CASES.delete_index.prepare(client, 1);
    const jobs = await Promise.all(
      Array.from({ length: 10 }, () => insert({ ...prepared, jobId: newId("job") })),
    );
    const counts = new CallCounts(env);
    await counts.during(async () => {
      for (const job of jobs) await deliver("sightline-jobs-dead", job, 1, counts.env);
    });
    expect(counts.queries).toBeLessThan(PLATFORM.queries / 10);
  });
});
