import { INGEST } from "../config.ts";
import { AppError, failureOf } from "../errors.ts";
import { openContainer, requireVideoTrack } from "../media/container/open-container.ts";
import { decodeFrame } from "../media/frames.ts";
import { decodeImage } from "../media/pixels/decode-image.ts";
import { decodeLuma, toSignatureSize } from "../media/pixels/luma.ts";
import type { LumaImage } from "../media/pixels/resize-luma.ts";
import { computeSignature } from "../media/pixels/image-signature.ts";
import { updateProperties } from "../store/assets.ts";
import { indexDatabase } from "../store/index-database.ts";
import { getSourceFile, putKeyframe, sourceKey } from "../store/object-keys.ts";
import { putSignature } from "../store/signatures.ts";
import type { Asset, Segment } from "../types.ts";

/**
 * Calls `handle` for each segment, `INGEST.frameConcurrency` at a time for a video. `extract` makes
 * the segment's keyframe from the source file, as a JPEG. Throws what opening the file throws,
 * `source_missing` among others, and what `handle` throws.
 */
export async function forEachKeyframe(
  env: Env,
  asset: Asset,
  segments: Segment[],
  handle: (segment: Segment, extract: () => Promise<Uint8Array>) => Promise<void>,
): Promise<void> {
  if (segments.length === 0) return;
  if (asset.assetType === "image") {
    const jpeg = await imageKeyframe(env, asset);
    await Promise.all(segments.map((segment) => handle(segment, async () => jpeg)));
    return;
  }
  const times = segments.map(({ keyframeMs }) => keyframeMs / 1000);
  const range = { start: Math.min(...times), end: Math.max(...times) };
  using input = await openContainer(env.MEDIA, sourceKey(asset), range);
  const extract = async ({ keyframeMs }: Segment) => {
    return decodeFrame(env, await requireVideoTrack(input), keyframeMs / 1000);
  };
  for (let i = 0; i < segments.length; i += INGEST.frameConcurrency) {
    const batch = segments.slice(i, i + INGEST.frameConcurrency);
    await Promise.all(batch.map((segment) => handle(segment, () => extract(segment))));
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

/** Decodes an image asset into a JPEG and records its size. Throws `source_missing`. */
async function imageKeyframe(env: Env, asset: Asset): Promise<Uint8Array> {
  const open = async () => {
    const object = await getSourceFile(env.MEDIA, asset);
    if (!object) throw new AppError("source_missing", "The stored file is gone; send it again.");
    return object.body;
  };
  const { jpeg, width, height, format } = await decodeImage(env.IMAGES, open);
  await updateProperties(env.DB, asset.assetId, { width, height, technical: { format } });
  return jpeg;
}
