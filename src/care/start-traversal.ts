import { newId } from "../ids.ts";
import type { JobMessage } from "../queues/messages.ts";
import { startJob } from "../store/jobs.ts";
import { getTraversal, type Traversal } from "../store/traversals.ts";

/** Starts a traversal of an index, unless one is under way: then that is it. */
export async function startTraversal(
  env: Env,
  { accountId, indexId }: Pick<JobMessage, "accountId" | "indexId">,
  now: number,
): Promise<Traversal> {
  const present = await getTraversal(env.DB, indexId);
  if (present) return present;
  const job: JobMessage = { kind: "traverse", jobId: newId("job", now), accountId, indexId };
  try {
    await startJob(env, job, now);
  } catch (error) {
    const other = await getTraversal(env.DB, indexId); // begun meanwhile: D1 takes one only
    if (!other) throw error;
    return other;
  }
  return { jobId: job.jobId, state: "queued" };
}
