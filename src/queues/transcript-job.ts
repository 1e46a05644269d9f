import {
  finishVectors,
  forgetReplacement,
  replaceTranscript,
} from "../ingest/replace-transcript.ts";
import type { JobMessage } from "./messages.ts";
import { metered } from "./metered.ts";
import type { Progressed } from "./run.ts";

/** Puts a video's new transcript in. */
export function runTranscriptJob(
  env: Env,
  job: JobMessage,
  progressed: Progressed,
): Promise<unknown> {
  const { jobId, assetId, language = null } = job;
  return metered(env, job.accountId, (own) =>
    replaceTranscript(own, { jobId, assetId: assetId!, language }, progressed),
  );
}

/** Of a job that was cancelled, perhaps half-way. */
export function resumeTranscriptJob(env: Env, job: JobMessage): Promise<void> {
  return metered(env, job.accountId, (own) => finishVectors(own, job.assetId!, job.jobId));
}

/** Of a job that is over. */
export function endTranscriptJob(env: Env, job: JobMessage): Promise<void> {
  const { accountId, indexId, assetId, jobId } = job;
  return forgetReplacement(env, { accountId, indexId, assetId: assetId! }, jobId);
}
