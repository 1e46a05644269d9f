import { isAudioOnly } from "../asset-kind.ts";
import {
  type WorkingCopy,
  type ConversionReason,
  OBSTACLES,
  workingCopyOf,
} from "../derived-media.ts";
import { AppError, traceOf } from "../errors.ts";
import { type AssetId, type JobId, newId } from "../ids.ts";
import { log } from "../log.ts";
import { unsupportedAudioCodec } from "../media/container/audio.ts";
import { unsupportedCodec } from "../media/container/clips.ts";
import {
  type ExpectedPart,
  readConvertedPart,
  type Mp4Part,
  Mp4Merger,
} from "../media/container/mp4-part.ts";
import {
  openContainer,
  requireVideoTrack,
  requireUnchained,
  requireUnencrypted,
} from "../media/container/open-container.ts";
import { openFile, type StoredFile } from "../media/container/r2-file.ts";
import { countMissingBytes, requireComplete } from "../media/container/timeline.ts";
import {
  convertPart,
  type ConvertedFile,
  type PartRequest,
  releaseFile,
  type MeasuredVideo,
  measureFile,
} from "../media/converter.ts";
import { hasDecoder } from "../media/decoder.ts";
import { readMovieFacts } from "../media/exif/movie-facts.ts";
import { HEAD_BYTES, requireMediaType } from "../media/media-type.ts";
import { usageMeter } from "../metering/meter-env.ts";
import { CONVERSION } from "../parameters.ts";
import { mirrorAsset } from "../store/asset-changes.ts";
import { updateProperties, getAsset } from "../store/d1/assets.ts";
import { getUnfinishedJob, type QuotaCheck, startJob } from "../store/d1/jobs.ts";
import { recountBytes } from "../store/d1/quotas.ts";
import {
  type ConversionPlan,
  getConversionPlan,
  putConversionPlan,
} from "../store/r2/conversion-plan.ts";
import {
  convertedPartKey,
  sourceKey,
  conversionPrefix,
  deletePrefix,
  workingCopyKey,
  headObject,
} from "../store/r2/object-keys.ts";
import { storeStream, type StoredStream } from "../store/r2/streams.ts";
import type { Asset, AssetRef, JsonObject } from "../types.ts";
import type { FanOut } from "./state.ts";
import { incompleteMedia, minutesQuota, requireLengthMs } from "./steps/probe.ts";
import { isTranscriptWarning } from "./transcript/cue-times.ts";

/** Converts one piece of a file and stores it, unless an earlier run did. */
export async function convert(env: Env, asset: Asset, part: number): Promise<void> {
  const plan = await requirePlan(env, asset);
  const piece = plannedParts(plan)[part]!;
  const key = convertedPartKey(asset, part);
  if (await isStored(env.MEDIA, key, piece)) return;
  const file = await convertedFile(env.MEDIA, asset);
  const startedAt = Date.now();
  const count = (seconds: number) => usageMeter(asset.accountId).count("convertedSeconds", seconds);
  const body = await convertPart(env, file, piece).catch((error: unknown) => {
    const isAtFault = error instanceof AppError && error.code !== "upstream_unavailable";
    if (isAtFault) count((Date.now() - startedAt) / 1000);
    throw error;
  });
  await storeStream(env.MEDIA, key, toChunks(body), {
    maxBytes: CONVERSION.partBytes,
    headBytes: 1,
    inspect: async () => "video/mp4",
  }).catch((error: unknown) => {
    const isTooLarge = error instanceof AppError && error.code === "too_large";
    throw isTooLarge
      ? new AppError("upstream_failed", "The decoder returns too many bytes.")
      : error;
  });
  await readConvertedPart(await openFile(env.MEDIA, key), piece);
  count((piece.endMs - piece.startMs) / 1000);
}

/** Returns the plan of a conversion in progress. Throws `source_missing` without one. */
async function requirePlan(env: Env, asset: Asset): Promise<ConversionPlan> {
  const plan = await getConversionPlan(env.MEDIA, asset);
  if (plan) return plan;
  throw new AppError("source_missing", "The plan of the conversion is gone; retry the asset.");
}

/** Returns the pieces of a plan, of equal length in each recording. */
export function plannedParts({
  recordings,
  frameFormat,
  hasAudio: audio,
}: ConversionPlan): PartRequest[] {
  return recordings.flatMap(({ startMs, endMs, ...recording }) => {
    const lengthMs = endMs - startMs;
    const count = Math.ceil(lengthMs / CONVERSION.partMs);
    const timeOf = (piece: number) => startMs + Math.round((piece * lengthMs) / count);
    const times = (piece: number) => ({ startMs: timeOf(piece), endMs: timeOf(piece + 1) });
    const format = { frameFormat, audio };
    return Array.from({ length: count }, (_, i) => ({ ...recording, ...times(i), ...format }));
  });
}

