import type { Language } from "./function-words.ts";

export const MONTH_NAMES = `january february march april may june july august september october
  november december`.split(/\s+/);

/** Names of months as a date has them (CLDR), folded; several of one month are joined by "/". */
const OTHERS: Partial<Record<Language | "ru" | "uk" | "el", string>> = {
  de: "januar februar marz april mai juni juli august september oktober november dezember",
  fr: "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
  es: `enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre`,
  it: `gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre`,
  pt: `janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro`,
  nl: "januari februari maart april mei juni juli augustus september oktober november december",
  scandinavian: `januari/januar februari/februar mars/marts april maj/mai juni juli augusti/august
    september oktober november december/desember`,
  fi: `tammikuuta/tammikuu helmikuuta/helmikuu maaliskuuta/maaliskuu huhtikuuta/huhtikuu
    toukokuuta/toukokuu kesakuuta/kesakuu heinakuuta/heinakuu elokuuta/elokuu syyskuuta/syyskuu
    lokakuuta/lokakuu marraskuuta/marraskuu joulukuuta/joulukuu`,
  hu: `januar februar marcius aprilis majus junius julius augusztus szeptember oktober november
    december`,
  ro: `ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie
    decembrie`,
  tr: "ocak subat mart nisan mayis haziran temmuz agustos eylul ekim kasim aralik",
  id: "januari februari maret april mei juni juli agustus september oktober november desember",
  pl: `stycznia/styczen lutego/luty marca/marzec kwietnia/kwiecien maja/maj czerwca/czerwiec
    lipca/lipiec sierpnia/sierpien wrzesnia/wrzesien pazdziernika/pazdziernik listopada/listopad
    grudnia/grudzien`,
  cs: `ledna/leden unora/unor brezna/brezen dubna/duben kvetna/kveten cervna/cerven cervence/cervenec
    srpna/srpen zari rijna/rijen listopadu/listopad prosince/prosinec`,
  ru: `января/январь февраля/февраль марта/март апреля/апрель мая/май июня/июнь июля/июль
    августа/август сентября/сентябрь октября/октябрь ноября/ноябрь декабря/декабрь`,
  uk: `січня/січень лютого/лютии березня/березень квітня/квітень травня/травень червня/червень
    липня/липень серпня/серпень вересня/вересень жовтня/жовтень листопада/листопад грудня/грудень`,
  el: `ιανουαριου/ιανουαριος φεβρουαριου/φεβρουαριος μαρτιου/μαρτιος απριλιου/απριλιος μαιου/μαιος
    ιουνιου/ιουνιος ιουλιου/ιουλιος αυγουστου/αυγουστος σεπτεμβριου/σεπτεμβριος
    οκτωβριου/οκτωβριος νοεμβριου/νοεμβριος δεκεμβριου/δεκεμβριος`,
};

const BY_LANGUAGE = new Map<string, string[][]>();
/** The number of each month by its name in any language but English. */
const NUMBERS = new Map<string, number>();
for (const [language, names] of Object.entries(OTHERS)) {
  const months = names.split(/\s+/).map((month) => month.split("/"));
  BY_LANGUAGE.set(language, months);
  for (const [number, month] of months.entries()) {
    for (const name of month) NUMBERS.set(name, number);
  }
}

/** Tests whether a folded word names a month in a language other than English. */
export function isOtherMonth(folded: string): boolean {
  return NUMBERS.has(folded);
}

/** Returns the term of a month in a date of digits, by its name; null for another word. */
export function toMonthTerm(folded: string): string | null {
  const number = NUMBERS.get(folded) ?? MONTH_NAMES.indexOf(folded);
  return number < 0 ? null : `${MONTH}${number + 1}`;
}

const MONTH = "month";

/** Returns the names in a language, and the English one, of a month in a date of digits. */
export function namesOfMonth(term: string, language: Language): string[] {
  const number = term.startsWith(MONTH) ? Number(term.slice(MONTH.length)) - 1 : Number.NaN;
  const english = MONTH_NAMES[number];
  return english === undefined ? [] : [english, ...(BY_LANGUAGE.get(language)?.[number] ?? [])];
}

/** Returns the name of the month that a folded word is the beginning of; null if it is none. */
export function readMonthAbbreviation(folded: string, language: Language): string | null {
  if (folded.length < 3) return null;
  const months = BY_LANGUAGE.get(language) ?? [];
  return months.flat().find((name) => name.startsWith(folded)) ?? null;
}

/** Tests whether a word that a dot follows is beside the number of a day. */
export function isBesideDay(text: string, start: number, end: number): boolean {
  const isBefore = /^\.\s?\d{1,2}(?!\d)/.test(text.slice(end, end + 5));
  return isBefore || /(?<!\d)\d{1,2}\.?\s$/.test(text.slice(Math.max(0, start - 5), start));
}
