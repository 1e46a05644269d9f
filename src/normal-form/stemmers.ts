import { stemmer as stemDutch } from "@orama/stemmers/dutch";
import { stemmer as stemFinnish } from "@orama/stemmers/finnish";
import { stemmer as stemFrench } from "@orama/stemmers/french";
import { stemmer as stemGerman } from "@orama/stemmers/german";
import { stemmer as stemGreek } from "@orama/stemmers/greek";
import { stemmer as stemHungarian } from "@orama/stemmers/hungarian";
import { stemmer as stemHindi } from "@orama/stemmers/indian";
import { stemmer as stemIndonesian } from "@orama/stemmers/indonesian";
import { stemmer as stemItalian } from "@orama/stemmers/italian";
import { stemmer as stemPortuguese } from "@orama/stemmers/portuguese";
import { stemmer as stemRomanian } from "@orama/stemmers/romanian";
import { stemmer as stemRussian } from "@orama/stemmers/russian";
import { stemmer as stemSpanish } from "@orama/stemmers/spanish";
import { stemmer as stemTurkishNoun } from "@orama/stemmers/turkish";
import { stemmer as stemUkrainianNoun } from "@orama/stemmers/ukrainian";
import { fold } from "./fold.ts";
import type { Language } from "./function-words.ts";
import {
  dropFleetingVowel,
  isUkrainian,
  stemCzech,
  stemPolish,
  stemScandinavian,
  stemTamil,
  stemTurkish,
  stemUkrainian,
} from "./light-stemmers.ts";

/** Stems a word in lower case. Some languages need its accents. */
export const STEMMERS: Record<Exclude<Language, "en">, (word: string) => string> = {
  de: (word) => toGermanStem(foldOthers(word, /[^a-zäöüß]+/g)),
  fr: toFrenchStem,
  // "busqué" is of "buscar".
  es: (word) => toHardConsonant(stemSpanish(toSpanishSingular(fold(word)))),
  it: (word) => stemItalian(fold(word).replace(SUPERLATIVE, "$1")).replace(/(?<=.[cg])h$/, ""),
  pt: (word) => toHardConsonant(stemPortuguese(toPortugueseSingular(spellPortuguese(word)))),
  nl: (word) => toDutchStem(fold(word)),
  scandinavian: (word) => stemScandinavian(fold(word)),
  fi: (word) => toFinnishStem(fold(word)),
  hu: (word) =>
    fold(toHungarianStem(foldOthers(word, /[^a-záéíóöőúüű]+/g))).replace(/(?<=..)[ae]$/, ""),
  ro: (word) => stemRomanian(word.replace(/iii$/, "ii").replaceAll("ş", "ș").replaceAll("ţ", "ț")),
  tr: (word) => stemTurkish(foldOthers(word, /[^a-zçğıöşü]+/g), stemTurkishNoun),
  id: (word) => stemIndonesian(fold(word)),
  pl: (word) => stemPolish(fold(word)),
  cs: (word) => stemCzech(fold(word)),
};

/** Folds letters that a language has only in words of others: "café" in German. */
const foldOthers = (word: string, others: RegExp) =>
  word.normalize("NFC").replaceAll(others, (letters) => fold(letters));

/**
 * The stemmer leaves "innen"; "ue" for "ü" is read as in its variant "german2". Before and after
 * its reforms, German writes "ph" and "f", and a consonant twice or three times.
 */
function toGermanStem(word: string): string {
  const spelled = word
    .replaceAll("ae", "ä")
    .replaceAll("oe", "ö")
    .replaceAll(/(?<!q)ue/g, "ü")
    .replaceAll("ph", "f")
    .replaceAll(/([fltpmnrs])\1\1/g, "$1$1");
  return stemGerman(spelled.replaceAll("ß", "ss").replace(/innen$/, "in"));
}

const SUPERLATIVE = /(?<=...)h?issim([aoie])$/;

/**
 * Strips diminutives and plurals, and writes the vowel of an open syllable as in a closed one,
 * where it is double: "manen" is of "maan", "mannen" of "man". "huizen" is "huis".
 */
