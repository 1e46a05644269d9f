import { purgeAsset, purgeIndex } from "../lifecycle/purge.ts";
import { AppError } from "../errors.ts";
import {
  type ArchiveReport,
  importArchive,
  newArchiveReport,
} from "../lifecycle/import-archive.ts";
import { probeImageModel } from "../lifecycle/image-model.ts";
import { RepairPaused, sliceCheckpoint } from "../lifecycle/repair-context.ts";
import { repairAsset } from "../lifecycle/repair.ts";
import { newReport } from "../lifecycle/report.ts";
import { syncFollowedSources, syncPage } from "../lifecycle/sync-sources.ts";
import { type TraversalCheckpoint, traverse } from "../lifecycle/traverse.ts";
import { replaceTranscript } from "../ingest/transcript/replace.ts";
import type { JobKind, JobMessage, JobMessageOf } from "../messages.ts";
import { exampleFromClip } from "../search/clip-example.ts";
import { searchRequest } from "../search/request.ts";
import { search } from "../search/search.ts";
import { saveResults } from "../search/stored-results.ts";
import { getAsset } from "../store/assets.ts";
import { requireJob } from "../store/jobs.ts";
import { listShards } from "../store/shards.ts";

/**
 * Records a job's progress, from 0 to 1, and its result so far. False if the job was cancelled and
 * has to stop.
 */
type OnProgress = (progress: number, result?: unknown) => Promise<boolean>;

/** Result of a job that has more to do: the consumer sends a message for the next slice. */
export const CONTINUE = Symbol("continue");

/** Does a job, or a slice of it, and resolves to its result or `CONTINUE`. */
type JobRunner<Kind extends JobKind> = (
  env: Env,
  job: JobMessageOf<Kind>,
  onProgress: OnProgress,
) => Promise<unknown>;

/** Runs a job by its kind. */
export function runJob(env: Env, job: JobMessage, onProgress: OnProgress): Promise<unknown> {
  return runKind(job.kind, env, job, onProgress);
}

/** Pairs a runner with its variant, which a union of kinds can't. */
function runKind<Kind extends JobKind>(
  kind: Kind,
  env: Env,
  job: JobMessageOf<Kind>,
  onProgress: OnProgress,
): Promise<unknown> {
  return JOB_RUNNERS[kind](env, job, onProgress);
}

/** Each runner may run twice, and start over after it stopped anywhere. */
const JOB_RUNNERS: { [Kind in JobKind]: JobRunner<Kind> } = {
  async delete_asset(env, job) {
    await purgeAsset(env, job);
    return { asset_id: job.assetId };
  },

  async delete_index(env, { accountId, indexId }, onProgress) {
    const shards = await listShards(env.DB, indexId);
    const assetCount = await purgeIndex(env, { accountId, indexId, shards }, (purgedCount) =>
      onProgress(0, { assets: purgedCount }),
    );
    return { assets: assetCount };
  },

  async search(env, { accountId, indexId, indexName: name, request: storedRequest, clip }) {
    const shards = await listShards(env.DB, indexId);
    const index = { accountId, indexId, name, shards };
    const request = searchRequest.parse(storedRequest);
    const example = clip ? await exampleFromClip(env, index, clip.key, clip.range) : null;
    const { hits, total } = await search(env, index, request, example);
    const { offset, readyBy, cursorTag } = request;
    const count = clip ? total : hits.length; // a search by video takes no cursor
    return saveResults(hits, { indexName: name, total, offset, readyBy, cursorTag, count });
  },

  /** Replaces a video's transcript. */
  transcript: (env, { jobId, assetId, language }, onProgress) =>
    replaceTranscript(env, { jobId, assetId, language }, onProgress),

  /** Imports one page of a source's listing. */
  async import(env, job, onProgress) {
    const sync = await syncPage(env, job);
    if (sync.isComplete) return sync.result;
    await onProgress(sync.share);
    return CONTINUE;
  },

  /** Imports the assets of an archive, in slices. */
  async import_archive(env, job, onProgress) {
    const { result } = await requireJob(env.DB, job.accountId, job.jobId);
    const report: ArchiveReport & { next: number } = {
      ...newArchiveReport(),
      next: 0,
      ...(result as object | null),
    };
    const isDone = await importArchive(env, job, report, (share) => onProgress(share, report));
    if (!isDone) {
      await onProgress(0, report);
      return CONTINUE;
    }
    const { next: _, ...counts } = report;
    return { ...counts, is_complete: job.isComplete };
  },

  /** Repairs one asset, in slices. The report of the last one is the result. */
  async repair(env, { jobId, assetId }, onProgress) {
    const asset = await getAsset(env.DB, assetId);
    if (!asset) throw new AppError("not_found", "The asset was deleted.");
    const report = newReport();
    const checkpoint = sliceCheckpoint(() => onProgress(0, report));
    try {
      const imageModel = await probeImageModel(env);
      await repairAsset({ env, asset, jobId, checkpoint }, imageModel, report, Date.now());
    } catch (error) {
      if (!(error instanceof RepairPaused)) throw error;
      return CONTINUE; // the next slice ends at once if the job was cancelled
    }
    return report;
  },

  /** Repairs a slice of an index from the checkpoint on, and at the end syncs followed sources. */
  async traverse(env, job, onProgress) {
    const { result } = await requireJob(env.DB, job.accountId, job.jobId);
    const checkpoint: TraversalCheckpoint = {
      ...newReport(),
      after: "",
      ...(result as Partial<TraversalCheckpoint> | null),
    };
    const recordProgress = (share: number) => onProgress(share, checkpoint);
    if (!(await traverse(env, job, checkpoint, recordProgress))) {
      await onProgress(0, checkpoint);
      return CONTINUE;
    }
    const { after: _, ...report } = checkpoint;
    return { ...report, sources: await syncFollowedSources(env, job) };
  },
};
