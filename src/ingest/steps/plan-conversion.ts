import { type ConversionReason, OBSTACLES, workingCopyOf } from "../../derived-media.ts";
import { AppError } from "../../errors.ts";
import { unsupportedAudioCodec } from "../../media/container/audio.ts";
import { unsupportedCodec } from "../../media/container/clips.ts";
import {
  openContainer,
  requireVideoTrack,
  requireUnchained,
  requireUnencrypted,
} from "../../media/container/open-container.ts";
import { openFile } from "../../media/container/r2-file.ts";
import { type MeasuredVideo, measureFile } from "../../media/converter.ts";
import { hasDecoder } from "../../media/decoder.ts";
import { readMovieFacts } from "../../media/exif/movie-facts.ts";
import { CONVERSION } from "../../parameters.ts";
import { updateProperties } from "../../store/d1/assets.ts";
import { type ConversionPlan, putConversionPlan } from "../../store/r2/conversion-plan.ts";
import { headObject, sourceKey, workingCopyKey } from "../../store/r2/object-keys.ts";
import type { Asset } from "../../types.ts";
import type { FanOut } from "../state.ts";
import { isTranscriptWarning } from "../transcript/cue-times.ts";
import { convertedFile, plannedParts } from "./convert.ts";
import { incompleteMedia, minutesQuota, requireLengthMs } from "./probe.ts";

/** What doesn't keep a file from being indexed without its speech, or as sound. */
const READABLE: ReadonlySet<string> = new Set(["unsupported_audio_codec", "no_video_track"]);

const NOTHING_TO_CONVERT: FanOut = { convert: 0, merge_parts: 0 };

/**
 * Finds out whether a video can be read as it is. If not, measures it by the decoder, records what
 * it is, and plans its parts. Throws why it can't be read if there is no decoder, or if that can't
 * read it either; `too_long`; and `limit_reached`.
 */
export async function planConversion(env: Env, asset: Asset): Promise<FanOut> {
  if (workingCopyOf(asset) && (await headObject(env.MEDIA, workingCopyKey(asset)))) {
    return NOTHING_TO_CONVERT; // an earlier run made it
  }
  const error = await findObstacle(env, asset);
  if (!error) return NOTHING_TO_CONVERT;
  const isReadable = READABLE.has(error.code);
  if (!hasDecoder(env)) {
    if (isReadable) return NOTHING_TO_CONVERT;
    throw withoutDecoder(error);
  }
  const measured = await measureFile(env, await convertedFile(env.MEDIA, asset));
  const isSoundRead = error.code === "no_video_track" && !measured?.video;
  if (!measured || isSoundRead) {
    if (isReadable) return NOTHING_TO_CONVERT;
    throw error;
  }
  const durationMs = await recordMeasured(env, asset, measured);
  const reason = error.code as ConversionReason;
  return { convert: await putPlan(env, asset, measured, { reason, durationMs }), merge_parts: 1 };
}

/** Difference in length between a file as it is read here, and as the decoder reads it. */
const MAX_LENGTH_ERROR_MS = 150;

/**
 * Plans the parts of a copy that browsers play, of a video that was read as it is. Returns how many
 * there are. Throws `unreadable_container` if the decoder can't read it, or reads other times.
 */
export async function planPlaybackCopy(env: Env, asset: Asset): Promise<number> {
  const measured = await measureFile(env, await convertedFile(env.MEDIA, asset));
  const { durationMs } = asset;
  if (!measured) {
    throw new AppError("unreadable_container", "The decoder can't read this file.");
  }
  if (Math.abs(1000 * measured.duration_seconds - durationMs) > MAX_LENGTH_ERROR_MS) {
    const seconds = measured.duration_seconds.toFixed(1);
    throw new AppError(
      "unreadable_container",
      `The decoder reads ${seconds} s of a file of ${(durationMs / 1000).toFixed(1)} s: in a copy, ` +
        "moments would be at other times.",
    );
  }
  return putPlan(env, asset, measured, { reason: "not_playable", durationMs });
}

