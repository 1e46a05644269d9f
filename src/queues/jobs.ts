import { JOBS } from "../config.ts";
import { purgeAsset, purgeIndex } from "../care/purge.ts";
import { AppError, traceOf, failureOf, isRetryable } from "../errors.ts";
import { log } from "../log.ts";
import { likenessOfClip } from "../search/clip.ts";
import { keepHits } from "../search/kept-hits.ts";
import { searchRequest } from "../search/request.ts";
import { search } from "../search/search.ts";
import { renewing } from "../renewing.ts";
import { claimJob, GIVEN_UP, releaseJob, renewJob, updateJob } from "../store/jobs.ts";
import { eachMessage } from "./each-message.ts";
import { type JobMessage, jobMessage } from "./messages.ts";
import { runImportJob } from "./import-job.ts";
import { metered } from "./metered.ts";
import { retryDelay } from "./retry.ts";
import { AGAIN, type Progressed, type Run } from "./run.ts";
import { endTranscriptJob, resumeTranscriptJob, runTranscriptJob } from "./transcript-job.ts";
import { runTraverseJob } from "./traverse-job.ts";

export function consumeJobs(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, jobMessage, (job, message) => workOn(message, job, env));
}

async function workOn(message: Message, job: JobMessage, env: Env): Promise<void> {
  const { jobId, kind } = job;
  const claim = await claimJob(env.DB, jobId, Date.now());
  if (claim === "held") return message.ack();
  if (claim === "over") {
    if (kind === "transcript") await resumeTranscriptJob(env, job);
    return end(message, job, env);
  }
  const renew = () => renewJob(env.DB, jobId, Date.now());
  return renewing(renew, JOBS.renewMs, () => run(message, job, env));
}

/** Of a job that is held. */
async function run(message: Message, job: JobMessage, env: Env): Promise<void> {
  const { jobId, kind } = job;
  const progressed: Progressed = (progress, result) =>
    updateJob(env.DB, jobId, { state: "running", progress, result });
  try {
    const result = await RUN[kind](env, job, progressed);
    if (result === AGAIN) return await next(message, job, env);
    await updateJob(env.DB, jobId, { state: "succeeded", progress: 1, result });
    log("info", "job.done", { job: jobId, kind });
    await end(message, job, env);
  } catch (error) {
    log("warn", "job.failed", { job: jobId, kind, cause: traceOf(error) });
    if (isRetryable(error, message.attempts)) {
      const retryAfter = error instanceof AppError ? error.retryAfter : undefined;
      const delaySeconds = retryDelay(message.attempts, retryAfter);
      await releaseJob(env.DB, jobId, Date.now() + 2 * delaySeconds * 1000 + JOBS.unheardMs);
      message.retry({ delaySeconds });
    } else {
      await updateJob(env.DB, jobId, { state: "failed", progress: 0, error: failureOf(error) });
      await end(message, job, env);
    }
  }
}

/** Asks for a job's next stretch: by a message of its own, with all its tries before it. */
async function next(message: Message, job: JobMessage, env: Env): Promise<void> {
  await releaseJob(env.DB, job.jobId, Date.now() + JOBS.unheardMs);
  await env.JOBS.send(job);
  message.ack();
}

/** What a job that is over, however it ended, needs no more is deleted; what is left of clips the bucket's lifecycle removes. */
async function end(message: Message, job: JobMessage, env: Env): Promise<void> {
  message.ack();
  try {
    if (job.clip) await env.MEDIA.delete(job.clip.key);
    if (job.kind === "transcript") await endTranscriptJob(env, job);
  } catch (error) {
    log("warn", "job.not_tidied", { job: job.jobId, kind: job.kind, cause: traceOf(error) });
  }
}

/** Each may run twice, or again from anywhere in the middle. */
const RUN: Record<JobMessage["kind"], Run> = {
  async delete_asset(env, { accountId, indexId, assetId }) {
    await purgeAsset(env, { accountId, indexId }, assetId!);
    return { asset_id: assetId };
  },
  async delete_index(env, { accountId, indexId }, progressed) {
    const assets = await purgeIndex(env, { accountId, indexId }, (removed) =>
      progressed(0, { assets: removed }),
    );
    return { assets };
  },
  async search(env, { accountId, indexId, request, clip }) {
    const wanted = searchRequest.parse(request);
    return metered(env, accountId, async (own) => {
      const like = clip ? await likenessOfClip(own, indexId, clip.key, clip.region) : null;
      const { hits, total } = await search(own, indexId, wanted, like);
      const { offset, readyBy } = wanted;
      const count = clip ? total : hits.length; // a search by video takes no cursor
      return keepHits(hits, { total, offset, readyBy, count });
    });
  },
  transcript: runTranscriptJob,
  traverse: runTraverseJob,
  import: runImportJob,
};

/** Retries are spent: the job says so. */
export function consumeDeadJobs(batch: MessageBatch, env: Env): Promise<void> {
  return eachMessage(batch, jobMessage, async (job, message) => {
    const { jobId } = job;
    log("error", "job.dead", { job: jobId });
    await updateJob(env.DB, jobId, { state: "failed", progress: 0, error: GIVEN_UP });
    await end(message, job, env);
  });
}
