import { newId } from "../ids.ts";
import type { JobMessage, QueryClip } from "../messages.ts";
import type { SearchRequest } from "../search/request.ts";
import { startJob } from "../store/jobs.ts";
import type { MediaIndexRow } from "../types.ts";

/**
 * Starts a job that searches and stores the results, and returns an empty result that names it. The
 * job deletes the query clip.
 */
export async function queueSearch(
  env: Env,
  { accountId, indexId, name: indexName }: MediaIndexRow,
  request: SearchRequest,
  clip: QueryClip | null,
) {
  const now = Date.now();
  const job: JobMessage = {
    kind: "search",
    jobId: newId("job", now),
    accountId,
    indexId,
    indexName,
    request,
    clip,
  };
  await startJob(env, job, now);
  const state = "queued" as const;
  return { job_id: job.jobId, state, segments: [], total: 0, next_cursor: null };
}
