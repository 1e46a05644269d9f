import { LIFECYCLE } from "../config.ts";
import type { InvocationCalls } from "../counts.ts";
import { AppError } from "../errors.ts";
import { type IndexId, newId } from "../ids.ts";
import type { JobMessage } from "../messages.ts";
import { probeImageModel } from "../models/embed.ts";
import { pruneDeleted } from "../store/asset-changes.ts";
import { listAssets } from "../store/d1/assets.ts";
import {
  type TraversalJob,
  getTraversal,
  isIndexLive,
  markTraversed,
} from "../store/d1/indices.ts";
import { startJob } from "../store/d1/jobs.ts";
import { listShards } from "../store/d1/shards.ts";
import { indexDatabases } from "../store/index-database/index-database.ts";
import type { Page, PageRequest } from "../store/sql.ts";
import type { Asset } from "../types.ts";
import { inspectIndex } from "./inspect.ts";
import { type Report, recordRepair, repairAsset, repairIndex } from "./repair.ts";
import { SlicePaused, sliceCheckpoint } from "./slice.ts";

/**
 * Starts a traversal of an index. Returns the unfinished one if there is one. Throws `account_full`
 * for a requested one if the account has no room for its record.
 */
export async function startTraversal(
  env: Env,
  { accountId, indexId }: Pick<JobMessage, "accountId" | "indexId">,
  trigger: "request" | "schedule",
  now: number,
): Promise<TraversalJob> {
  const unfinished = await getTraversal(env.DB, indexId);
  if (unfinished) return unfinished;
  const job: JobMessage = { kind: "traverse", jobId: newId("job", now), accountId, indexId };
  try {
    await startJob(env, job, now, trigger === "request" ? "needed" : "none");
  } catch (error) {
    const concurrent = await getTraversal(env.DB, indexId); // D1 accepts one per index
    if (!concurrent) throw error;
    return concurrent;
  }
  return { jobId: job.jobId, state: "queued" };
}

/** A report and the last asset that it includes, from which the next slice continues. */
export interface TraversalCheckpoint extends Report {
  /** Id of that asset; empty at the start. */
  after: string;
}

/**
 * Inspects and repairs a slice of an index's assets. Continues at `progress` and updates it after
 * every asset. The last slice also repairs the index itself. Throws `SlicePaused` if there is more
 * to do, or if `onProgress` returns false because the job was cancelled, and `not_found` if the
 * index was deleted.
 */
export async function traverse(
  env: Env,
  { accountId, indexId, jobId }: Pick<JobMessage, "accountId" | "indexId" | "jobId">,
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
  page = await listTraversalPage(env.DB, indexId, request);
  for (const asset of page.items) {
    await checkpoint();
    await repairAsset({ env, asset, jobId, checkpoint }, imageModel, progress, Date.now());
    progress.assets += 1;
    progress.after = asset.assetId;
  }
  await checkpoint();
  if (page.next !== null) {
    await record();
    throw new SlicePaused();
  }
  const index = { accountId, indexId, shards: await listShards(env.DB, indexId) };
  for (const finding of await inspectIndex(env, index, Date.now())) {
    await recordRepair(progress, null, [finding], () =>
      repairIndex(env, index, finding, checkpoint),
    );
  }
  const prunedBefore = Date.now() - LIFECYCLE.minOrphanAgeMs;
  await Promise.all(indexDatabases(env, index).map((db) => pruneDeleted(db, prunedBefore)));
  const { findings, repaired } = progress;
  const isCurrent = findings.vectors_stale === repaired.vectors_stale;
  await markTraversed(env.DB, indexId, isCurrent, Date.now());
}

/**
 * Lists the next assets of a traversal, in a stable order. A page ends early with the asset that
 * brings the segments to `LIFECYCLE.maxPageSegments`, so that one request can inspect them all.
 */
export async function listTraversalPage(db: D1Database, indexId: IndexId, request: PageRequest) {
  const page = await listAssets(db, indexId, {}, request);
  let segmentCount = 0;
  const last = page.items.findIndex(
    (asset) => (segmentCount += asset.segments) >= LIFECYCLE.maxPageSegments,
  );
  if (last === -1 || last === page.items.length - 1) return page;
  return { ...page, items: page.items.slice(0, last + 1), next: page.items[last]!.assetId };
}
