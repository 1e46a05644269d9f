import { JOBS } from "../config.ts";
import type { InvocationCalls } from "../counts.ts";
import { AppError, traceOf } from "../errors.ts";
import { makePlaybackCopy } from "../ingest/conversion.ts";
import {
  deleteUnusedCues,
  replaceTranscript,
  resumeReembedding,
} from "../ingest/transcript/replace.ts";
import {
  type ArchiveProgress,
  cleanUpImport,
  importArchive,
  newArchiveProgress,
} from "../lifecycle/archives.ts";
import { purgeAsset, purgeIndex } from "../lifecycle/purge.ts";
import { newReport, repairAsset } from "../lifecycle/repair.ts";
import { sliceCheckpoint, SlicePaused } from "../lifecycle/slice.ts";
import { syncFollowedSources, syncPage } from "../lifecycle/sync-sources.ts";
import { type TraversalCheckpoint, traverse } from "../lifecycle/traverse.ts";
import { log } from "../log.ts";
import { type JobMessage, jobMessage, type JobKind, type JobMessageOf } from "../messages.ts";
import { costGate, usageMeter } from "../metering/meter-env.ts";
import { probeImageModel } from "../models/embed.ts";
import { searchRequest } from "../search/request.ts";
import { saveResults, toPage } from "../search/results.ts";
import { search } from "../search/search.ts";
import { exampleFromClip } from "../search/uploaded-example.ts";
import { matchAsset, previewWatch, startMatching } from "../search/watches/match-asset.ts";
import { getAsset } from "../store/d1/assets.ts";
import {
  ATTEMPTS_EXHAUSTED,
  claimJob,
  continueJob,
  releaseJob,
  renewJob,
  requireJob,
  updateJob,
} from "../store/d1/jobs.ts";
import { requireQuota } from "../store/d1/quotas.ts";
import { listShards } from "../store/d1/shards.ts";
import { requireWatch } from "../store/d1/watches.ts";
import { indexObject } from "../store/index-object.ts";
import { deleteObjectKeys } from "../store/r2/object-keys.ts";
import { vectorLagSeconds } from "../store/vectorize/vectors.ts";
import { eachMessage, type LeasedWork, runLeased, withMetering } from "./leased-work.ts";

/** Runs the job of each message, or its next slice, under the lease of the job's record. */
export function consumeJobs(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, jobMessage, (job, message) => {
    const priority = job.kind === "search" ? "interactive" : "background";
    return withMetering(env, job.accountId, priority, (metered, calls) =>
      runLeased(message, leasedJob(metered, job, calls)),
    );
  });
}

function leasedJob(
  env: Env,
  job: JobMessage,
  calls: InvocationCalls,
): LeasedWork<"continued" | "ended"> {
  const { jobId, kind } = job;
  return {
    claim: () => claim(env, job),
    renew: () => Promise.all([renewJob(env.DB, jobId, Date.now()), admitCalls(env, job)]),
    renewMs: JOBS.renewMs,
    ...(kind === "import" && { maxAttempts: JOBS.importAttempts }),
    run: () => run(env, job, calls),
    logFailure: (error) => log("warn", "job.failed", { job: jobId, kind, cause: traceOf(error) }),
    release: (failure, dueAt, isDeferred) =>
      isDeferred
        ? releaseJob(env.DB, jobId, dueAt, failure)
        : releaseJob(env.DB, jobId, dueAt + JOBS.redispatchMs),
    async fail(error) {
      await updateJob(env.DB, jobId, { state: "failed", progress: 0, error });
      return "ended";
    },
    async settle(outcome) {
      if (outcome === "ended") await cleanUp(env, job);
    },
  };
}

/**
 * Finishes the vectors of a transcript job that was cancelled half-way, and cleans up ended jobs.
 */
async function claim(env: Env, job: JobMessage): Promise<boolean> {
  const outcome = await claimJob(env.DB, job.jobId, Date.now());
  if (outcome === "finished") {
    if (job.kind === "transcript") {
      await admitCalls(env, job);
      await resumeReembedding(env, job.assetId, job.jobId);
    }
    await cleanUp(env, job);
  }
  return outcome === "claimed";
}

/**
 * Admits the calls of a job, or refuses them from now on, if the account's cost of the day is over
 * its limit. What the job does without them goes on; a deletion is never refused.
 */
