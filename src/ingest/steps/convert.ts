import { AppError } from "../../errors.ts";
import { type ExpectedPart, readConvertedPart } from "../../media/container/mp4-part.ts";
import { openFile } from "../../media/container/r2-file.ts";
import { convertPart } from "../../media/converter.ts";
import { usageMeter } from "../../metering/usage-meter.ts";
import { CONVERSION } from "../../parameters.ts";
import { type ConversionPlan, getConversionPlan } from "../../store/r2/conversion-plan.ts";
import { headObject, convertedPartKey } from "../../store/r2/object-keys.ts";
import { storeStream } from "../../store/r2/streams.ts";
import type { Asset } from "../../types.ts";
import { convertedFile } from "../converted-file.ts";

/** Converts one piece of a file and stores it, unless an earlier run did. */
export async function convert(env: Env, asset: Asset, part: number): Promise<void> {
  const plan = await requirePlan(env, asset);
  const piece = plannedPart(plan, part);
  const key = convertedPartKey(asset, part);
  if (await isStored(env.MEDIA, key, piece)) return;
  const file = await convertedFile(env.MEDIA, asset);
  const { originSeconds, frameFormat } = plan;
  const body = await convertPart(env, file, { ...piece, originSeconds, frameFormat });
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
  usageMeter(asset.accountId).count("convertedSeconds", (piece.endMs - piece.startMs) / 1000);
}

/** Returns the plan of a conversion in progress. Throws `source_missing` without one. */
export async function requirePlan(env: Env, asset: Asset): Promise<ConversionPlan> {
  const plan = await getConversionPlan(env.MEDIA, asset);
  if (plan) return plan;
  throw new AppError("source_missing", "The plan of the conversion is gone; retry the asset.");
}

/** Returns into how many pieces of equal length a file is converted, at least one. */
export function countParts(durationMs: number): number {
  return Math.max(1, Math.ceil(durationMs / CONVERSION.partMs));
}

/** Returns what the piece of a part shall be. */
export function plannedPart(plan: ConversionPlan, part: number): ExpectedPart {
  const { durationMs, frameFormat, hasAudio: audio } = plan;
  const timeOf = (piece: number) => Math.round((piece * durationMs) / countParts(durationMs));
  return {
    startMs: timeOf(part),
    endMs: timeOf(part + 1),
    frameFormat,
    audio,
  };
}

async function isStored(bucket: R2Bucket, key: string, piece: ExpectedPart): Promise<boolean> {
  if (!(await headObject(bucket, key))) return false;
  try {
    await readConvertedPart(await openFile(bucket, key), piece);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "upstream_failed") return false;
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
