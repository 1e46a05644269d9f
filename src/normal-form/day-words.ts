import { isOtherMonth } from "./month-names.ts";
import { isMonth } from "./numbers.ts";
import { ordinalNumber } from "./word-forms.ts";

/** A date among tokens: the indices of its first and last one, and what it is read as. */
interface WordedDate {
  first: number;
  last: number;
  day: string;
  month: string;
}

/** Where the word of a day may be, from its month, and the word between: "July the fourth". */
const PLACES = [
  { day: -1, between: null },
  { day: -2, between: -1 },
  { day: 1, between: null },
  { day: 2, between: 1 },
];
const BETWEEN = new Set<string | undefined>(["of", "the", "de", "di", "av"]);

/** Tests whether a folded word names a month in any language. */
export function isMonthName(folded: string): boolean {
  return isMonth(folded) || isOtherMonth(folded);
}

/** Finds dates whose day is a word: "the fourth of July" is 4 and July. The last one is first. */
export function findWordedDates(tokens: readonly { folded: string; base: string }[]): WordedDate[] {
  const dates: WordedDate[] = [];
  for (const [i, { folded, base: month }] of tokens.entries()) {
    if (!isMonthName(folded) || (dates[0] && dates[0].last >= i)) continue;
    const found = PLACES.flatMap(({ day, between }) => {
      const number = ordinalNumber(tokens[i + day]?.base ?? "");
      const isNear = between === null || BETWEEN.has(tokens[i + between]?.folded);
      return number !== null && isNear ? [{ at: i + day, day: number }] : [];
    })[0];
    if (!found) continue;
    const [first, last] = [Math.min(i, found.at), Math.max(i, found.at)];
    dates.unshift({ first, last, day: found.day, month });
  }
  return dates;
}