async function admitCalls(env: Env, { kind, accountId }: JobMessage): Promise<void> {
  const gate = costGate(env);
  if (kind === "delete_asset" || kind === "delete_index") return gate.open();
  await usageMeter(accountId).flush(env.DB);
  const check = gate.admit(requireQuota(env.DB, accountId, { cost_usd_per_day: 0 }));
  await check.catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
  });
}

/** Sends the next slice of an unfinished job as a new message, which has all its attempts left. */
async function run(env: Env, job: JobMessage, calls: InvocationCalls) {
  const { jobId, kind, accountId } = job;
  const isDeletion = kind === "delete_asset" || kind === "delete_index";
  const payer = isDeletion ? undefined : accountId; // a full account can always delete
  let result: unknown;
  await admitCalls(env, job);
  try {
    const onProgress = (progress: number, partialResult?: unknown) =>
      updateJob(env.DB, jobId, { state: "running", progress, result: partialResult }, payer);
    result = await runJob(env, job, { calls, onProgress });
  } catch (error) {
    if (!(error instanceof SlicePaused)) throw error;
    await continueJob(env, job, error.delaySeconds, Date.now());
    return "continued";
  }
  await updateJob(env.DB, jobId, { state: "succeeded", progress: 1, result }, payer);
  log("info", "job.succeeded", { job: jobId, kind });
  return "ended";
}

/**
 * Deletes the clip, the cues or the lines of an ended job. Errors are logged: R2's lifecycle rule
 * deletes clips and lines that remain.
 */
async function cleanUp(env: Env, job: JobMessage): Promise<void> {
  try {
    if (job.kind === "search" && job.clip) await deleteObjectKeys(env.MEDIA, [job.clip.key]);
    if (job.kind === "transcript") await deleteUnusedCues(env, job, job.jobId);
    if (job.kind === "import_archive") await cleanUpImport(env, job);
  } catch (error) {
    log("warn", "job.cleanup_failed", { job: job.jobId, kind: job.kind, cause: traceOf(error) });
  }
}

export function consumeDeadJobs(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, jobMessage, async (job, message) => {
    const { jobId } = job;
    log("error", "job.dead_lettered", { job: jobId });
    await updateJob(env.DB, jobId, { state: "failed", progress: 0, error: ATTEMPTS_EXHAUSTED });
    await cleanUp(env, job);
    message.ack();
  });
}

/**
 * Records a job's progress, from 0 to 1, and its result so far. False if the job was cancelled and
 * has to stop.
 */
type OnProgress = (progress: number, result?: unknown) => Promise<boolean>;

/** What a message does of a job: the calls that it has made, and how it tells its progress. */
interface JobSlice {
  calls: InvocationCalls;
  onProgress: OnProgress;
}

/** Does a job and resolves to its result, or does a slice of it and throws `SlicePaused`. */
type JobRunner<Kind extends JobKind> = (
  env: Env,
  job: JobMessageOf<Kind>,
  slice: JobSlice,
) => Promise<unknown>;

export function runJob<Kind extends JobKind>(env: Env, job: JobMessageOf<Kind>, slice: JobSlice) {
  return JOB_RUNNERS[job.kind](env, job, slice);
}

