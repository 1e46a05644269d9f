import { fold } from "./fold.ts";
import { isFunctionWord, type Language } from "./function-words.ts";

/** A time of day in words: "H" is the hour, "M" the minute. */
export interface ClockPattern {
  words: string[];
  /** Minutes that the words add to the hour; they may be less than none. */
  minutes: number;
  /** Whether minutes in words are before the hour: "ten to five". */
  isBefore: boolean;
  /** Which half of the day the words say; "either" if they don't. "24" counts all hours. */
  half: "am" | "pm" | "either" | "24";
  /** Whether it is a time only before words for the half of the day: "three in the afternoon". */
  needsPart?: true;
}

/**
 * Times by language, each with the minutes that it adds; behind one that counts all hours "24",
 * behind one with minutes "past" or "to".
 */
const CLOCK: Partial<Record<Language, string>> = {
  en: `half past H 30|quarter past H 15|a quarter past H 15|quarter to H -15|a quarter to H -15
    |H o clock 0|M past H past|M to H to|M minutes past H past|M minutes to H to`,
  de: `halb H -30|viertel nach H 15|viertel vor H -15|dreiviertel H -15|M nach H past|M vor H to
    |H uhr M 24|H uhr 24`,
  fr: `H heures et demie 30|H heure et demie 30|H heures et quart 15|H heures moins le quart -15
    |H heures M 24|H heures 24`,
  es: "H y media 30|H y cuarto 15|H menos cuarto -15|las H 24",
  it: "H e mezza 30|H e mezzo 30|H e un quarto 15|H meno un quarto -15|ore H 24|alle H 24",
  pt: "H e meia 30|às H horas 24|H horas 24|às H 24",
  nl: "half H -30|kwart over H 15|kwart voor H -15|M over H past|M voor H to|H uur 24",
  scandinavian: `halv H -30|kvart över H 15|kvart over H 15|kvart i H -15|kvart på H -15
    |M över H past|M over H past|klockan H 24|klokken H 24|klokka H 24|kl H 24`,
  fi: "puoli H -30|kello H 24|klo H 24",
  hu: "fél H -30|negyed H -45|háromnegyed H -15|H óra 24|H órakor 24",
  pl: "wpół do H -30|godzina H 24|godz H 24",
  cs: "půl H -30|v H hodin 24",
  ro: "H și jumătate 30|H și un sfert 15|H fără un sfert -15|ora H 24",
  tr: "H buçuk 30|saat H 24",
  id: "setengah H -30|jam H 24|pukul H 24",
};

/** Words behind a time or an hour that say the half of the day, by language. */
const DAY_PARTS: Partial<Record<Language, Record<"am" | "pm", string>>> = {
  en: { am: "in the morning|am", pm: "in the afternoon|in the evening|pm" },
  de: { am: "morgens|vormittags|früh|uhr morgens", pm: "nachmittags|abends|uhr abends" },
  fr: { am: "heures du matin|du matin", pm: "heures de l après midi|heures du soir|du soir" },
  es: { am: "de la mañana|de la madrugada", pm: "de la tarde|de la noche" },
  it: { am: "di mattina|del mattino", pm: "del pomeriggio|di sera" },
  pt: { am: "da manhã|da madrugada", pm: "da tarde|da noite" },
  nl: { am: "uur s ochtends|uur s morgens|s ochtends", pm: "uur s middags|uur s avonds|s avonds" },
  scandinavian: {
    am: "på morgonen|om morgenen|på förmiddagen|om formiddagen",
    pm: `på eftermiddagen|på kvällen|om eftermiddagen|om aftenen|om ettermiddagen|om kvelden`,
  },
  fi: { am: "aamulla", pm: "illalla|iltapäivällä" },
  hu: { am: "reggel|délelőtt", pm: "délután|este" },
  pl: { am: "rano", pm: "wieczorem|po południu" },
  cs: { am: "ráno|hodin ráno", pm: "večer|odpoledne|hodin večer" },
  ro: { am: "dimineața", pm: "după amiaza|seara" },
  id: { am: "pagi", pm: "siang|sore|malam" },
};

