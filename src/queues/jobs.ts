import { purgeAsset, purgeIndex } from "../care/purge.ts";
import { AppError, causeOf, failureOf, isRetryable } from "../errors.ts";
import { log } from "../log.ts";
import { meter } from "../models/meter.ts";
import { likenessOfClip } from "../search/clip.ts";
import { keepHits } from "../search/kept-hits.ts";
import { searchRequest } from "../search/request.ts";
import { search } from "../search/search.ts";
import { updateJob } from "../store/jobs.ts";
import { addUsage } from "../store/usage.ts";
import { eachMessage } from "./each-message.ts";
import { type JobMessage, jobMessage } from "./messages.ts";
import { retryDelay } from "./retry.ts";
import { endTranscriptJob, resumeTranscriptJob, runTranscriptJob } from "./transcript-job.ts";

export function consumeJobs(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, jobMessage, (job, message) => workOn(message, job, env));
}

async function workOn(message: Message, job: JobMessage, env: Env): Promise<void> {
  const { jobId, kind } = job;
  try {
    const isWanted = await updateJob(env.DB, jobId, { state: "running", progress: 0 });
    if (!isWanted) {
      if (kind === "transcript") await resumeTranscriptJob(env, job);
      return await end(message, job, env);
    }
    const result = await RUN[kind](env, job);
    await updateJob(env.DB, jobId, { state: "succeeded", progress: 1, result });
    log("info", "job.done", { job: jobId, kind });
    await end(message, job, env);
  } catch (error) {
    log("warn", "job.failed", { job: jobId, kind, cause: causeOf(error) });
    if (isRetryable(error, message.attempts)) {
      const retryAfter = error instanceof AppError ? error.retryAfter : undefined;
      message.retry({ delaySeconds: retryDelay(message.attempts, retryAfter) });
    } else {
      await updateJob(env.DB, jobId, { state: "failed", progress: 0, error: failureOf(error) });
      await end(message, job, env);
    }
  }
}

/** What a job that is over, however it ended, needs no more is deleted; what is left of clips the bucket's lifecycle removes. */
async function end(message: Message, job: JobMessage, env: Env): Promise<void> {
  message.ack();
  try {
    if (job.clip) await env.MEDIA.delete(job.clip.key);
    if (job.kind === "transcript") await endTranscriptJob(env, job);
  } catch (error) {
    log("warn", "job.not_tidied", { job: job.jobId, kind: job.kind, cause: causeOf(error) });
  }
}

const RUN: Record<JobMessage["kind"], (env: Env, job: JobMessage) => Promise<unknown>> = {
  async delete_asset(env, { accountId, indexId, assetId }) {
    await purgeAsset(env, { accountId, indexId }, assetId!);
    return { asset_id: assetId };
  },
  async delete_index(env, { jobId, accountId, indexId }) {
    const assets = await purgeIndex(env, { accountId, indexId }, async (removed) => {
      await updateJob(env.DB, jobId, {
        state: "running",
        progress: 0,
        result: { assets: removed },
      });
    });
    return { assets };
  },
  async search(given, { accountId, indexId, request, clip }) {
    const { ai, used } = meter(given.AI);
    const env = { ...given, AI: ai };
    const wanted = searchRequest.parse(request);
    const like = clip ? await likenessOfClip(env, indexId, clip.key, clip.region) : null;
    const { hits, total } = await search(env, indexId, wanted, like);
    await addUsage(env.DB, accountId, { searches: 1, ...used });
    return keepHits(hits, total, wanted);
  },
  transcript: runTranscriptJob,
};

/** Retries are spent: the job says so. */
export function consumeDeadJobs(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, jobMessage, async (job, message) => {
    const { jobId } = job;
    log("error", "job.dead", { job: jobId });
    const error = { code: "internal", message: "The job failed too often; ask again." } as const;
    await updateJob(env.DB, jobId, { state: "failed", progress: 0, error });
    await end(message, job, env);
  });
}
