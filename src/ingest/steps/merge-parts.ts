import { isAudioOnly } from "../../asset-kind.ts";
import { AppError, traceOf } from "../../errors.ts";
import { log } from "../../log.ts";
import { Mp4Merger } from "../../media/container/merge-mp4.ts";
import { type Mp4Part, readConvertedPart } from "../../media/container/mp4-part.ts";
import { openFile } from "../../media/container/r2-file.ts";
import { releaseFile } from "../../media/converter.ts";
import { CONVERSION } from "../../parameters.ts";
import { updateProperties } from "../../store/d1/assets.ts";
import type { ConversionPlan } from "../../store/r2/conversion-plan.ts";
import {
  conversionPrefix,
  deletePrefix,
  getObject,
  convertedPartKey,
  workingCopyKey,
} from "../../store/r2/object-keys.ts";
import { type StoredStream, storeStream } from "../../store/r2/streams.ts";
import type { Asset } from "../../types.ts";
import { WORKING_COPY, type WorkingCopy } from "../../working-copy.ts";
import { convertedFile } from "../converted-file.ts";
import { countParts, plannedPart, requirePlan } from "./convert.ts";

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
  const technical = { ...asset.technical, [WORKING_COPY]: workingCopy };
  await updateProperties(env.DB, asset.assetId, { technical });
  await deletePrefix(env.MEDIA, conversionPrefix(asset));
  await releaseFile(env, await convertedFile(env.MEDIA, asset)).catch((error: unknown) => {
    log("warn", "ingest.decoder_not_released", { asset: asset.assetId, cause: traceOf(error) });
  });
}

export function storeWorkingCopy(
  bucket: R2Bucket,
  asset: Asset,
  chunks: AsyncIterable<Uint8Array>,
): Promise<StoredStream> {
  return storeStream(bucket, workingCopyKey(asset), chunks, {
    maxBytes: CONVERSION.copyBytes,
    headBytes: 1,
    inspect: async () => (isAudioOnly(asset) ? "audio/mp4" : "video/mp4"),
  });
}

async function* mergedChunks(
  bucket: R2Bucket,
  asset: Asset,
  plan: ConversionPlan,
): AsyncGenerator<Uint8Array> {
  const count = countParts(plan.durationMs);
  const joiner = new Mp4Merger();
  const payloads: Mp4Part["payload"][] = [];
  for (let part = 0; part < count; part++) {
    const file = await openFile(bucket, convertedPartKey(asset, part));
    const piece = await readConvertedPart(file, plannedPart(plan, part));
    joiner.add(piece);
    payloads.push(piece.payload);
  }
  yield joiner.head();
  for (const [part, { start, end }] of payloads.entries()) {
    const range = { offset: start, length: end - start };
    const object = await getObject(bucket, convertedPartKey(asset, part), range);
    if (!object) throw new AppError("source_missing", "A piece of the conversion is gone.");
    yield* object.body;
  }
}
