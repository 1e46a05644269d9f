import { newId } from "../ids.ts";
import type { JobMessage } from "../messages.ts";
import { startJob } from "../store/jobs.ts";
import { getTraversal, type TraversalJob } from "../store/traversals.ts";

/** Starts a traversal of an index. Returns the unfinished one if there is one. */
export async function startTraversal(
  env: Env,
  { accountId, indexId }: Pick<JobMessage, "accountId" | "indexId">,
  now: number,
): Promise<TraversalJob> {
  const unfinished = await getTraversal(env.DB, indexId);
  if (unfinished) return unfinished;
  const job: JobMessage = { kind: "traverse", jobId: newId("job", now), accountId, indexId };
  try {
    await startJob(env, job, now);
  } catch (error) {
    const concurrent = await getTraversal(env.DB, indexId); // D1 accepts one per index
    if (!concurrent) throw error;
    return concurrent;
  }
  return { jobId: job.jobId, state: "queued" };
}
