import { LIMITS } from "../config.ts";
import { AppError } from "../errors.ts";
import { probeVideo } from "../media/container.ts";
import { updateFacts } from "../store/assets.ts";
import { Room } from "../store/limits.ts";
import { sourceKey } from "../store/media.ts";
import type { Asset } from "../types.ts";
import type { FanOut } from "./state.ts";
import { countStretches } from "./stretches.ts";

/** Learns what a video is from its container. Throws where it can't be indexed, with the reason. */
export async function probe(env: Env, asset: Asset): Promise<FanOut> {
  const info = await probeVideo(env.MEDIA, sourceKey(asset));
  if (!(info.durationSeconds > 0)) {
    throw new AppError("unreadable_container", "The video has no pictures: its length is zero.");
  }
  if (info.durationSeconds > LIMITS.videoSeconds) {
    const hours = LIMITS.videoSeconds / 3600;
    throw new AppError("too_long", `The video is longer than ${hours} hours; cut it in pieces.`);
  }
  const durationMs = Math.round(info.durationSeconds * 1000);
  const minutes = (durationMs - asset.durationMs) / 60_000; // of an earlier run, they are counted
  const room = new Room(asset.accountId, { ingest_minutes_per_day: minutes });
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
  await updateFacts(env.DB, asset.assetId, facts, room);
  return { look: countStretches({ durationMs }) };
}
