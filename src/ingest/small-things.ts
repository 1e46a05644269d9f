import { INGEST } from "../config.ts";
import type { Box } from "../types.ts";

const { most, minScore, maxShare } = INGEST.regions;

/**
 * The boxes of a keyframe that hold what the whole of it hides: surely seen and small, of each label
 * one before any label's second, the surest first.
 */
export function smallThings(boxes: Box[]): Box[] {
  const small = boxes
    .filter(({ score, width, height }) => score >= minScore && isSmall(width * height))
    .toSorted((a, b) => b.score - a.score);
  const firsts = new Set(new Map(small.toReversed().map((box) => [box.label, box])).values());
  const rest = small.filter((box) => !firsts.has(box));
  return [...small.filter((box) => firsts.has(box)), ...rest].slice(0, most);
}

function isSmall(share: number): boolean {
  return share > 0 && share < maxShare;
}

/**
 * The place of a small thing in the picture space: between what its region looks like and the whole
 * picture. By itself a region is too unlike the pictures that the space knows, and finds what it
 * shouldn't (docs/benchmarks.md).
 */
export function placeBetween(region: number[], picture: number[]): number[] {
  const [a, b] = [lengthOf(region), lengthOf(picture)];
  return region.map((value, i) => value / a + picture[i]! / b);
}

function lengthOf(vector: number[]): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1;
}