function toDutchStem(word: string): string {
  const noun = word
    .replace(
      /(?<=[aeiouy].*)(?:(?<=[lnrm])etje|(?<=m)pje|(?<=n)kje|(?<=[iyjwlnr]|oe|eu)tje|je)s?$/,
      "",
    )
    .replace(/([bdfgklmnprst])\1$/, "$1")
    .replace(/(?<=..[^aeiouy][aou])s$/, "");
  if (noun !== word) return toDutchStem(noun);
  const [, before = "", vowel = "", consonant = ""] =
    /^(.*?)(?<![aeiouy])([aou]|(?<![aeiouy].*)e)([bdfgklmnprstvz])e[nr]?s?$/.exec(word) ?? [];
  const long = vowel === "" ? word : `${before}${vowel}${vowel}${consonant}`;
  const isLong = /([aeou])\1[^aeiouy]$/.test(long) && long.length < 9;
  const stem = isLong ? long : /^..?.?[iu]s$/.test(word) ? word : stemDutch(word);
  return stem
    .replace(/z$/, "s")
    .replace(/v$/, "f")
    .replace(/(?<=[aeiouy].*[^aeiouy])s$/, "")
    .replace(/(?<=[aeiou])([^aeiou])\1$/, "$1");
}

/**
 * "kaupungissa" gives "kaupung", which is "kaupunki". The stemmer writes a double consonant once,
 * by which words differ: "matto" and "mato".
 */
function toFinnishStem(word: string): string {
  const stem = stemFinnish(word).replace(/ng$/, "nk");
  const [, before = "", consonant = "", vowels = ""] =
    /^(.*)([^aeiouy])([aeiouy]*)$/.exec(stem) ?? [];
  const double = before + consonant + consonant;
  return word.startsWith(double) ? double + vowels : stem;
}

/** Twice: "boulangère" gives "boulanger", which gives "boulang". "mangeons" is "mangons". */
function toFrenchStem(word: string): string {
  // "foie" is no form of "fois".
  if (/^..?oies?$/.test(word)) return word.replace(/s$/, "");
  const spelled = word
    .replaceAll("œ", "oe")
    .replaceAll(/ge(?=[aoâ])/g, "g")
    .replaceAll("ç", "c");
  return stemFrench(stemFrench(spelled));
}

/** Twice if it is long: "macskák" gives "macska", which gives "macs". */
function toHungarianStem(word: string): string {
  // "bors" is no form of "bor".
  if (/^[^aáeéiíoóöőuúüű]?[aáeéiíoóöőuúüű][^aáeéiíoóöőuúüű]s$/.test(word)) return word;
  const stem = stemHungarian(word);
  return stem.length > 4 ? stemHungarian(stem) : stem;
}

const toSpanishSingular = (folded: string) =>
  folded.replace(/ces$/, "z").replace(/(?<=...[aeio]r)es$/, "");

/** Writes what stems end in before "e" and "i" as before other vowels: "cheguei", "cruce". */
function toHardConsonant(stem: string): string {
  return stem.replace(/(?<=..)(?:qu|gu|z)$/, (end) => (end === "gu" ? "g" : "c"));
}

/** Writes a word as since the reform of 1990: "acção" is "ação", "óptimo" is "ótimo". */
function spellPortuguese(word: string): string {
  return fold(word.replace(/c(?=ç)|(?<=[aeo])c(?=[ct])|(?<=[aeoó])p(?=[çt])/g, ""));
}

/** "corações" is "coração", "animais" is "animal". */
function toPortugueseSingular(folded: string): string {
  if (folded.length < 4) return folded;
  const singular = folded.replace(/(?:oes|(?<!m)aes|aos)$/, "ao");
  return folded.length < 5 ? singular : singular.replace(/(?<=[aeou])is$/, "l");
}

/**
 * Stemmers of scripts, each of the language that most of its words here are in, and the fewest
 * letters of a stem: a shorter one would be that of too many words.
 */