/** Each runner may run twice, and start over after it stopped anywhere. */
const JOB_RUNNERS: { [Kind in JobKind]: JobRunner<Kind> } = {
  async delete_asset(env, job, { calls, onProgress }) {
    const checkpoint = sliceCheckpoint(calls, () => onProgress(0));
    await purgeAsset(env, job, checkpoint);
    return { asset_id: job.assetId };
  },

  async delete_index(env, { accountId, indexId, jobId }, { calls, onProgress }) {
    const index = { accountId, indexId, shards: await listShards(env.DB, indexId) };
    const { result } = await requireJob(env.DB, accountId, jobId);
    const purged = { assets: 0, ...(result as object | null) };
    const checkpoint = sliceCheckpoint(calls, () => onProgress(0, purged));
    await purgeIndex(env, index, (count) => (purged.assets += count), checkpoint);
    return purged;
  },

  async search(env, { accountId, indexId, indexName: name, request: storedRequest, clip }) {
    const index = { accountId, indexId, name, shards: await listShards(env.DB, indexId) };
    const request = searchRequest.parse(storedRequest);
    const example = clip ? await exampleFromClip(env, index, clip.key, clip.range) : null;
    const found = await search(env, index, request, example);
    const page = toPage(request, found);
    const next = clip ? null : page.next; // a search by video takes no cursor
    const { query, similarTo, sequence } = request;
    const isExample = clip !== null || similarTo !== null || sequence.length > 0;
    return saveResults(found.hits, { ...page, next, indexName: name, query, isExample });
  },

  async transcript(env, { jobId, assetId, language, warnings }, { onProgress }) {
    const replacement = { jobId, assetId, language, warnings };
    const replaced = await replaceTranscript(env, replacement, onProgress);
    const asset = await getAsset(env.DB, assetId);
    if (asset) await startMatching(env, asset);
    return replaced;
  },

  import: (env, job, { onProgress }) => syncPage(env, job, onProgress),

  async import_archive(env, job, { calls, onProgress }) {
    const { result } = await requireJob(env.DB, job.accountId, job.jobId);
    const report: ArchiveProgress = { ...newArchiveProgress(), ...(result as object | null) };
    const share = () => report.next / Math.max(1, job.lineCount);
    try {
      await importArchive(env, job, report, calls, (progress) => onProgress(progress, report));
    } catch (error) {
      if (!(error instanceof SlicePaused)) await onProgress(share(), report); // its tries
      throw error;
    }
    const { next: _next, tries: _tries, ...counts } = report;
    return { ...counts, is_complete: job.isComplete };
  },

  playback_copy: (env, { assetId }, { calls, onProgress }) => {
    let progress = 0;
    const endOfSlice = sliceCheckpoint(calls, () => onProgress(progress));
    return makePlaybackCopy(env, { assetId }, async (share) => {
      progress = share;
      await endOfSlice();
      costGate(env).require("convertedSeconds");
    });
  },

  /** Searches an asset for what its index watches, in slices, once its vectors can be found. */
  async match_watches(env, { accountId, indexId, assetId, jobId }, { calls, onProgress }) {
    const { result } = await requireJob(env.DB, accountId, jobId);
    const asset = await getAsset(env.DB, assetId);
    const isWaiting = asset !== null && asset.state !== "ready" && asset.state !== "failed";
    if (result === null || isWaiting) {
      await onProgress(0, { after: "" });
      throw new SlicePaused(vectorLagSeconds(env));
    }
    let { after } = result as { after: string };
    let progress = 0;
    const checkpoint = sliceCheckpoint(calls, () => onProgress(progress, { after }));
    if (asset?.state === "ready") {
      await matchAsset(env, asset, after, async (watchId, share) => {
        [after, progress] = [watchId, share];
        await checkpoint();
      });
      await indexObject(env, indexId).announceMatches();
    }
    return { asset_id: assetId };
  },

  async preview_watch(env, job) {
    const { accountId, indexId, indexName: name, minProbability, watchId } = job;
    const index = { accountId, indexId, name, shards: await listShards(env.DB, indexId) };
    const request = searchRequest.parse(job.request);
    const image = watchId && (await requireWatch(env.DB, indexId, watchId)).image;
    return previewWatch(env, index, request, image, minProbability);
  },

  async repair(env, { jobId, assetId }, { calls, onProgress }) {
    const asset = await getAsset(env.DB, assetId);
    if (!asset) throw new AppError("not_found", "The asset was deleted.");
    const report = newReport();
    const checkpoint = sliceCheckpoint(calls, () => onProgress(0, report));
    const imageModel = await probeImageModel(env);
    await repairAsset({ env, asset, jobId, checkpoint }, imageModel, report, Date.now());
    return report;
  },

  /** Repairs a slice of an index from the checkpoint on, and at the end syncs followed sources. */
  async traverse(env, job, { calls, onProgress }) {
    const { result } = await requireJob(env.DB, job.accountId, job.jobId);
    const stored = result as Partial<TraversalCheckpoint> | null;
    const checkpoint: TraversalCheckpoint = { ...newReport(), after: "", ...stored };
    await traverse(env, job, checkpoint, calls, (share) => onProgress(share, checkpoint));
    const { after: _, ...report } = checkpoint;
    return { ...report, sources: await syncFollowedSources(env, job) };
  },
};
