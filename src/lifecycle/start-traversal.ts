import { newId } from "../ids.ts";
import type { JobMessage } from "../messages.ts";
import { getTraversal, type TraversalJob } from "../store/d1/traversals.ts";
import { startJob } from "../store/job-queue.ts";

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
