import { normalizeText } from "../normalize-text.ts";

/** Letters that NFKD doesn't decompose, and letters that are written for one another. */
const LETTERS: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ħ: "h",
  ı: "i",
  ŋ: "n",
  ς: "σ",
  "\u{671}": "ا", // alef wasla
  ى: "ي",
  ی: "ي",
  ک: "ك",
  ة: "ه",
  ۀ: "ه",
  ە: "ه",
  ھ: "ه",
  "\u0901": "\u0902", // Devanagari candrabindu and anusvara
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "gu");

/**
 * Marks that don't tell words apart: all of Latin, Greek, Hebrew and Arabic, the diaeresis and the
 * accents of Cyrillic, and the nukta. Vowel signs of other scripts are marks, too, and stay.
 */
const MARKS =
  /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}]\p{M}*)\p{M}|(?<=\p{Script=Cyrillic})[\u0300\u0301\u0308]|[\u093C\u09BC\u0A3C]/gu;
/** Tatweel, soft hyphen, and joiners, which no word needs. */
const INVISIBLE = /\u0640|\u00AD|\u200C|\u200D|\u2060|\uFEFF/gu;
/** A nasal consonant with virama is the anusvara before a consonant: हिन्दी, हिंदी. */
const DEVANAGARI_NASAL = /[ङञणनम]\u094D(?=[\u0915-\u0939])/gu;
/** Katakana letters that have a hiragana letter. */
const KATAKANA = /[\u30A1-\u30F6]/gu;
const KATAKANA_TO_HIRAGANA = 0x60;
/** The vowel "am" of Thai and Lao, which NFKD splits. */
const DECOMPOSED_AM = /\u0E4D\u0E32|\u0ECD\u0EB2/gu;
const DIGITS = /(?![0-9])\p{Nd}/gu;

/**
 * Folds what doesn't tell words apart in any script: case, compatibility characters (NFKC), accents
 * and points, letters that are written for one another, and the digits of scripts.
 */
export function fold(text: string): string {
  const lower = text.replaceAll("İ", "i").toLowerCase().replaceAll("և", "եվ");
  if (/^[\0-\x7F]*$/.test(lower)) return lower;
  const decomposed = normalizeText(lower, "NFKD").toLowerCase();
  const folded = decomposed
    .replaceAll(INVISIBLE, "")
    .replaceAll(MARKS, "")
    .replaceAll(LETTER, (letter) => LETTERS[letter] ?? letter)
    .replaceAll(DEVANAGARI_NASAL, "\u0902")
    .replaceAll(DECOMPOSED_AM, (letters) => (letters[0] === "\u0E4D" ? "\u0E33" : "\u0EB3"))
    .replaceAll(DIGITS, (digit) => String(digitValue(digit)));
  return normalizeText(folded, "NFC");
}

/** Letters that are also written as two: in German, Danish, Norwegian and Swedish. */
const DIGRAPHS: Record<string, string> = { ä: "ae", ö: "oe", ø: "oe", ü: "ue", å: "aa" };

/** Writes umlauts, "å" and "ø" of a word as two letters: "ål" is "aal". Null without them. */
export function writeDigraphs(word: string): string | null {
  const lower = normalizeText(word.toLowerCase(), "NFC");
  const written = lower.replaceAll(/[äöøüå]/g, (letter) => DIGRAPHS[letter]!);
  return written === lower ? null : written;
}

/** Writes pairs of letters of a folded word as umlauts, "å" and "ø" are folded: "aal" is "al". */
export function readDigraphs(folded: string): string {
  return folded.replaceAll(/([ao])e|(?<!q)(u)e|(a)a/g, "$1$2$3");
}

/** Writes katakana as hiragana. */
export function foldKana(text: string): string {
  return text.replaceAll(KATAKANA, (kana) =>
    String.fromCodePoint(kana.codePointAt(0)! - KATAKANA_TO_HIRAGANA),
  );
}

/** Returns the value of a decimal digit: Unicode encodes the ten of a script in a row. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0)!;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (code - zero) % 10;
}