async function putPlan(
  env: Env,
  asset: Asset,
  { video, audio, recordings }: MeasuredVideo,
  { reason, durationMs }: { reason: ConversionReason; durationMs: number },
): Promise<number> {
  let seconds = 0;
  const plan: ConversionPlan = {
    reason,
    recordings: recordings.map((recording, position) => {
      const [startMs, start] = [Math.round(1000 * seconds), seconds];
      seconds += recording.duration_seconds;
      const isLast = position === recordings.length - 1;
      return {
        bytes: recordings.length > 1 ? bytesOf(recording) : null,
        originSeconds: recording.origin_seconds - start,
        startMs,
        endMs: isLast ? durationMs : Math.round(1000 * seconds),
      };
    }),
    frameFormat: video && { ...fitWithin(video), fps: video.fps || CONVERSION.defaultFps },
    hasAudio: audio !== null,
  };
  await putConversionPlan(env.MEDIA, asset, plan);
  return plannedParts(plan).length;
}

const bytesOf = ({ start_byte, end_byte }: MeasuredVideo["recordings"][number]) => ({
  start: start_byte,
  end: end_byte,
});

/** Returns why a video can't be read as it is, or null. Throws what converting can't help. */
async function findObstacle(env: Env, asset: Asset): Promise<AppError | null> {
  const key = sourceKey(asset);
  const file = await openFile(env.MEDIA, key);
  await requireUnencrypted(file);
  try {
    using container = await openContainer(env.MEDIA, key, { start: 0, end: 0 });
    const [video, audio] = [container.video?.track, container.audio?.track];
    if (video && (await video.getCodec()) === null) {
      return unsupportedCodec(String(await video.getInternalCodecId()));
    }
    if (audio && (await audio.getCodec()) === null) {
      return unsupportedAudioCodec(String(await audio.getInternalCodecId()));
    }
    const isSound = audio && asset.contentType?.startsWith("audio/");
    if (!video && !isSound) requireVideoTrack(container);
    await requireUnchained(file);
    return null;
  } catch (error) {
    if (error instanceof AppError && isObstacle(error.code)) return error;
    throw error;
  }
}

function isObstacle(code: string): boolean {
  return (OBSTACLES as readonly string[]).includes(code);
}

function withoutDecoder({ code, message }: AppError): AppError {
  return new AppError(
    code,
    `${message} Or ask the operator to add a decoder (docs/operate.md#other-codecs), then retry.`,
  );
}

/** Records what a video is, and counts its minutes. Returns its length in ms. */
async function recordMeasured(
  env: Env,
  asset: Asset,
  { container, video, audio, missing, start_timecode, duration_seconds: seconds }: MeasuredVideo,
): Promise<number> {
  const durationMs = requireLengthMs(seconds);
  const quota = minutesQuota(asset, durationMs);
  const technical = {
    ...asset.technical,
    container,
    has_video: video !== null,
    ...(video && { video_codec: video.codec, rotation: video.rotation }),
    audio_codec: audio?.codec ?? null,
    ...(start_timecode && { start_timecode }),
    ...(await readMovieFacts(await openFile(env.MEDIA, sourceKey(asset)))),
  };
  const facts = {
    ...(video && { width: video.width, height: video.height }),
    fps: video?.fps || null,
    durationMs,
    technical,
    warnings: [
      ...asset.warnings.filter(isTranscriptWarning),
      ...(missing ? [incompleteMedia({ ...missing, fromSeconds: missing.from_seconds })] : []),
    ],
  };
  await updateProperties(env.DB, asset.assetId, facts, { quota });
  return durationMs;
}

/** Returns the largest even size with these proportions that a working copy may have. */
function fitWithin({ width, height }: { width: number; height: number }) {
  const { longSide, shortSide } = CONVERSION;
  const scale = Math.min(
    1,
    longSide / Math.max(width, height),
    shortSide / Math.min(width, height),
  );
  const toEven = (side: number) => Math.max(2, 2 * Math.round((side * scale) / 2));
  return { width: toEven(width), height: toEven(height) };
}
