import { purgeAsset, purgeIndex } from "../care/purge.ts";
import { AppError, causeOf, failureOf, isRetryable } from "../errors.ts";
import { log } from "../log.ts";
import { meter } from "../models/meter.ts";
import { keepHits } from "../search/kept-hits.ts";
import { searchRequest } from "../search/request.ts";
import { search } from "../search/search.ts";
import { updateJob } from "../store/jobs.ts";
import { addUsage } from "../store/usage.ts";
import { eachMessage } from "./each-message.ts";
import { type JobMessage, jobMessage } from "./messages.ts";
import { retryDelay } from "./retry.ts";

export function consumeJobs(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, jobMessage, (job, message) => workOn(message, job, env));
}

async function workOn(message: Message, job: JobMessage, env: Env): Promise<void> {
  const { jobId, kind } = job;
  try {
    const isWanted = await updateJob(env.DB, jobId, { state: "running", progress: 0 });
    if (!isWanted) return message.ack();
    const result = await RUN[kind](env, job);
    await updateJob(env.DB, jobId, { state: "succeeded", progress: 1, result });
    log("info", "job.done", { job: jobId, kind });
    message.ack();
  } catch (error) {
    log("warn", "job.failed", { job: jobId, kind, cause: causeOf(error) });
    if (isRetryable(error, message.attempts)) {
      const retryAfter = error instanceof AppError ? error.retryAfter : undefined;
      message.retry({ delaySeconds: retryDelay(message.attempts, retryAfter) });
    } else {
      await updateJob(env.DB, jobId, { state: "failed", progress: 0, error: failureOf(error) });
      message.ack();
    }
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
  async search(env, { accountId, indexId, request }) {
    const { ai, used } = meter(env.AI);
    const wanted = searchRequest.parse(request);
    const { hits, total } = await search({ ...env, AI: ai }, indexId, wanted);
    await addUsage(env.DB, accountId, { searches: 1, ...used });
    return keepHits(hits, total, wanted);
  },
};

/** Retries are spent: the job says so. */
export function consumeDeadJobs(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, jobMessage, async ({ jobId }, message) => {
    log("error", "job.dead", { job: jobId });
    const error = { code: "internal", message: "The job failed too often; ask again." } as const;
    await updateJob(env.DB, jobId, { state: "failed", progress: 0, error });
    message.ack();
  });
}