/** Errors of a part that isn't stored, or isn't what was asked for. */
const ABSENT = new Set<string>(["source_missing", "upstream_failed"]);

async function isStored(bucket: R2Bucket, key: string, piece: ExpectedPart): Promise<boolean> {
  try {
    await readConvertedPart(await openFile(bucket, key), piece);
    return true;
  } catch (error) {
    const isAbsent = error instanceof AppError && ABSENT.has(error.code);
    if (isAbsent) return false;
    throw error;
  }
}

/** Reads the bytes of a response. One that breaks off throws `upstream_unavailable`. */
async function* toChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw new AppError("upstream_unavailable", "The decoder's response broke off.", { cause });
  }
}

async function convertedFile(bucket: R2Bucket, asset: AssetRef): Promise<ConvertedFile> {
  const { size, version, stream } = await openFile(bucket, sourceKey(asset));
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(version));
  const read = (offset: number, length: number) => stream(offset, offset + length);
  return { id: Buffer.from(hash).toString("hex"), sizeBytes: size, read };
}

/**
 * Joins the parts of a conversion into the working copy, an MP4 with its index in front, without
 * decoding. Records it, and deletes the parts.
 */
export async function mergeParts(env: Env, asset: Asset): Promise<void> {
  const plan = await requirePlan(env, asset);
  const chunks = mergedChunks(env.MEDIA, asset, plan);
  const { sizeBytes } = await storeWorkingCopy(env.MEDIA, asset, chunks);
  const { reason, frameFormat, hasAudio } = plan;
  const workingCopy: WorkingCopy = {
    reason,
    container: "mp4",
    video_codec: frameFormat && "avc",
    audio_codec: hasAudio ? "aac" : null,
    bytes: sizeBytes,
    width: frameFormat?.width ?? null,
    height: frameFormat?.height ?? null,
  };
  const technical = { ...asset.technical, working_copy: workingCopy };
  await updateProperties(env.DB, asset.assetId, { technical });
  await deletePrefix(env.MEDIA, conversionPrefix(asset));
  await releaseFile(env, await convertedFile(env.MEDIA, asset)).catch((error: unknown) => {
    log("warn", "ingest.decoder_not_released", { asset: asset.assetId, cause: traceOf(error) });
  });
}

/** Streams a copy into storage. Throws `not_a_video` if the first bytes aren't of an MP4. */
export function storeWorkingCopy(
  bucket: R2Bucket,
  asset: Asset,
  chunks: AsyncIterable<Uint8Array>,
): Promise<StoredStream> {
  return storeStream(bucket, workingCopyKey(asset), chunks, {
    maxBytes: CONVERSION.copyBytes,
    headBytes: HEAD_BYTES,
    inspect: async (head) => {
      const mime = await requireMediaType(head, "video");
      if (mime !== "video/mp4")
        throw new AppError("not_a_video", `The copy is ${mime}, not an MP4.`);
      return isAudioOnly(asset) ? "audio/mp4" : mime;
    },
  });
}

async function* mergedChunks(
  bucket: R2Bucket,
  asset: Asset,
  plan: ConversionPlan,
): AsyncGenerator<Uint8Array> {
  const merger = new Mp4Merger();
  const parts: { file: StoredFile; payload: Mp4Part["payload"] }[] = [];
  for (const [part, expected] of plannedParts(plan).entries()) {
    const file = await openFile(bucket, convertedPartKey(asset, part));
    const piece = await readConvertedPart(file, expected);
    merger.add(piece);
    parts.push({ file, payload: piece.payload });
  }
  yield merger.head();
  for (const { file, payload } of parts) yield* await file.stream(payload.start, payload.end);
}

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
    await requireComplete(file);
    await requireUnchained(file);
    return null;
  } catch (error) {
    if (error instanceof AppError && (OBSTACLES as readonly string[]).includes(error.code))
      return error;
    throw error;
  }
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
  const file = await openFile(env.MEDIA, sourceKey(asset));
  const bytes = missing?.bytes || (await countMissingBytes(file));
  const lost = missing ?? (bytes > 0 ? { seconds: 0, from_seconds: null } : null);
  const technical = {
    ...asset.technical,
    container,
    has_video: video !== null,
    ...(video && { video_codec: video.codec, rotation: video.rotation }),
    audio_codec: audio?.codec ?? null,
    ...(start_timecode && { start_timecode }),
    ...(await readMovieFacts(file)),
  };
  const facts = {
    ...(video && { width: video.width, height: video.height }),
    fps: video?.fps || null,
    durationMs,
    technical,
    warnings: [
      ...asset.warnings.filter(isTranscriptWarning),
      ...(lost
        ? [incompleteMedia({ bytes, seconds: lost.seconds, fromSeconds: lost.from_seconds })]
        : []),
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
