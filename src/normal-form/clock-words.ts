import { fold } from "./fold.ts";
import type { Language } from "./function-words.ts";

/** A time of day in words: "H" is the hour, "M" the minute. */
export interface ClockPattern {
  words: string[];
  /** Minutes that the words add to the hour; they may be less than none. */
  minutes: number;
  /** Whether the hour may be of the morning or of the afternoon. */
  isHalfDay: boolean;
}

/** Times by language, each with the minutes; a language that writes "14 Uhr" has "24" behind. */
const CLOCK: Partial<Record<Language, string>> = {
  en: "half past H 30|quarter past H 15|a quarter past H 15|quarter to H -15|a quarter to H -15|H o clock 0",
  de: "halb H -30|viertel nach H 15|viertel vor H -15|dreiviertel H -15|H uhr M 24|H uhr 24",
  fr: `H heures et demie 30|H heure et demie 30|H heures et quart 15|H heures moins le quart -15
    |H heures M 24|H heures 24`,
  es: "H y media 30|H y cuarto 15|H menos cuarto -15",
  it: "H e mezza 30|H e mezzo 30|H e un quarto 15|H meno un quarto -15",
  pt: "H e meia 30",
  nl: "half H -30|kwart over H 15|kwart voor H -15|H uur 24",
  scandinavian: `halv H -30|kvart över H 15|kvart over H 15|kvart i H -15|kvart på H -15`,
};

const PATTERNS = new Map<string, ClockPattern[]>();
const WORDS = new Set<string>();
for (const [language, patterns] of Object.entries(CLOCK)) {
  for (const pattern of patterns.split("|")) {
    const words = fold(pattern.trim()).split(/\s+/);
    const minutes = Number(words.pop());
    const own = words.map((word) => (/^[hm]$/.test(word) ? word.toUpperCase() : word));
    const isHalfDay = minutes !== 24;
    PATTERNS.set(language, [
      ...(PATTERNS.get(language) ?? []),
      { words: own, minutes: isHalfDay ? minutes : 0, isHalfDay },
    ]);
    for (const word of own.filter((one) => one.length > 2)) WORDS.add(`${language} ${word}`);
  }
}

/** Returns the times of a language, in words. */
export function clockPatterns(language: Language): readonly ClockPattern[] {
  return PATTERNS.get(language) ?? [];
}

/** Words for percent, some of them of two words. */
const PERCENT = new Set("pour cent|por ciento|per cento|por cento|per cent".split("|"));
const PERCENT_WORDS = new Set(
  "prozent procent prosent procenta yuzde persen процент процентов".split(" "),
);

/** Tests whether folded words mean percent. */
export function isPercent(words: readonly string[]): boolean {
  return words.length === 1 ? PERCENT_WORDS.has(words[0]!) : PERCENT.has(words.join(" "));
}

/** Tests whether a folded word may be of a time or a share. */
export function isClockWord(folded: string, language: Language): boolean {
  return WORDS.has(`${language} ${folded}`) || PERCENT_WORDS.has(folded) || folded === "cent";
}

/** Writes a time of day as a term: "17h45". A time of either half of the day ends in "o". */
export function toClockTerm(hour: number, minutes: number, isHalfDay: boolean): string | null {
  const total = 60 * hour + minutes;
  if (hour > (isHalfDay ? 12 : 24) || total < 0 || minutes >= 60) return null;
  const [hours, rest] = [Math.floor(total / 60), String(total % 60).padStart(2, "0")];
  return isHalfDay ? `${hours % 12}h${rest}o` : `${hours % 24}h${rest}`;
}

/** Returns other terms of the same time: "17h30" may be "5h30o", and that is "5h30", too. */
export function otherClockTerms(term: string): string[] {
  const [, hour = "", minutes = "", mark = ""] = /^(\d{1,2})h(\d{2})(o?)$/.exec(term) ?? [];
  if (hour === "") return [];
  if (mark === "") return [`${Number(hour) % 12}h${minutes}o`];
  return [`${hour}h${minutes}`, `${Number(hour) + 12}h${minutes}`];
}
