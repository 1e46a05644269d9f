import { newId } from "../ids.ts";
import type { JobMessage, StoredClip } from "../queues/messages.ts";
import type { SearchRequest } from "../search/request.ts";
import { startJob } from "../store/jobs.ts";
import type { MediaIndexRow } from "../types.ts";

/** Searches later; the result will be the job's. A clip to search by is the job's from then on. */
export async function queueSearch(
  env: Env,
  { accountId, indexId }: MediaIndexRow,
  request: SearchRequest,
  clip?: StoredClip,
) {
  const now = Date.now();
  const job: JobMessage = {
    kind: "search",
    jobId: newId("job", now),
    accountId,
    indexId,
    request,
    ...(clip && { clip }),
  };
  await startJob(env, job, now);
  return { job_id: job.jobId, state: "queued" as const };
}
