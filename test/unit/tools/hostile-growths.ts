import type { TextFunction } from "../../../tools/hostile-text/functions.ts";
import { MAX_RATIO, measureGrowth } from "../../../tools/hostile-text/growth.ts";

/** Length from which a function that isn't linear shows it. */
const LENGTH = 8000;

/** Returns the hostile texts for which a function takes more time than in proportion. */
export function findGrowths(tested: TextFunction): unknown[] {
  const growths = [...measureGrowth(tested, Math.min(tested.maxCharacters, LENGTH))];
  return growths.filter(({ ratio }) => ratio > MAX_RATIO);
}
