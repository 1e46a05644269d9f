import type { Box, Place } from "../types.ts";
import type { Hit } from "./hits.ts";
import { foldPlural, wordsOf } from "./query.ts";

/** The stored boxes whose labels the words name, in the singular or the plural; the surest first. */
export function namedBoxes(boxes: Box[], words: string[]): Box[] {
  const stems = new Set(words.map(foldPlural));
  const isNamed = ({ label }: Box) => {
    const named = wordsOf(label);
    return named.length > 0 && named.every((word) => stems.has(foldPlural(word)));
  };
  return boxes.filter(isNamed).toSorted((a, b) => b.score - a.score);
}

/**
 * Places that a model pointed at, as boxes in the frame. It gives no scores of its own: theirs is how
 * sure the search is that the picture shows what was asked for.
 */
export function toBoxes(
  places: Place[],
  label: string,
  hit: Pick<Hit, "evidence" | "score">,
): Box[] {
  const score = shownScore(hit) ?? hit.score;
  return places
    .map((place) => ({ label, score, ...clip(place) }))
    .filter(({ width, height }) => width > 0 && height > 0);
}

/** How sure it is that the picture shows what was asked for; null where nothing says so. */
export function shownScore({ evidence }: Pick<Hit, "evidence">): number | null {
  const scores = evidence
    .filter(({ kind }) => kind === "visual" || kind === "caption")
    .map(({ score }) => score);
  return scores.length > 0 ? Math.min(1, Math.max(...scores)) : null;
}

/** What of a place is inside the frame. */
function clip({ x, y, width, height }: Place): Place {
  const [left, top, right, bottom] = [x, y, x + width, y + height].map((side) =>
    Math.min(1, Math.max(0, side)),
  );
  return { x: left!, y: top!, width: right! - left!, height: bottom! - top! };
}
