import { type WorkingCopy, workingCopyOf } from "../derived-media.ts";
import { AppError } from "../errors.ts";
import { type AssetId, type JobId, newId } from "../ids.ts";
import { hasDecoder } from "../media/decoder.ts";
import { mirrorAsset } from "../store/asset-changes.ts";
import { getAsset } from "../store/d1/assets.ts";
import { getUnfinishedJob, type QuotaCheck, startJob } from "../store/d1/jobs.ts";
import { recountBytes } from "../store/d1/quotas.ts";
import { getConversionPlan } from "../store/r2/conversion-plan.ts";
import type { Asset, JsonObject } from "../types.ts";
import { convert, mergeParts, plannedParts } from "./steps/convert.ts";
import { planConversion, planPlaybackCopy } from "./steps/plan-conversion.ts";

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
    const count = plan ? plannedParts(plan).length : await planPlaybackCopy(env, asset);
    await convertParts(env, assetId, count, checkpoint);
    asset = await requireStored(env, assetId);
    await mirrorAsset(env, asset);
    await recountBytes(env, asset);
  }
  return { asset_id: assetId, working_copy: workingCopyOf(asset) };
}

/** Makes a lost working copy again. Throws what `planConversion` throws. */
export async function remakeWorkingCopy(env: Env, asset: Asset, checkpoint: () => Promise<void>) {
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

/** Containers that today's browsers play, if they play the codecs. */
const CONTAINERS = /^(?:MP4|QuickTime File Format|WebM|MP3|WAVE|Ogg|FLAC|ADTS)$/;
const AUDIO_CODECS = new Set(["aac", "mp3", "opus", "vorbis", "flac"]);
/** Codecs of pictures by their names in RFC 6381. Other profiles have more bits, or colours. */
const PICTURES = /^(?:avc1\.(?:42|4d|58|64)|vp8|vp09\.00|av01\.0)/i;

/**
 * Whether today's browsers play a file, by the technical facts of its record. Unknown facts count
 * as playable: a copy is made on request, too.
 */
export function playsInBrowsers(facts: JsonObject): boolean {
  const { container, has_video: hasVideo, audio_codec: audio, codec_string: codec } = facts;
  if (typeof container === "string" && !CONTAINERS.test(container)) return false;
  const isPcm = container === "WAVE" && String(audio).startsWith("pcm-");
  if (typeof audio === "string" && !AUDIO_CODECS.has(audio) && !isPcm) return false;
  if (hasVideo === false || typeof codec !== "string") return true;
  return PICTURES.test(codec);
}
