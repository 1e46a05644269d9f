import { LIMITS } from "../../config.ts";
import { AppError } from "../../errors.ts";
import { probeVideo } from "../../media/container/open-container.ts";
import { updateProperties } from "../../store/assets.ts";
import { QuotaGuard } from "../../store/quotas.ts";
import { sourceKey } from "../../store/object-keys.ts";
import type { Asset } from "../../types.ts";
import type { FanOut } from "../state.ts";
import { countWindows } from "../segmentation/windows.ts";

/** Reads a video's facts from its container. Throws an `AppError` if it can't be indexed. */
export async function probe(env: Env, asset: Asset): Promise<FanOut> {
  const info = await probeVideo(env.MEDIA, sourceKey(asset));
  if (!(info.durationSeconds > 0)) {
    throw new AppError("unreadable_container", "The video has no frames: its length is zero.");
  }
  if (info.durationSeconds > LIMITS.videoSeconds) {
    const hours = LIMITS.videoSeconds / 3600;
    throw new AppError("too_long", `The video is longer than ${hours} hours; cut it into parts.`);
  }
  const durationMs = Math.round(info.durationSeconds * 1000);
  const minutes = (durationMs - asset.durationMs) / 60_000; // an earlier run has counted its own
  const quota = new QuotaGuard(asset.accountId, { ingest_minutes_per_day: minutes });
  const facts = {
    width: info.width,
    height: info.height,
    durationMs,
    fps: info.fps,
    hasAudio: info.audioCodec !== null,
    technical: {
      container: info.container,
      video_codec: info.videoCodec,
      audio_codec: info.audioCodec,
      rotation: info.rotation,
      bitrate: info.bitrate,
      audio_bitrate: info.audioBitrate,
      audio_language: info.audioLanguage,
    },
  };
  await updateProperties(env.DB, asset.assetId, facts, quota);
  return { detect_shots: countWindows({ durationMs }) };
}
