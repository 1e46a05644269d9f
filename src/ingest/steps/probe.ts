import { LIMITS } from "../../config.ts";
import { workingCopyOf } from "../../derived-media.ts";
import { AppError, type Failure } from "../../errors.ts";
import { probeMedia, type MediaInfo } from "../../media/container/open-container.ts";
import { openFile } from "../../media/container/r2-file.ts";
import { describeMissing, type MissingMedia } from "../../media/container/timeline.ts";
import { readStartTimecode, readMovieFacts } from "../../media/exif/movie-facts.ts";
import { updateProperties } from "../../store/d1/assets.ts";
import { QuotaGuard } from "../../store/d1/quotas.ts";
import { mediaKey } from "../../store/r2/object-keys.ts";
import { getCues, getTranscript, putCues } from "../../store/transcripts.ts";
import type { Asset, JsonObject } from "../../types.ts";
import type { FanOut } from "../state.ts";
import { countAudioChunks } from "../transcript/audio-chunks.ts";
import { fitCues, isTranscriptWarning } from "../transcript/cue-times.ts";
import { countWindows } from "../windows.ts";

/**
 * Reads the facts of a video or sound from its container, or from that of its working copy. Throws
 * an `AppError` if it can't be indexed.
 */
export async function probe(env: Env, asset: Asset): Promise<FanOut> {
  const key = mediaKey(asset);
  const file = await openFile(env.MEDIA, key);
  const info = await probeMedia(env.MEDIA, key);
  requireUsableTimes(info);
  const lengthMs = requireLengthMs(info.durationSeconds);
  const isConverted = workingCopyOf(asset) !== null;
  const durationMs = isConverted ? asset.durationMs : lengthMs;
  const quota = minutesQuota(asset, durationMs);
  const { video, audioBitrate: audio_bitrate } = info;
  const facts = {
    durationMs,
    hasAudio: info.audioCodec !== null,
    ...(isConverted
      ? { technical: { ...asset.technical, bitrate: video?.bitrate ?? null, audio_bitrate } }
      : originalFacts(info, asset.technical["folder"], {
          ...(await readMovieFacts(file)),
          ...(await readStartTimecode(file)),
        })),
  };
  const missing = info.missing ? [incompleteMedia(info.missing)] : [];
  const warnings = [
    ...asset.warnings.filter(isTranscriptWarning),
    ...(isConverted ? asset.warnings.filter(isIncompleteMedia) : missing),
  ];
  await updateProperties(env.DB, asset.assetId, { ...facts, warnings }, { quota });
  await fitTranscript(env, { ...asset, ...facts, warnings });
  return { detect_shots: video ? countWindows({ durationMs }) : countAudioChunks(facts) };
}

/**
 * Fits the transcript that came with a video to its length, and warns on the asset. The warning is
 * stored before the cues, so that a second run changes nothing.
 */
async function fitTranscript(env: Env, asset: Asset): Promise<void> {
  const transcript = await getTranscript(env.DB, asset.assetId);
  if (transcript === null || transcript.source === "asr") return;
  const given = await getCues(env.MEDIA, asset);
  const { cues, warnings } = fitCues(given, asset.durationMs / 1000);
  const codes = new Set(warnings.map(({ code }) => code));
  if (codes.size === 0) return;
  const others = asset.warnings.filter(({ code }) => !codes.has(code));
  await updateProperties(env.DB, asset.assetId, { warnings: [...others, ...warnings] });
  if (cues !== given) await putCues(env.MEDIA, asset, cues, asset.transcriptJobId);
}

function originalFacts(info: MediaInfo, folder: unknown, movieFacts: JsonObject) {
  const { video } = info;
  const technical = {
    folder,
    container: info.container,
    has_video: video !== null,
    ...(video && {
      video_codec: video.codec,
      codec_string: video.codecString,
      rotation: video.rotation,
      ...(video.pixelAspect !== null && { pixel_aspect: video.pixelAspect }),
      bitrate: video.bitrate,
    }),
    audio_codec: info.audioCodec,
    audio_bitrate: info.audioBitrate,
    audio_language: info.audioLanguage,
    ...movieFacts,
  };
  return {
    ...(video && { width: video.width, height: video.height }),
    fps: video?.fps ?? null,
    technical,
  };
}

/** Frames a second that no video has: its container gives the frames no times, or wrong ones. */
const ABSURD_FPS = { below: 1 / LIMITS.videoSeconds, above: 1000 };

function requireUsableTimes({ video, durationSeconds }: MediaInfo): void {
  const fps = video?.fps ?? null;
  if (fps === null || (fps >= ABSURD_FPS.below && fps <= ABSURD_FPS.above)) return;
  const frame = fps > 1 ? `${(1000 / fps).toFixed(2)} ms` : `${(1 / fps / 3600).toFixed(0)} hours`;
  throw new AppError(
    "unreadable_container",
    `The container gives its frames no usable times: each lasts ${frame}, and all of them ` +
      `${durationSeconds.toFixed(1)} s. Convert it again from the original.`,
  );
}

const isIncompleteMedia = ({ code }: Failure) => code === "incomplete_media";

export function incompleteMedia(missing: MissingMedia): Failure {
  return { code: "incomplete_media", message: describeMissing(missing) };
}

/** Returns the length of a video or sound in ms. Throws `unreadable_container` and `too_long`. */
export function requireLengthMs(seconds: number): number {
  if (!(seconds > 0)) {
    throw new AppError("unreadable_container", "The file has no frames: its length is zero.");
  }
  if (seconds > LIMITS.videoSeconds) {
    const hours = LIMITS.videoSeconds / 3600;
    throw new AppError("too_long", `The file is longer than ${hours} hours; cut it into parts.`);
  }
  return Math.round(seconds * 1000);
}

/** Returns the check that the account may ingest the minutes that no earlier run has counted. */
export function minutesQuota(asset: Asset, durationMs: number): QuotaGuard {
  const minutes = (durationMs - asset.durationMs) / 60_000;
  return new QuotaGuard(asset.accountId, { ingest_minutes_per_day: minutes });
}
