import { LIMITS } from "../../config.ts";
import { AppError, type Failure } from "../../errors.ts";
import { describeMissing, type MissingMedia } from "../../media/container/missing-media.ts";
import { probeMedia, type MediaInfo } from "../../media/container/open-container.ts";
import { openFile } from "../../media/container/r2-file.ts";
import { readMovieFacts } from "../../media/exif/movie-facts.ts";
import { updateProperties } from "../../store/d1/assets.ts";
import { mediaKey } from "../../store/r2/object-keys.ts";
import type { Asset } from "../../types.ts";
import { workingCopyOf } from "../../working-copy.ts";
import { minutesQuota, requireLengthMs } from "../length.ts";
import { countWindows } from "../segmentation/windows.ts";
import type { FanOut } from "../state.ts";
import { countAudioChunks } from "../transcript/audio-chunks.ts";
import { fitTranscript } from "../transcript/fit-transcript.ts";
import { isTranscriptWarning } from "../transcript/warnings.ts";

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
      : originalFacts(info, await readMovieFacts(file))),
  };
  const warnings = [
    ...asset.warnings.filter(isTranscriptWarning),
    ...(info.missing ? [incompleteMedia(info.missing)] : []),
  ];
  await updateProperties(env.DB, asset.assetId, { ...facts, warnings }, { quota });
  await fitTranscript(env, { ...asset, ...facts, warnings });
  return { detect_shots: video ? countWindows({ durationMs }) : countAudioChunks(facts) };
}

/** Returns what is recorded of a file that is read as it is. */
function originalFacts(info: MediaInfo, movieFacts: Awaited<ReturnType<typeof readMovieFacts>>) {
  const { video } = info;
  const technical = {
    container: info.container,
    has_video: video !== null,
    ...(video && {
      video_codec: video.codec,
      codec_string: video.codecString,
      rotation: video.rotation,
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

function incompleteMedia(missing: MissingMedia): Failure {
  return { code: "incomplete_media", message: describeMissing(missing) };
}
