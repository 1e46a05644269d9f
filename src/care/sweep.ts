import { CARE, IDEMPOTENCY } from "../config.ts";
import { traceOf } from "../errors.ts";
import { newId } from "../ids.ts";
import { log } from "../log.ts";
import type { JobMessage } from "../queues/messages.ts";
import { listLostAssets, type LostAsset } from "../store/assets.ts";
import { forgetAnswers } from "../store/idempotency.ts";
import { indexObject } from "../store/index-object.ts";
import { listHiddenIndices } from "../store/indices.ts";
import { giveUpJobs, sendJob, startJob, takeOverdueJobs } from "../store/jobs.ts";
import { listIndicesDue } from "../store/traversals.ts";
import { sweepUploads } from "./sweep-uploads.ts";
import { startTraversal } from "./start-traversal.ts";

/** What is younger may still be under way. */
const SETTLED_MS = 15 * 60 * 1000;
/** Of each kind, in one sweep: the next one takes more. */
const AT_ONCE = 100;

/**
 * Once a minute. Picks up what was cut off between two stores: jobs whose message or worker was lost, assets
 * on record that their index's object never heard of, and deleted indices whose content is still there. Then
 * has the indices traversed that are due, and looks after resumable uploads.
 */
export async function sweep(env: Env, now: number): Promise<void> {
  const dead = await giveUpJobs(env.DB, now, AT_ONCE);
  for (const { jobId } of dead) log("error", "job.dead", { job: jobId });
  const overdue = await takeOverdueJobs(env.DB, now, AT_ONCE);
  await Promise.all([...dead, ...overdue].map((job) => sendJob(env.JOBS, job)));
  const before = now - SETTLED_MS;
  const lost = await listLostAssets(env.DB, before, AT_ONCE);
  await Promise.all(lost.map((asset) => restart(env, asset)));
  const hidden = await listHiddenIndices(env.DB, before, AT_ONCE);
  for (const owner of hidden) {
    const job: JobMessage = { kind: "delete_index", jobId: newId("job", now), ...owner };
    await startJob(env, job, now);
  }
  const due = await listIndicesDue(env.DB, now, CARE.perTick);
  for (const index of due) await startTraversal(env, index, now);
  await forgetAnswers(env.DB, now, IDEMPOTENCY.perTick);
  const uploads = await sweepUploads(env, now);
  const done = {
    jobs: overdue.length,
    restarted: lost.length,
    deletions: hidden.length,
    traversals: due.length,
    ...uploads,
  };
  if (Object.values(done).some(Boolean)) log("info", "care.swept", done);
}

/** One object that fails stops nothing else; the next sweep asks it again. */
async function restart(env: Env, { indexId, assetId, assetType, jobId }: LostAsset): Promise<void> {
  try {
    await indexObject(env, indexId).start(indexId, assetId, assetType, jobId);
  } catch (error) {
    log("error", "care.not_restarted", { asset: assetId, cause: traceOf(error) });
  }
}
