import { isMonth } from "./numbers.ts";
import { ordinalNumber } from "./word-forms.ts";

/** Where the word of a day may be, from its month: "July fourth", "July the fourth". */
const PLACES = [
  { day: -1, between: null },
  { day: -2, between: -1 },
  { day: 1, between: null },
  { day: 2, between: 1 },
];

/** Finds words of days, and returns the number of each by its index: 4 in "the fourth of July". */
export function readDayWords(
  tokens: readonly { folded: string; base: string }[],
): Map<number, string> {
  const numbers = new Map<number, string>();
  for (const [i, { folded }] of tokens.entries()) {
    if (!isMonth(folded)) continue;
    for (const { day, between } of PLACES) {
      const number = ordinalNumber(tokens[i + day]?.base ?? "");
      const link = between === null ? "the" : tokens[i + between]?.folded;
      if (number === null || (link !== "of" && link !== "the")) continue;
      numbers.set(i + day, number);
      break;
    }
  }
  return numbers;
}
