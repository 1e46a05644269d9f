import type { TextFunction } from "../../../tools/hostile-text/functions.ts";
import { type Growth, MAX_RATIO, measureGrowth } from "../../../tools/hostile-text/growth.ts";

/** Length from which a function that isn't linear shows it. */
const LENGTH = 8000;

/**
 * Returns the first hostile text for which a function takes more time than in proportion, null
 * without one. The others aren't measured then: if all are slow, that takes an hour.
 */
export function findGrowth(tested: TextFunction): Growth | null {
  for (const growth of measureGrowth(tested, Math.min(tested.maxCharacters, LENGTH))) {
    if (growth.ratio > MAX_RATIO) return growth;
  }
  return null;
}
