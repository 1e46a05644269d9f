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

/** Names of months in other languages, as a date has them (CLDR), folded. */
const OTHER_MONTHS = new Set(
  `januar februar marz mai juni juli oktober dezember janvier fevrier mars avril juin juillet aout
  septembre octobre novembre decembre enero febrero marzo abril mayo junio julio agosto septiembre
  octubre noviembre diciembre gennaio febbraio aprile maggio giugno luglio settembre ottobre
  dicembre janeiro fevereiro marco maio junho julho setembro outubro novembro dezembro januari
  februari maart mei augustus augusti maj marts desember sierpnia stycznia lutego marca
  kwietnia maja czerwca lipca wrzesnia pazdziernika listopada grudnia ledna unora brezna dubna
  kvetna cervna cervence srpna zari rijna listopadu prosince tammikuuta helmikuuta maaliskuuta
  huhtikuuta toukokuuta kesakuuta heinakuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta
  januar februar marcius aprilis majus junius julius szeptember ianuarie februarie martie aprilie
  iunie iulie septembrie octombrie noiembrie decembrie ocak subat nisan mayis haziran temmuz
  agustos eylul ekim kasim aralik januari maret agustus января февраля марта апреля мая июня июля
  августа сентября октября ноября декабря січня лютого березня квітня травня червня липня серпня
  вересня жовтня листопада грудня`.split(/\s+/),
);

/** Tests whether a folded word names a month in any language. */
export function isMonthName(folded: string): boolean {
  return isMonth(folded) || OTHER_MONTHS.has(folded);
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
