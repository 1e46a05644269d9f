import { highPassVector } from "../../media/pixels/high-pass.ts";
import { dot, sampleArea, WHOLE } from "../../media/pixels/registration.ts";
import { COPY_DETECTION, SHOTS } from "../../parameters.ts";
import { type TimeRangeMs, lengthMs } from "../../time-range.ts";
import type { FrameSummary } from "../../types.ts";
import { decodeThumbnail, type SampledFrames } from "./sampled-frames.ts";

/** Frames of a shot that are compared with those of another, evenly spaced. */
const MAX_COMPARED_FRAMES = 8;

/**
 * Merges neighbouring shots of similar frames up to `SHOTS.maxSegmentSeconds`: after a jump cut, or
 * where a shot between two of the same framing was too short to stay. Reads the full luma, which
 * tells one page of text from another, only where the thumbnails are similar.
 */
export async function mergeSimilarShots(
  shots: readonly TimeRangeMs[],
  frames: SampledFrames,
): Promise<TimeRangeMs[]> {
  const result: TimeRangeMs[] = [];
  for (const shot of shots) {
    const previous = result.at(-1);
    const merged = previous && { startMs: previous.startMs, endMs: shot.endMs };
    const isMerged =
      merged &&
      lengthMs(merged) <= SHOTS.maxSegmentSeconds * 1000 &&
      (await areSimilar(previous, shot, frames));
    if (isMerged) result[result.length - 1] = merged;
    else result.push(shot);
  }
  return result;
}

async function areSimilar(a: TimeRangeMs, b: TimeRangeMs, frames: SampledFrames): Promise<boolean> {
  const framesA = evenlySpaced(frames.framesIn(a));
  const framesB = evenlySpaced(frames.framesIn(b));
  const similarity = shotSimilarity(framesA.map(toUnitVector), framesB.map(toUnitVector));
  if (similarity < SHOTS.minMergeCorrelation) return false;
  const [lumaA, lumaB] = [await frames.readLuma(framesA), await frames.readLuma(framesB)];
  const detailSimilarity = shotSimilarity(lumaA.map(highPassVector), lumaB.map(highPassVector));
  return detailSimilarity >= SHOTS.minMergeDetailCorrelation;
}

/**
 * Similarity of two groups of unit vectors: half of either group correlate at least so well with
 * one of the other. 0 for an empty group.
 */
function shotSimilarity(a: readonly Float64Array[], b: readonly Float64Array[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  return Math.min(medianBestCorrelation(a, b), medianBestCorrelation(b, a));
}

/** Lower median of each vector's correlation with its most similar vector of `others`. */
function medianBestCorrelation(
  vectors: readonly Float64Array[],
  others: readonly Float64Array[],
): number {
  const best = vectors.map((vector) => Math.max(...others.map((other) => dot(vector, other))));
  return best.sort((a, b) => a - b)[Math.floor((best.length - 1) / 2)]!;
}

function toUnitVector({ lumaThumbnail }: FrameSummary): Float64Array {
  return sampleArea(decodeThumbnail(lumaThumbnail), WHOLE, COPY_DETECTION.thumbnailSide);
}

function evenlySpaced(frames: readonly FrameSummary[]): FrameSummary[] {
  const count = Math.min(MAX_COMPARED_FRAMES, frames.length);
  return Array.from(
    { length: count },
    (_, i) => frames[Math.floor(((i + 0.5) * frames.length) / count)]!,
  );
}
