import { COCO_LABELS, type CocoLabel } from "./coco.ts";
import type { ImageFile } from "./image.ts";
import { DETECTOR_SIDE, type ImageEncoder } from "./joint-space/features.ts";

/** CenterNet (Zhou et al., 2019) on MobileNetV3, trained on the 80 classes of COCO. */
export const OBJECT_MODEL = "centernet-mobilenetv3-coco80";
export const MIN_OBJECT_SCORE = 0.3;

const COLUMNS = 6;
const MAX_OVERLAP = 0.5;

/** `[x_min, y_min, x_max, y_max]` as fractions of the upright image. */
export type Box = [number, number, number, number];

export interface DetectedObject {
  label: CocoLabel;
  score: number;
  box: Box;
}

export interface ObjectDetector {
  /**
   * Returns objects, best first; IoU within a label is at most 0.5. Errors: `undecodable_image`.
   */
  detect(image: ImageFile, minScore: number): Promise<DetectedObject[]>;
}

export async function loadObjects(encoder: Promise<ImageEncoder>): Promise<ObjectDetector> {
  const network = await encoder;
  return {
    detect: async (image, minScore) =>
      suppress(readDetections(await network.detect(image), minScore)),
  };
}

function readDetections(rows: Float32Array, minScore: number): DetectedObject[] {
  const found: DetectedObject[] = [];
  for (let at = 0; at + COLUMNS <= rows.length; at += COLUMNS) {
    const [left = 0, top = 0, right = 0, bottom = 0, score = 0, name = -1] = rows.subarray(at);
    const label = COCO_LABELS[Math.round(name)];
    const box: Box = [toFraction(left), toFraction(top), toFraction(right), toFraction(bottom)];
    if (label && score >= minScore && area(box) > 0) found.push({ label, score, box });
  }
  return found.sort((a, b) => b.score - a.score);
}

/** Applies non-maximum suppression within each label. */
function suppress(sorted: readonly DetectedObject[]): DetectedObject[] {
  const selected: DetectedObject[] = [];
  for (const object of sorted) {
    const sameLabel = selected.filter((other) => other.label === object.label);
    if (sameLabel.every((other) => overlap(other.box, object.box) <= MAX_OVERLAP))
      selected.push(object);
  }
  return selected;
}

/** Returns the intersection over union. */
function overlap(a: Box, b: Box): number {
  const shared = area([
    Math.max(a[0], b[0]),
    Math.max(a[1], b[1]),
    Math.min(a[2], b[2]),
    Math.min(a[3], b[3]),
  ]);
  return shared / (area(a) + area(b) - shared);
}

function area([left, top, right, bottom]: Box): number {
  return Math.max(0, right - left) * Math.max(0, bottom - top);
}

function toFraction(pixels: number): number {
  return Math.min(1, Math.max(0, pixels / DETECTOR_SIDE));
}
