import { INGEST } from "../config.ts";
import { eachKeyframe, keepKeyframe } from "../ingest/take-keyframes.ts";
import { getKeyframe } from "../store/media.ts";
import { listSegmentsById } from "../store/segments.ts";
import type { Asset, Segment } from "../types.ts";
import { type Fix, inPieces } from "./work.ts";

/** Keyframes are taken from the stored file again, where they are gone, and signed. */
export const retakeKeyframes: Fix = async ({ env, asset, pause }, segmentIds) => {
  const segments = await listSegmentsById(env.DB, asset.assetId, segmentIds);
  await inPieces(segments, INGEST.partSegments, pause, async (few) => {
    const lost = await keepStored(env, asset, few);
    await eachKeyframe(env, asset, lost, async (segment, take) =>
      keepKeyframe(env, asset, segment, await take()),
    );
  });
  return null;
};

/** Signs the keyframes that are there; the segments that have none. */
async function keepStored(env: Env, asset: Asset, segments: Segment[]): Promise<Segment[]> {
  const lost: Segment[] = [];
  for (const segment of segments) {
    const jpeg = await getKeyframe(env.MEDIA, asset, segment.keyframeMs);
    if (jpeg) await keepKeyframe(env, asset, segment, jpeg);
    else lost.push(segment);
  }
  return lost;
}
