import { AppError } from "../errors.ts";
import { type AssetId, type JobId, newId } from "../ids.ts";
import { hasDecoder } from "../media/decoder-request.ts";
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
import { planConversion, planPlaybackCopy } from "./steps/plan-conversion.ts";

/** Starts the job that makes a playable copy of a ready video that browsers don't play, if set. */
export async function startPlaybackCopyIfNeeded(env: Env, asset: Asset): Promise<void> {
  if (env.PLAYBACK_COPIES !== "automatic" || !hasDecoder(env)) return;
  if (asset.assetType !== "video" || playsInBrowsers(asset.technical)) return;
  if (workingCopyOf(asset) === null) await startPlaybackCopy(env, asset, "none");
}

/**
 * Starts the job that makes a playable copy of a video, and returns its id, or that of an earlier
 * one. Throws `conflict`, `decoder_not_configured` and `account_full`.
 */
export async function requestPlaybackCopy(env: Env, asset: Asset): Promise<JobId> {
  if (!hasDecoder(env)) {
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
  let asset = await requireStored(env, assetId);
  if (!workingCopyOf(asset)) {
    const plan = await getConversionPlan(env.MEDIA, asset);
    const count = plan ? countParts(plan.durationMs) : await planPlaybackCopy(env, asset);
    await convertParts(env, assetId, count, checkpoint);
    asset = await requireStored(env, assetId);
    await mirrorAsset(env, asset);
    await archiveAsset(env, asset);
    await recountBytes(env, asset);
  }
  return { asset_id: assetId, working_copy: workingCopyOf(asset) };
}

/** Makes a lost working copy again. Throws what `planConversion` throws. */
export async function remakeWorkingCopy(
  env: Env,
  asset: Asset,
  checkpoint: () => Promise<void>,
): Promise<void> {
  const isForPlayback = workingCopyOf(asset)?.reason === "not_playable";
  const count = isForPlayback
    ? await planPlaybackCopy(env, asset)
    : ((await planConversion(env, asset)).convert ?? 0);
  if (count > 0) await convertParts(env, asset.assetId, count, checkpoint);
}

/** Converts the parts of a plan that aren't stored, and merges them. */
async function convertParts(
  env: Env,
  assetId: AssetId,
  count: number,
  checkpoint: (share: number) => Promise<void>,
): Promise<void> {
  for (let part = 0; part < count; part++) {
    await checkpoint(part / count);
    await convert(env, await requireStored(env, assetId), part);
  }
  await mergeParts(env, await requireStored(env, assetId));
}

async function requireStored(env: Env, assetId: AssetId): Promise<Asset> {
  const asset = await getAsset(env.DB, assetId);
  if (asset) return asset;
  throw new AppError("not_found", "The video was deleted.");
}
