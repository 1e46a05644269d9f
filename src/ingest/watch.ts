import { FOOTAGE, INGEST } from "../config.ts";
import { causeOf, failureOf, isRetryable } from "../errors.ts";
import { log } from "../log.ts";
import { openContainer, requireVideoTrack } from "../media/container.ts";
import { dot, sampleArea, WHOLE } from "../media/overlap.ts";
import { type Still, takeStills } from "../media/sheets.ts";
import { signPicture } from "../media/signature.ts";
import { thumbnailsOf } from "../media/thumbnails.ts";
import { sourceKey } from "../store/media.ts";
import { listSegments } from "../store/segments.ts";
import { putStillSignatures, type StillSignature } from "../store/signatures.ts";
import { putStills } from "../store/stills.ts";
import type { Asset, Segment } from "../types.ts";

/**
 * Looks through one part of a video: keeps small stills, which tell the times of the same footage, and
 * signatures of those that don't look like the keyframe, by which it is found. A stretch that can't be
 * decoded has none.
 */
export async function watch(env: Env, asset: Asset, part: number, attempt: number): Promise<void> {
  const first = part * INGEST.partSegments;
  const segments = await listSegments(env.DB, asset.assetId, first, first + INGEST.partSegments);
  const [startMs, endMs] = [segments[0]?.startMs, segments.at(-1)?.endMs];
  if (typeof startMs !== "number" || typeof endMs !== "number" || endMs <= startMs) return;
  try {
    using input = await openContainer(env.MEDIA, sourceKey(asset));
    const track = await requireVideoTrack(input);
    const perSecond = FOOTAGE.storedPerSecond;
    const region = { from: startMs / 1000, to: endMs / 1000, perSecond };
    const stills = await takeStills(env, track, region);
    const times = stills.map(({ seconds }) => Math.round(seconds * 1000));
    const small = thumbnailsOf(stills).map(({ thumbnail }) => thumbnail);
    const thumbnails = new Uint8Array(small.length * FOOTAGE.thumbnailSide ** 2);
    for (const [i, one] of small.entries()) thumbnails.set(one, i * one.length);
    await putStills(env.DB, asset.assetId, { startMs, endMs, times, thumbnails });
    const signed = segments.flatMap((segment) => differentStills(segment, stills, small));
    const ids = segments.map(({ segmentId }) => segmentId);
    await putStillSignatures(env.DB, ids, signed);
  } catch (error) {
    if (isRetryable(error, attempt)) throw error;
    const fields = { asset: asset.assetId, part, code: failureOf(error).code };
    log("warn", "ingest.without_stills", { ...fields, cause: causeOf(error) });
  }
}

/**
 * Signs the stills of a segment that look like neither its keyframe nor each other: always the one that is
 * least like those there are (Gonzalez, "Clustering to Minimize the Maximum Intercluster Distance", 1985).
 */
function differentStills(
  { segmentId, startMs, endMs, keyframeMs }: Segment,
  stills: Still[],
  small: Uint8Array[],
): StillSignature[] {
  const own = stills.flatMap(({ seconds, grey }, i) => {
    const ms = Math.round(seconds * 1000);
    const look = sampleArea(small[i]!, WHOLE, FOOTAGE.thumbnailSide);
    return ms >= startMs! && ms < endMs! ? [{ ms, grey, look, likeness: -1 }] : [];
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
