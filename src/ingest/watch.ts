import { FOOTAGE, SIGNATURE } from "../config.ts";
import { dot, sampleArea, WHOLE } from "../media/overlap.ts";
import { signPicture } from "../media/signature.ts";
import { getGreys, getSeen } from "../store/seen.ts";
import { listSegmentsWithin } from "../store/segments.ts";
import { putStillSignatures, type StillSignature } from "../store/signatures.ts";
import { putStills } from "../store/stills.ts";
import type { Asset, Segment } from "../types.ts";
import { levelsOf } from "./seen-stills.ts";
import { stretchAt, toShownMs } from "./stretches.ts";

/** A still with all that is known of it. */
interface Watched {
  ms: number;
  thumbnail: Uint8Array;
  grey: Uint8Array;
}

/**
 * Keeps what was seen in one stretch of a video: small stills, which tell the times of the same footage, and
 * for the segments that begin in it signatures of those that don't look like the keyframe, by which it is
 * found. A stretch in which nothing was seen has none.
 */
export async function watch(env: Env, asset: Asset, part: number): Promise<void> {
  const span = { assetId: asset.assetId, ...stretchAt(asset, part) };
  const own = await readStills(env.MEDIA, asset, part);
  if (own.length === 0) return;
  const thumbnails = new Uint8Array(own.length * FOOTAGE.thumbnailSide ** 2);
  for (const [i, { thumbnail }] of own.entries()) thumbnails.set(thumbnail, i * thumbnail.length);
  const times = own.map(({ ms }) => ms);
  await putStills(env.DB, asset.assetId, { ...span, times, thumbnails });
  const reaching = await listSegmentsWithin(env.DB, span);
  const segments = reaching.filter(({ startMs }) => startMs! >= span.startMs);
  const isBeyond = segments.some(({ endMs }) => endMs! > span.endMs);
  const stills = isBeyond ? own.concat(await readStills(env.MEDIA, asset, part + 1)) : own;
  const signed = segments.flatMap((segment) => differentStills(segment, stills));
  const ids = segments.map(({ segmentId }) => segmentId);
  await putStillSignatures(env.DB, ids, signed);
}

/** None where nothing was seen. */
async function readStills(bucket: R2Bucket, asset: Asset, part: number): Promise<Watched[]> {
  const seen = await getSeen(bucket, asset, part);
  const greys = seen && (await getGreys(bucket, asset, part));
  if (!greys) return [];
  const size = SIGNATURE.side ** 2;
  return seen.stills.map(({ seconds, thumbnail }, i) => ({
    ms: toShownMs(seconds),
    thumbnail: levelsOf(thumbnail),
    grey: greys.subarray(i * size, (i + 1) * size),
  }));
}

/**
 * Signs the stills of a segment that look like neither its keyframe nor each other: always the one that is
 * least like those there are (Gonzalez, "Clustering to Minimize the Maximum Intercluster Distance", 1985).
 */
function differentStills(
  { segmentId, startMs, endMs, keyframeMs }: Segment,
  stills: Watched[],
): StillSignature[] {
  const own = stills.flatMap(({ ms, thumbnail, grey }) => {
    if (ms < startMs! || ms >= endMs!) return [];
    return [{ ms, grey, look: sampleArea(thumbnail, WHOLE, FOOTAGE.thumbnailSide), likeness: -1 }];
  });
  const keyframe = own.findLast(({ ms }) => ms <= keyframeMs) ?? own[0];
  const signed: StillSignature[] = [];
  for (let last = keyframe; last && signed.length < FOOTAGE.signatures;) {
    for (const still of own) still.likeness = Math.max(still.likeness, dot(still.look, last.look));
    last = own.reduce((a, b) => (b.likeness < a.likeness ? b : a));
    if (last.likeness >= FOOTAGE.different) break;
    signed.push({ segmentId, ms: last.ms, signature: signPicture(last.grey) });
  }
  return signed;
}