const SCRIPTS: readonly (readonly [RegExp, (folded: string) => string, number])[] = [
  [/^\p{Script=Cyrillic}+$/u, stemCyrillic, 3],
  [/^\p{Script=Greek}+$/u, stemModernGreek, 3],
  [/^\p{Script=Arabic}+$/u, stemArabic, 3],
  [/^\p{Script=Hebrew}+$/u, stemHebrew, 3],
  [/^\p{Script=Armenian}+$/u, stemArmenian, 2],
  [/^\p{Script=Georgian}+$/u, stemGeorgian, 3],
  [/^[\p{Script=Devanagari}\p{M}]+$/u, (word) => stemHindi(spellHindi(word)), 2],
  [/^[\p{Script=Bengali}\p{M}]+$/u, stemBengali, 2],
  [/^[\p{Script=Tamil}\p{M}]+$/u, stemTamil, 2],
];

/** Stems a folded word by its script. Words of other scripts stay. */
export function stemByScript(folded: string): string {
  const [, stem, minLetters] = SCRIPTS.find(([script]) => script.test(folded)) ?? [];
  if (stem === undefined) return folded;
  const stemmed = fold(stem(folded));
  return stemmed.length < minLetters! ? folded : stemmed;
}

function stemCyrillic(word: string): string {
  const isOther = isUkrainian(word);
  return dropFleetingVowel(isOther ? stemUkrainian(word, stemUkrainianNoun) : stemRussian(word));
}

/** Strips what Arabic writes with a word (Larkey et al., "Light stemming", 2007: light10). */
function stemArabic(word: string): string {
  return word
    .replace(/^(?:[وفبك]?ال|و?لل)(?=...)/, "")
    .replace(/^و(?=....)/, "")
    .replace(/(?<=...)(?:ت?(?:ها|هم|نا)|ت[يهك]|ات|ون|ين|ان|يه|[هي])$/, "");
}

/** "παιδιά" is "παιδί". */
function stemModernGreek(word: string): string {
  return stemGreek(word).replace(/(?<=....)ι[αο]?$/, "");
}

/** Strips an article or a case, and the plural of an Armenian noun. */
function stemArmenian(word: string): string {
  return word
    .replace(/(?<=..)(?:ից|ով|ում|ին|երի|ը|(?<=.[աեէիօ])ն|(?<=..ր)[իսդ])$/, "")
    .replace(/(?<=...)ներ$|(?<=..)եր$/, "");
}

/** Strips a postposition, a case and the plural of a Georgian noun. */
function stemGeorgian(word: string): string {
  return word
    .replace(/(?<=...)(?:ისთვის|ისგან|იდან|ამდე|თან|ზე|ში|მდე)$/, "")
    .replace(/(?<=..)(?:ების|ებმა|ებით|ებად|ებს|ები|ება|ებ|ის|მა|ით|ად|ს|ი|ა|ო|ე)$/, "");
}

/** Writes "नयी" as "नई", which is the same sound. */
function spellHindi(word: string): string {
  return word.replace(/(?<=.)यी$/, "ई").replace(/(?<=.)ये$/, "ए");
}

/**
 * Strips up to two endings, of articles, number and case, or of a verb. Long and short "i" and "u"
 * are mixed up.
 */
function stemBengali(word: string): string {
  const ending = /(?<=..)(?:গুলো|গুলি|দের|টি|টা|কে|রা|তে|র|ে)$/;
  const verb = /(?<=..)(?:ওয়া|ওয়া|চ্ছি|চ্ছে|লাম|বে|বো|ই|য়|য়)$/;
  const noun = word.replace(verb, "").replace(ending, "").replace(ending, "");
  return noun.replaceAll("ী", "ি").replaceAll("ঈ", "ই").replaceAll("ূ", "ু").replaceAll("ঊ", "উ");
}

/**
 * Strips prefixes that Hebrew writes with a word, and the ending of a plural. A letter has another
 * form at the end of a word: "שולחן", "שולחנות".
 */
function stemHebrew(word: string): string {
  return word
    .replace(/^ו?[שכלבמ]?ה(?=...)/, "")
    .replace(/^[וכלבמ](?=....)/, "")
    .replace(/(?<=...)(?:ים|ות|ה)$/, "")
    .replaceAll(/[ךםןףץ]/g, (letter) => FINAL_FORMS[letter]!);
}

const FINAL_FORMS: Record<string, string> = { ך: "כ", ם: "מ", ן: "נ", ף: "פ", ץ: "צ" };