const PATTERNS = new Map<string, ClockPattern[]>();
const WORDS = new Set<string>();
const addWords = (language: string, phrases: readonly { words: string[] }[]) => {
  const isTelling = (word: string) =>
    word.length > 1 && !isFunctionWord(word, language as Language);
  for (const word of phrases.flatMap(({ words }) => words).filter(isTelling)) {
    WORDS.add(`${language} ${word}`);
  }
};
for (const [language, patterns] of Object.entries(CLOCK)) {
  const own = patterns.split("|").map((pattern): ClockPattern => {
    const words = pattern.trim().split(/\s+/);
    const last = words.pop()!;
    return {
      words: words.map((word) => (/^[HM]$/.test(word) ? word : fold(word))),
      minutes: last === "24" ? 0 : Number(last) || 0,
      isBefore: last === "to",
      half: last === "24" ? "24" : "either",
    };
  });
  PATTERNS.set(language, own);
  addWords(language, own);
}
const PARTS = new Map<string, { words: string[]; half: "am" | "pm" }[]>();
for (const [language, halves] of Object.entries(DAY_PARTS)) {
  const own = (["am", "pm"] as const).flatMap((half) =>
    halves[half].split("|").map((part) => ({ words: fold(part).split(" "), half })),
  );
  PARTS.set(language, own);
  addWords(language, own);
  const alone: ClockPattern = { words: ["H"], minutes: 0, isBefore: false, half: "either" };
  PATTERNS.set(language, [...(PATTERNS.get(language) ?? []), { ...alone, needsPart: true }]);
}

/** Returns which half of the day words say, and how many of them; null if they say none. */
export function readDayPart(
  words: readonly string[],
  language: Language,
): { half: "am" | "pm"; length: number } | null {
  const part = PARTS.get(language)?.find((one) => one.words.every((word, i) => words[i] === word));
  return part ? { half: part.half, length: part.words.length } : null;
}

/** Returns the times of a language that begin with a word; with a number without one. */
export function clockPatterns(language: Language, first: string | null): readonly ClockPattern[] {
  return BY_FIRST.get(`${language} ${first ?? "H"}`) ?? [];
}

const BY_FIRST = new Map<string, ClockPattern[]>();
for (const [language, patterns] of PATTERNS) {
  for (const pattern of patterns) {
    const [first = ""] = pattern.words;
    const key = `${language} ${first === "M" ? "H" : first}`;
    BY_FIRST.set(key, [...(BY_FIRST.get(key) ?? []), pattern]);
  }
}

/** Words for percent, some of them of two words. */
const PERCENT = new Set("pour cent|por ciento|per cento|por cento|per cent".split("|"));
const PERCENT_WORDS = new Set(
  "prozent procent prosent procenta yuzde persen процент процентов".split(" "),
);

/** Returns how many of the first two folded words mean percent. */
export function percentLength(first: string, second: string | undefined): number {
  if (PERCENT_WORDS.has(first)) return 1;
  const mayBe = first === "pour" || first === "por" || first === "per";
  return mayBe && PERCENT.has(`${first} ${second ?? ""}`) ? 2 : 0;
}

/** Tests whether a folded word tells that a text may have a time or a share in words. */
export function isClockWord(folded: string, language: Language): boolean {
  return WORDS.has(`${language} ${folded}`) || PERCENT_WORDS.has(folded) || folded === "cent";
}

/** Writes a time of day as a term: "17h45". A time of either half of the day ends in "o". */
export function toClockTerm(
  hour: number,
  minutes: number,
  half: ClockPattern["half"],
): string | null {
  if (hour > 24 || minutes >= 60) return null;
  const isTold = half === "24" || hour > 12;
  const base = isTold ? hour : (hour % 12) + (half === "pm" ? 12 : 0);
  const total = (60 * (half === "either" ? hour : base) + minutes + 24 * 60) % (24 * 60);
  const [hours, rest] = [Math.floor(total / 60), String(total % 60).padStart(2, "0")];
  return half === "either" && !isTold ? `${hours % 12}h${rest}o` : `${hours}h${rest}`;
}

/** Returns other terms of the same time: "17h30" may be "5h30o", and that is "5h30", too. */
export function otherClockTerms(term: string): string[] {
  const [, hour = "", minutes = "", mark = ""] = /^(\d{1,2})h(\d{2})(o?)$/.exec(term) ?? [];
  if (hour === "") return [];
  if (mark === "") return [`${Number(hour) % 12}h${minutes}o`];
  return [`${hour}h${minutes}`, `${Number(hour) + 12}h${minutes}`];
}
