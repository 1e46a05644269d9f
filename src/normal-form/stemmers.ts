import { stemmer as stemDutch } from "@orama/stemmers/dutch";
import { stemmer as stemFrench } from "@orama/stemmers/french";
import { stemmer as stemGerman } from "@orama/stemmers/german";
import { stemmer as stemGreek } from "@orama/stemmers/greek";
import { stemmer as stemHindi } from "@orama/stemmers/indian";
import { stemmer as stemItalian } from "@orama/stemmers/italian";
import { stemmer as stemPortuguese } from "@orama/stemmers/portuguese";
import { stemmer as stemRussian } from "@orama/stemmers/russian";
import { stemmer as stemSpanish } from "@orama/stemmers/spanish";
import { fold } from "./fold.ts";
import type { Language } from "./function-words.ts";

/** Stems a word in lower case. German and French need its accents. */
export const STEMMERS: Record<Exclude<Language, "en">, (word: string) => string> = {
  de: toGermanStem,
  fr: toFrenchStem,
  // "luces" is "luz".
  es: (word) => stemSpanish(fold(word).replace(/ces$/, "z")),
  it: (word) => stemItalian(fold(word)),
  pt: (word) => stemPortuguese(toPortugueseSingular(fold(word))),
  // "huizen" gives "huiz", which is "huis".
  nl: (word) => stemDutch(fold(word)).replace(/z$/, "s").replace(/v$/, "f"),
};

/** The stemmer leaves "innen"; "ue" for "ü" is read as in its variant "german2". */
function toGermanStem(word: string): string {
  const spelled = word
    .replaceAll("ae", "ä")
    .replaceAll("oe", "ö")
    .replaceAll(/(?<!q)ue/g, "ü");
  return stemGerman(spelled.replaceAll("ß", "ss").replace(/innen$/, "in"));
}

/** Twice: "boulangère" gives "boulanger", which gives "boulang". "mangeons" is "mangons". */
function toFrenchStem(word: string): string {
  const spelled = word
    .replaceAll("œ", "oe")
    .replaceAll(/ge(?=[aoâ])/g, "g")
    .replaceAll("ç", "c");
  return stemFrench(stemFrench(spelled));
}

/** "corações" is "coração", "animais" is "animal". */
function toPortugueseSingular(folded: string): string {
  if (folded.length < 5) return folded;
  return folded.replace(/(?:oes|aes|aos)$/, "ao").replace(/(?<=[aeou])is$/, "l");
}

/**
 * Stemmers of scripts, each of the language that most of its words here are in, and the fewest
 * letters of a stem: a shorter one would be that of too many words.
 */
const SCRIPTS: readonly (readonly [RegExp, (folded: string) => string, number])[] = [
  [/^\p{Script=Cyrillic}+$/u, stemRussian, 3],
  [/^\p{Script=Greek}+$/u, stemGreek, 3],
  [/^\p{Script=Arabic}+$/u, stemArabic, 3],
  [/^\p{Script=Hebrew}+$/u, stemHebrew, 3],
  [/^[\p{Script=Devanagari}\p{M}]+$/u, stemHindi, 3],
  [/^[\p{Script=Bengali}\p{M}]+$/u, stemBengali, 2],
];

/** Stems a folded word by its script. Words of other scripts stay. */
export function stemByScript(folded: string): string {
  const [, stem, minLetters] = SCRIPTS.find(([script]) => script.test(folded)) ?? [];
  if (stem === undefined) return folded;
  const stemmed = fold(stem(folded));
  return stemmed.length < minLetters! ? folded : stemmed;
}

/** Strips what Arabic writes with a word (Larkey et al., "Light stemming", 2007: light10). */
function stemArabic(word: string): string {
  return word
    .replace(/^(?:[وفبك]?ال|و?لل)(?=...)/, "")
    .replace(/^و(?=....)/, "")
    .replace(/(?<=...)(?:ت?(?:ها|هم|نا)|ت[يهك]|ات|ون|ين|ان|يه|[هي])$/, "");
}

/** Strips up to two endings, of articles, number and case. Long and short "i" are mixed up. */
function stemBengali(word: string): string {
  const ending = /(?<=..)(?:গুলো|গুলি|দের|টি|টা|কে|রা|তে|র|ে)$/;
  return word.replace(ending, "").replace(ending, "").replaceAll("ী", "ি");
}

/** Strips prefixes that Hebrew writes with a word, and the ending of a plural. */
function stemHebrew(word: string): string {
  return word
    .replace(/^ו?[שכלבמ]?ה(?=...)|^[ושכלבמ](?=....)/, "")
    .replace(/(?<=...)(?:ים|ות)$/, "");
}
