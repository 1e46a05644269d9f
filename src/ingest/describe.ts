import type { Input } from "mediabunny";
import { INGEST } from "../config.ts";
import { failureOf, isRetryable } from "../errors.ts";
import { cutClip } from "../media/clips.ts";
import { openContainer, requireVideoTrack } from "../media/container.ts";
import { frameOf } from "../media/frames.ts";
import { decodePicture } from "../media/pictures.ts";
import { describePicture } from "../models/describe.ts";
import { updateFacts } from "../store/assets.ts";
import { keyframeKey, sourceKey } from "../store/media.ts";
import { describeSegment, listSegments } from "../store/segments.ts";
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
    await describeSegment(env.DB, segment.segmentId, await describePicture(env.AI, jpeg));
  } catch (error) {
    if (isRetryable(error, attempt) || asset.assetType === "image") throw error;
    await describeSegment(env.DB, segment.segmentId, { problem: failureOf(error) });
  }
}

async function videoKeyframe(env: Env, input: Input, segment: Segment): Promise<Uint8Array> {
  const track = await requireVideoTrack(input);
  return frameOf(env.FRAMES, await cutClip(track, segment.keyframeMs / 1000));
}

async function imageKeyframe(env: Env, asset: Asset): Promise<Uint8Array> {
  const { jpeg, width, height, format } = await decodePicture(
    env.IMAGES,
    env.MEDIA,
    sourceKey(asset),
  );
  await updateFacts(env.DB, asset.assetId, { width, height, technical: { format } });
  return jpeg;
}
