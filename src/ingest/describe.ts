import type { Input } from "mediabunny";
import { INGEST } from "../config.ts";
import { AppError, failureOf, isRetryable } from "../errors.ts";
import { cutClip } from "../media/clips.ts";
import { openContainer, requireVideoTrack } from "../media/container.ts";
import { frameOf } from "../media/frames.ts";
import { decodePicture } from "../media/pictures.ts";
import { greyPixels } from "../media/pixels.ts";
import { signPicture } from "../media/signature.ts";
import { describePicture } from "../models/describe.ts";
import { updateFacts } from "../store/assets.ts";
import { keyframeKey, sourceKey } from "../store/media.ts";
import { describeSegment, listSegments } from "../store/segments.ts";
import { putSignature } from "../store/signatures.ts";
import type { Asset, Segment } from "../types.ts";

type TakeKeyframe = (segment: Segment) => Promise<Uint8Array>;

/** Looks at the keyframes of one part's segments. What can't be seen is recorded on the segment. */
export async function describe(
  env: Env,
  asset: Asset,
  part: number,
  attempt: number,
): Promise<void> {
  const from = part * INGEST.partSegments;
  const segments = await listSegments(env.DB, asset.assetId, from, from + INGEST.partSegments);
  const unseen = segments.filter(({ described }) => !described);
  if (unseen.length === 0) return;
  if (asset.assetType === "image") {
    const jpeg = await imageKeyframe(env, asset);
    await Promise.all(
      unseen.map((segment) => look(env, asset, segment, attempt, async () => jpeg)),
    );
    return;
  }
  using input = await openContainer(env.MEDIA, sourceKey(asset));
  const takeKeyframe = (segment: Segment) => videoKeyframe(env, input, segment);
  for (let i = 0; i < unseen.length; i += INGEST.framesAtOnce) {
    const few = unseen.slice(i, i + INGEST.framesAtOnce);
    await Promise.all(few.map((segment) => look(env, asset, segment, attempt, takeKeyframe)));
  }
}

async function look(
  env: Env,
  asset: Asset,
  segment: Segment,
  attempt: number,
  takeKeyframe: TakeKeyframe,
) {
  try {
    const jpeg = await takeKeyframe(segment);
    await env.MEDIA.put(keyframeKey(asset, segment.keyframeMs), jpeg, {
      httpMetadata: { contentType: "image/jpeg" },
    });
    await sign(env, asset, segment, jpeg);
    await describeSegment(env.DB, segment.segmentId, await describePicture(env.AI, jpeg));
  } catch (error) {
    if (isRetryable(error, attempt) || asset.assetType === "image") throw error;
    await describeSegment(env.DB, segment.segmentId, { problem: failureOf(error) });
  }
}

async function sign(env: Env, asset: Asset, segment: Segment, jpeg: Uint8Array) {
  const pixels = await greyPixels(env.IMAGES, new Blob([jpeg]).stream()).catch((cause: unknown) => {
    const isFrame = asset.assetType === "video" && failureOf(cause).code === "unreadable_image";
    if (isFrame) throw new AppError("unreadable_frame", "A frame can't be decoded.", { cause });
    throw cause;
  });
  await putSignature(env.DB, segment.segmentId, signPicture(pixels));
}

async function videoKeyframe(env: Env, input: Input, segment: Segment): Promise<Uint8Array> {
  const track = await requireVideoTrack(input);
  return frameOf(env.FRAMES, await cutClip(track, segment.keyframeMs / 1000));
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
