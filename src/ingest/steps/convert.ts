import { isAudioOnly } from "../../asset-kind.ts";
import type { WorkingCopy } from "../../derived-media.ts";
import { AppError, traceOf } from "../../errors.ts";
import { log } from "../../log.ts";
import {
  type ExpectedPart,
  readConvertedPart,
  type Mp4Part,
  Mp4Merger,
} from "../../media/container/mp4-part.ts";
import { openFile, type StoredFile } from "../../media/container/r2-file.ts";
import {
  convertPart,
  type ConvertedFile,
  type PartRequest,
  releaseFile,
} from "../../media/converter.ts";
import { HEAD_BYTES, requireMediaType } from "../../media/media-type.ts";
import { usageMeter } from "../../metering/meter-env.ts";
import { CONVERSION } from "../../parameters.ts";
import { updateProperties } from "../../store/d1/assets.ts";
import { type ConversionPlan, getConversionPlan } from "../../store/r2/conversion-plan.ts";
import {
  convertedPartKey,
  sourceKey,
  conversionPrefix,
  deletePrefix,
  workingCopyKey,
} from "../../store/r2/object-keys.ts";
import { storeStream, type StoredStream } from "../../store/r2/streams.ts";
import type { Asset, AssetRef } from "../../types.ts";

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

export async function convertedFile(bucket: R2Bucket, asset: AssetRef): Promise<ConvertedFile> {
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
