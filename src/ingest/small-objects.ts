import { INGEST } from "../config.ts";
import type { BoundingBox } from "../types.ts";

const { maxCount, minScore, maxAreaShare } = INGEST.regions;

/**
 * Selects boxes of small objects, which the vector of the whole keyframe doesn't represent: score
 * at least `minScore`, area share below `maxAreaShare`. The best box of each label comes before the
 * second of any label, then by score.
 */
export function smallObjects(boxes: BoundingBox[]): BoundingBox[] {
  const small = boxes
    .filter(({ score, width, height }) => score >= minScore && isSmall(width * height))
    .toSorted((a, b) => b.score - a.score);
  const bestOfLabel = new Set(new Map(small.toReversed().map((box) => [box.label, box])).values());
  const rest = small.filter((box) => !bestOfLabel.has(box));
  return [...small.filter((box) => bestOfLabel.has(box)), ...rest].slice(0, maxCount);
}

function isSmall(areaShare: number): boolean {
  return areaShare > 0 && areaShare < maxAreaShare;
}

/**
 * Returns the vector of a region: the sum of the unit vectors of its crop and of its keyframe. The
 * vector of the crop alone is unlike those of whole images and causes false matches
 * (docs/experiments/small-objects.md).
 */
export function regionVector(crop: number[], keyframe: number[]): number[] {
  const [cropLength, keyframeLength] = [lengthOf(crop), lengthOf(keyframe)];
  return crop.map((value, i) => value / cropLength + keyframe[i]! / keyframeLength);
}

/** Euclidean length, 1 for a zero vector. */
function lengthOf(vector: number[]): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
}
