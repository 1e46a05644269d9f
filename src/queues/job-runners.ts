import { AppError } from "../errors.ts";
import { makePlaybackCopy } from "../ingest/playback-copy.ts";
import { replaceTranscript } from "../ingest/transcript/replace.ts";
import { probeImageModel } from "../lifecycle/image-model.ts";
import {
  type ArchiveProgress,
  importArchive,
  newArchiveProgress,
} from "../lifecycle/import-archive.ts";
import { purgeAsset, purgeIndex } from "../lifecycle/purge.ts";
import { repairAsset } from "../lifecycle/repair.ts";
import { newReport } from "../lifecycle/report.ts";
import { SlicePaused, sliceCheckpoint } from "../lifecycle/slice.ts";
import { syncFollowedSources, syncPage } from "../lifecycle/sync-sources.ts";
import { type TraversalCheckpoint, traverse } from "../lifecycle/traverse.ts";
import type { JobKind, JobMessage, JobMessageOf } from "../messages.ts";
import { costGate } from "../metering/cost-gate.ts";
import type { InvocationCalls } from "../metering/invocation-calls.ts";
import { exampleFromClip } from "../search/clip-example.ts";
import { searchRequest } from "../search/request.ts";
import { searchAny } from "../search/search-any.ts";
import { saveResults } from "../search/stored-results.ts";
import { matchAsset } from "../search/watches/match-asset.ts";
import { previewWatch, watchRequest } from "../search/watches/preview-watch.ts";
import { getAsset } from "../store/d1/assets.ts";
import { getSearchableParts } from "../store/d1/indices.ts";
import { requireJob } from "../store/d1/jobs.ts";
import { listShards } from "../store/d1/shards.ts";
import { isWatched, requireWatch } from "../store/d1/watches.ts";
import { indexObject } from "../store/index-object.ts";

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

/** Runs a job by its kind. Throws `SlicePaused` if the job has more to do. */
export function runJob(env: Env, job: JobMessage, slice: JobSlice): Promise<unknown> {
  return runKind(job.kind, env, job, slice);
}

/** Pairs a runner with its variant, which a union of kinds can't. */
function runKind<Kind extends JobKind>(
  kind: Kind,
  env: Env,
  job: JobMessageOf<Kind>,
  slice: JobSlice,
): Promise<unknown> {
  return JOB_RUNNERS[kind](env, job, slice);
}

/** Each runner may run twice, and start over after it stopped anywhere. */
const JOB_RUNNERS: { [Kind in JobKind]: JobRunner<Kind> } = {
  async delete_asset(env, job, { calls, onProgress }) {
    const checkpoint = sliceCheckpoint(calls, () => onProgress(0));
    await purgeAsset(env, job, checkpoint);
    return { asset_id: job.assetId };
  },

  /** Deletes an index, in slices. */
  async delete_index(env, { accountId, indexId, jobId }, { calls, onProgress }) {
    const index = { accountId, indexId, shards: await listShards(env.DB, indexId) };
    const { result } = await requireJob(env.DB, accountId, jobId);
    const purged = { assets: 0, ...(result as object | null) };
    const checkpoint = sliceCheckpoint(calls, () => onProgress(0, purged));
    await purgeIndex(env, index, (count) => (purged.assets += count), checkpoint);
    return purged;
  },

  async search(env, { accountId, indexId, indexName: name, request: storedRequest, clip }) {
    const { shards, calibration: own } = await getSearchableParts(env.DB, indexId);
    const index = { accountId, indexId, name, shards, calibration: own };
    const request = searchRequest.parse(storedRequest);
    const example = clip ? await exampleFromClip(env, index, clip.key, clip.range) : null;
    const found = await searchAny(env, index, request, example);
    const { hits, total, calibration, interpretation, facets } = found;
    const { offset, readyBy, cursorTag } = request;
    const next = clip ? null : found.next; // a search by video takes no cursor
    const count = hits.length;
    const page = { total, offset, readyBy, cursorTag, next, count, calibration, interpretation };
    const { query, similarTo, sequence } = request;
    const isExample = clip !== null || similarTo !== null || sequence.length > 0;
    return saveResults(hits, { indexName: name, query, isExample, facets, ...page });
  },

  /** Replaces a video's transcript, and announces what matches a watch by it. */
  async transcript(env, { jobId, indexId, assetId, language, warnings }, { onProgress }) {
    const replacement = { jobId, assetId, language, warnings };
    const replaced = await replaceTranscript(env, replacement, onProgress);
    const asset = await getAsset(env.DB, assetId);
    if (asset && (await isWatched(env.DB, asset))) {
      await matchAsset(env, asset, true);
      await indexObject(env, indexId).announceMatches();
    }
    return replaced;
  },

  /** Imports one page of a source's listing. */
  async import(env, job, { onProgress }) {
    const sync = await syncPage(env, job);
    if (sync.isComplete) return sync.result;
    await onProgress(sync.share);
    throw new SlicePaused();
  },

  /** Imports the assets of an archive, in slices. */
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

  /** Makes the playable copy of a video, in slices. */
  playback_copy: (env, { assetId }, { calls, onProgress }) => {
    let progress = 0;
    const endOfSlice = sliceCheckpoint(calls, () => onProgress(progress));
    return makePlaybackCopy(env, { assetId }, async (share) => {
      progress = share;
      await endOfSlice();
      costGate(env).require("convertedSeconds");
    });
  },

  /** Finds what a watch would have announced. */
  async preview_watch(env, job) {
    const { accountId, indexId, indexName: name, minProbability, watchId } = job;
    const parts = await getSearchableParts(env.DB, indexId);
    const index = { accountId, indexId, name, ...parts };
    const request = watchRequest.parse(job.request);
    const image = watchId && (await requireWatch(env.DB, indexId, watchId)).image;
    return previewWatch(env, index, { request, minProbability, image });
  },

  /** Repairs one asset, in slices. The report of the last one is the result. */
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
    const checkpoint: TraversalCheckpoint = {
      ...newReport(),
      after: "",
      ...(result as Partial<TraversalCheckpoint> | null),
    };
    await traverse(env, job, checkpoint, calls, (share) => onProgress(share, checkpoint));
    const { after: _, ...report } = checkpoint;
    return { ...report, sources: await syncFollowedSources(env, job) };
  },
};
