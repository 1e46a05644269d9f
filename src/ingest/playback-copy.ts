import { AppError } from "../errors.ts";
import { type JobId, newId } from "../ids.ts";
import { playsInBrowsers } from "../media/playback.ts";
import { archiveAsset } from "../store/archive.ts";
import { getAsset } from "../store/d1/assets.ts";
import { getUnfinishedJob, type QuotaCheck } from "../store/d1/jobs.ts";
import { startJob } from "../store/job-queue.ts";
import { mirrorAsset } from "../store/mirror.ts";
import { getConversionPlan } from "../store/r2/conversion-plan.ts";
import { recountBytes } from "../store/recount-bytes.ts";
import type { Asset } from "../types.ts";
import { type WorkingCopy, workingCopyOf } from "../working-copy.ts";
import { convert, countParts } from "./steps/convert.ts";
import { mergeParts } from "./steps/merge-parts.ts";
import { planPlaybackCopy } from "./steps/plan-conversion.ts";

/** Starts the job that makes a playable copy of a ready video that browsers don't play, if set. */
export async function startPlaybackCopyIfNeeded(env: Env, asset: Asset): Promise<void> {
  if (env.PLAYBACK_COPIES !== "automatic" || env.DECODER_URL === "") return;
  if (asset.assetType !== "video" || playsInBrowsers(asset.technical)) return;
  if (workingCopyOf(asset) === null) await startPlaybackCopy(env, asset, "none");
}

/**
 * Starts the job that makes a playable copy of a video, and returns its id, or that of an earlier
 * one. Throws `conflict`, `decoder_not_configured` and `account_full`.
 */
export async function requestPlaybackCopy(env: Env, asset: Asset): Promise<JobId> {
  if (env.DECODER_URL === "") {
    const message = "This service has no decoder: ask its operator (docs/operate.md#other-codecs).";
    throw new AppError("decoder_not_configured", message);
  }
  if (asset.state !== "ready") {
    throw new AppError("conflict", `Only a ready video is converted; this is ${asset.state}.`);
  }
  if (workingCopyOf(asset)) throw new AppError("conflict", "The video has a copy that plays.");
  return startPlaybackCopy(env, asset, "needed");
}

async function startPlaybackCopy(env: Env, asset: Asset, room: QuotaCheck): Promise<JobId> {
  const { assetId, accountId, indexId } = asset;
  const unfinished = await getUnfinishedJob(env.DB, assetId, "playback_copy");
  if (unfinished) return unfinished;
  const now = Date.now();
  const jobId = newId("job", now);
  const kind = "playback_copy";
  await startJob(env, { kind, jobId, accountId, indexId, assetId }, now, room);
  return jobId;
}

/**
 * Makes the copy of a video that browsers play, part by part; goes on where an earlier run stopped.
 * `checkpoint` gets the share that is done. Returns the copy. Throws `not_found` for a deleted
 * video, what the steps of a conversion throw, and what `checkpoint` throws.
 */
export async function makePlaybackCopy(
  env: Env,
  { assetId }: Pick<Asset, "assetId">,
  checkpoint: (share: number) => Promise<void>,
): Promise<{ asset_id: string; working_copy: WorkingCopy | null }> {
  const load = async () => {
    const found = await getAsset(env.DB, assetId);
    if (found) return found;
    throw new AppError("not_found", "The video was deleted.");
  };
  let asset = await load();
  if (!workingCopyOf(asset)) {
    const plan = await getConversionPlan(env.MEDIA, asset);
    const count = plan ? countParts(plan.durationMs) : await planPlaybackCopy(env, asset);
    for (let part = 0; part < count; part++) {
      await checkpoint(part / count);
      await convert(env, await load(), part);
    }
    await mergeParts(env, await load());
    asset = await load();
    await mirrorAsset(env, asset);
    await archiveAsset(env, asset);
    await recountBytes(env, asset);
  }
  return { asset_id: assetId, working_copy: workingCopyOf(asset) };
}
