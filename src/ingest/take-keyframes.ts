import { INGEST } from "../config.ts";
import { AppError, failureOf } from "../errors.ts";
import { cutClip } from "../media/clips.ts";
import { openContainer, requireVideoTrack } from "../media/container.ts";
import { frameOf } from "../media/frames.ts";
import { decodePicture } from "../media/pictures.ts";
import { greyPixels } from "../media/pixels.ts";
import { signPicture } from "../media/signature.ts";
import { updateFacts } from "../store/assets.ts";
import { keyframeKey, sourceKey } from "../store/media.ts";
import { putSignature } from "../store/signatures.ts";
import type { Asset, Segment } from "../types.ts";

/**
 * Works on segments of an asset, a few at a time: `take` gives the keyframe of one as a JPEG, made from the
 * stored file. Throws what opening that throws, `source_missing` among it, and what `work` does.
 */
export async function eachKeyframe(
  env: Env,
  asset: Asset,
  segments: Segment[],
  work: (segment: Segment, take: () => Promise<Uint8Array>) => Promise<void>,
): Promise<void> {
  if (segments.length === 0) return;
  if (asset.assetType === "image") {
    const jpeg = await imageKeyframe(env, asset);
    await Promise.all(segments.map((segment) => work(segment, async () => jpeg)));
    return;
  }
  const times = segments.map(({ keyframeMs }) => keyframeMs / 1000);
  const span = { from: Math.min(...times), to: Math.max(...times) };
  using input = await openContainer(env.MEDIA, sourceKey(asset), span);
  const take = async ({ keyframeMs }: Segment) => {
    const track = await requireVideoTrack(input);
    return frameOf(env, await cutClip(track, keyframeMs / 1000));
  };
  for (let i = 0; i < segments.length; i += INGEST.framesAtOnce) {
    const few = segments.slice(i, i + INGEST.framesAtOnce);
    await Promise.all(few.map((segment) => work(segment, () => take(segment))));
  }
}

/** Stores a segment's keyframe, and what it looks like. Throws `unreadable_frame` or `unreadable_image`. */
export async function keepKeyframe(
  env: Env,
  asset: Asset,
  segment: Segment,
  jpeg: Uint8Array,
): Promise<void> {
  await env.MEDIA.put(keyframeKey(asset, segment.keyframeMs), jpeg, {
    httpMetadata: { contentType: "image/jpeg" },
  });
  const pixels = await greyPixels(env.IMAGES, new Blob([jpeg]).stream()).catch((cause: unknown) => {
    const isFrame = asset.assetType === "video" && failureOf(cause).code === "unreadable_image";
    if (isFrame) throw new AppError("unreadable_frame", "A frame can't be decoded.", { cause });
    throw cause;
  });
  await putSignature(env.DB, segment.segmentId, signPicture(pixels));
}

async function imageKeyframe(env: Env, asset: Asset): Promise<Uint8Array> {
  const open = async () => {
    const object = await env.MEDIA.get(sourceKey(asset));
    if (!object) throw new AppError("source_missing", "The stored file is gone; send it again.");
    return object.body;
  };
  const { jpeg, width, height, format } = await decodePicture(env.IMAGES, open);
  await updateFacts(env.DB, asset.assetId, { width, height, technical: { format } });
  return jpeg;
}
