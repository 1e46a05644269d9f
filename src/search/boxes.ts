import type { BoundingBox, Rect } from "../types.ts";
import type { Hit } from "./hits.ts";
import { foldPlural, uniqueWords } from "./query.ts";

/**
 * Returns the boxes with labels whose words are all among the query's, singular or plural, best
 * score first.
 */
export function boxesForTerms(
  boxes: readonly BoundingBox[],
  words: readonly string[],
): BoundingBox[] {
  const stems = new Set(words.map(foldPlural));
  const isNamed = ({ label }: BoundingBox) => {
    const labelWords = uniqueWords(label);
    return labelWords.length > 0 && labelWords.every((word) => stems.has(foldPlural(word)));
  };
  return boxes.filter(isNamed).toSorted((a, b) => b.score - a.score);
}

/**
 * Converts rectangles of the detection model to boxes, clipped to the frame. The model returns no
 * scores: a box gets the visual score of the hit.
 */
export function toBoxes(
  rects: Rect[],
  label: string,
  hit: Pick<Hit, "evidence" | "score">,
): BoundingBox[] {
  const score = visualScore(hit) ?? hit.score;
  return rects
    .map((rect) => ({ label, score, ...clipToFrame(rect) }))
    .filter(({ width, height }) => width > 0 && height > 0);
}

/**
 * Returns the best score of visual evidence, 0–1: a keyframe, labels or a caption. Null without.
 */
export function visualScore({ evidence }: Pick<Hit, "evidence">): number | null {
  const scores = evidence
    .filter(({ kind }) => kind === "visual" || kind === "caption")
    .map(({ score }) => score);
  return scores.length > 0 ? Math.min(1, Math.max(...scores)) : null;
}

function clipToFrame({ x, y, width, height }: Rect): Rect {
  const [xMin, yMin, xMax, yMax] = [x, y, x + width, y + height].map((side) =>
    Math.min(1, Math.max(0, side)),
  );
  return { x: xMin!, y: yMin!, width: xMax! - xMin!, height: yMax! - yMin! };
}
