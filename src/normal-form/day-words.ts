import { isMonth } from "./numbers.ts";
import { ordinalNumber } from "./word-forms.ts";

/** A token as far as a date needs it. */
interface DayToken {
  folded: string;
  base: string;
  stem: string;
}

/** Where the word of a day may be, from its month: "July fourth", "July the fourth". */
const PLACES = [
  { day: -1, between: null },
  { day: -2, between: -1 },
  { day: 1, between: null },
  { day: 2, between: 1 },
];

/** Writes the number of a day for its word: "the fourth of July" is "4 July". */
export function readDayWords<T extends DayToken>(tokens: T[]): void {
  for (const [i, { folded }] of tokens.entries()) {
    if (!isMonth(folded)) continue;
    for (const { day, between } of PLACES) {
      const token = tokens[i + day];
      const number = token && ordinalNumber(token.base);
      const link = between === null ? "the" : tokens[i + between]?.folded;
      if (!number || (link !== "of" && link !== "the")) continue;
      tokens[i + day] = { ...token, base: number, stem: number };
      break;
    }
  }
}
