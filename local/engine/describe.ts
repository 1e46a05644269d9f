import { composeCaption } from "./caption.ts";
import type { DetectedObject } from "./objects.ts";
import type { WordLine } from "./words.ts";

export interface Description {
  /** Composed from the detections; no model writes captions here. */
  caption: string;
  /** The words in the picture, a line each. */
  text: string;
  /** Each label once, the likeliest first. */
  labels: string[];
  objects: DetectedObject[];
}

/** `objects` are best first, `lines` in reading order. */
export function describePicture(
  objects: readonly DetectedObject[],
  lines: readonly WordLine[],
): Description {
  const labels = objects.map((one) => one.label);
  return {
    caption: composeCaption(labels, lines.length > 0),
    text: lines.map((line) => line.text).join("\n"),
    labels: [...new Set(labels)],
    objects: [...objects],
  };
}
