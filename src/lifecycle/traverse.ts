import { LIFECYCLE } from "../config.ts";
import { AppError } from "../errors.ts";
import type { AccountId, IndexId, JobId } from "../ids.ts";
import type { InvocationCalls } from "../metering/invocation-calls.ts";
import { listShards } from "../store/d1/shards.ts";
import { isIndexLive, markTraversed } from "../store/d1/traversals.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import { pruneDeleted } from "../store/mirror.ts";
import type { Page } from "../store/sql.ts";
import { vectorLagSeconds } from "../store/vectorize/vectors.ts";
import type { Asset, IndexRef } from "../types.ts";
import {
  type IndexFinding,
  inspectIndex,
  inspectRecords,
  repairIndex,
} from "./health/media-index.ts";
import { probeImageModel } from "./image-model.ts";
import { repairAsset } from "./repair.ts";
import { type Report, recordRepair } from "./report.ts";
import { SlicePaused, sliceCheckpoint } from "./slice.ts";
import { listTraversalPage } from "./traversal-page.ts";

interface TraversalInput {
  accountId: AccountId;
  indexId: IndexId;
  jobId: JobId;
}

/** A report and the last asset that it includes, from which the next slice continues. */
export interface TraversalCheckpoint extends Report {
  /** Id of that asset; empty at the start. */
  after: string;
}

/**
 * Inspects and repairs a slice of an index's assets. Continues at `progress` and updates it after
 * every asset. The first slice restores assets that have lost their row, the last one also repairs
 * the index itself. Throws `SlicePaused` if there is more to do, or if `onProgress` returns false
 * because the job was cancelled, and `not_found` if the index was deleted.
 */
export async function traverse(
  env: Env,
  { accountId, indexId, jobId }: TraversalInput,
  progress: TraversalCheckpoint,
  calls: InvocationCalls,
  onProgress: (share: number) => Promise<boolean>,
): Promise<void> {
  if (!(await isIndexLive(env.DB, indexId))) {
    throw new AppError("not_found", "The index was deleted.");
  }
  const imageModel = await probeImageModel(env);
  const request = { limit: LIFECYCLE.slice.maxAssets, after: progress.after };
  let page: Page<Asset> | null = null;
  const record = () => onProgress(Math.min(1, progress.assets / Math.max(1, page?.total ?? 1)));
  const checkpoint = sliceCheckpoint(calls, record);
  const pause = async (delaySeconds = 0): Promise<never> => {
    await record();
    throw new SlicePaused(delaySeconds);
  };
  const repairFindings = async (inspect: (index: IndexRef) => Promise<IndexFinding[]>) => {
    const index = { accountId, indexId, shards: await listShards(env.DB, indexId) };
    for (const finding of await inspect(index)) {
      await recordRepair(progress, null, [finding], async () => {
        await repairIndex(env, index, imageModel, finding, checkpoint);
        return null;
      });
    }
  };
  const restored = () => progress.repaired.records_missing ?? 0;
  const restoredBefore = restored();
  if (progress.after === "") await repairFindings((index) => inspectRecords(env, index));
  if (restored() > restoredBefore) return pause(); // there may be more
  page = await listTraversalPage(env.DB, indexId, request);
  for (const asset of page.items) {
    await checkpoint();
    await repairAsset({ env, asset, jobId, checkpoint }, imageModel, progress, Date.now());
    progress.assets += 1;
    progress.after = asset.assetId;
  }
  await checkpoint();
  if (page.next !== null) return pause();
  const orphaned = () => progress.repaired.vectors_orphaned ?? 0;
  const orphanedBefore = orphaned();
  await repairFindings((index) => inspectIndex(env, index, imageModel, Date.now()));
  if (orphaned() > orphanedBefore) return pause(vectorLagSeconds(env)); // more may be behind them
  const index = { indexId, shards: await listShards(env.DB, indexId) };
  const prunedBefore = Date.now() - LIFECYCLE.minOrphanAgeMs;
  await Promise.all(indexDatabases(env, index).map((db) => pruneDeleted(db, prunedBefore)));
  const { findings, repaired } = progress;
  const isCurrent = findings.vectors_stale === repaired.vectors_stale;
  await markTraversed(env.DB, indexId, isCurrent, Date.now());
}
