import { INGEST } from "../config.ts";
import { AppError, failureOf } from "../errors.ts";
import { openContainer, requireVideoTrack } from "../media/container/open-container.ts";
import { readImageFacts } from "../media/exif/capture-facts.ts";
import { decodeFrame } from "../media/frames.ts";
import { type DecodedImage, decodeImage } from "../media/pixels/decode-image.ts";
import { openImage } from "../media/pixels/image-file.ts";
import { computeSignature } from "../media/pixels/image-signature.ts";
import { decodeLuma, toSignatureSize } from "../media/pixels/luma.ts";
import type { LumaImage } from "../media/pixels/resize-luma.ts";
import { updateProperties } from "../store/d1/assets.ts";
import { indexDatabase } from "../store/index-database/index-database.ts";
import { putSignature } from "../store/index-database/signatures.ts";
import { mediaKey, putKeyframe, sourceKey } from "../store/r2/object-keys.ts";
import type { Asset, Segment } from "../types.ts";

/**
 * Calls `handle` for each segment, `INGEST.frameConcurrency` at a time for a video. `extract` makes
 * the segment's keyframe from the source file, as a JPEG; `otherJpeg` is a transparent image on the
 * other background. Throws what opening the file throws,
 * `source_missing` among others, and what `handle` throws.
 */
export async function forEachKeyframe(
  env: Env,
  asset: Asset,
  segments: Segment[],
  handle: (
    segment: Segment,
    extract: () => Promise<Uint8Array>,
    otherJpeg: Uint8Array | null,
  ) => Promise<void>,
): Promise<void> {
  if (segments.length === 0) return;
  if (asset.assetType === "image") {
    const { jpeg, otherJpeg } = await imageKeyframe(env, asset);
    await Promise.all(segments.map((segment) => handle(segment, async () => jpeg, otherJpeg)));
    return;
  }
  const times = segments.map(({ keyframeMs }) => keyframeMs / 1000);
  const range = { start: Math.min(...times), end: Math.max(...times) };
  using input = await openContainer(env.MEDIA, mediaKey(asset), range);
  const extract = async ({ keyframeMs }: Segment) => {
    return decodeFrame(env, requireVideoTrack(input), keyframeMs / 1000);
  };
  for (let i = 0; i < segments.length; i += INGEST.frameConcurrency) {
    const batch = segments.slice(i, i + INGEST.frameConcurrency);
    await Promise.all(batch.map((segment) => handle(segment, () => extract(segment), null)));
  }
}

/**
 * Stores a segment's keyframe and its signature. Returns the keyframe's pixels. Throws
 * `unreadable_frame` or `unreadable_image`.
 */
export async function storeKeyframe(
  env: Env,
  asset: Asset,
  segment: Segment,
  jpeg: Uint8Array,
): Promise<LumaImage> {
  const image = await decodeLuma(jpeg).catch((cause: unknown) => {
    const isFrame = asset.assetType === "video" && failureOf(cause).code === "unreadable_image";
    if (isFrame) throw new AppError("unreadable_frame", "A frame can't be decoded.", { cause });
    throw cause;
  });
  await putKeyframe(env.MEDIA, asset, segment.keyframeMs, jpeg);
  const signature = computeSignature(toSignatureSize(image));
  await putSignature(indexDatabase(env, asset), segment.segmentId, signature);
  return image;
}

/** Decodes an image asset into a JPEG and records its facts. Throws `source_missing`. */
async function imageKeyframe(env: Env, asset: Asset): Promise<DecodedImage> {
  const file = await openImage(env.MEDIA, sourceKey(asset));
  const decoded = await decodeImage(env, file);
  const { width, height, format } = decoded;
  const technical = { format, ...(await readImageFacts(file, format)) };
  await updateProperties(env.DB, asset.assetId, { width, height, technical });
  return decoded;
}
