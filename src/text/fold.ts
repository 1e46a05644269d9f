import { normalizeText } from "../normalize-text.ts";
import letters from "./letters.json" with { type: "json" };
import data from "./traditional-han.json" with { type: "json" };

/** Letters that NFKD doesn't decompose, and letters that are written for one another. */
const LETTERS: Readonly<Record<string, string>> = letters;
const LETTER = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "gu");

/**
 * Marks that don't tell words apart: all of Latin, Greek, Hebrew and Arabic, the diaeresis and the
 * accents of Cyrillic, and the nukta. Vowel signs of other scripts are marks, too, and stay.
 */
const MARKS =
  /([\p{Script=Latin}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}])\p{M}+|(?<=\p{Script=Cyrillic})[\u0300\u0301\u0308]|[\u093C\u09BC\u0A3C]/gu;
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

/** Writes the digits of all scripts as ASCII digits. */
export function toAsciiDigits(text: string): string {
  return text.replaceAll(DIGITS, (digit) => String(digitValue(digit)));
}

/**
 * Folds what doesn't tell words apart in any script: case, compatibility characters (NFKC), accents
 * and points, letters that are written for one another, and the digits of scripts.
 */
export function fold(text: string): string {
  const lower = text.replaceAll("İ", "i").toLowerCase().replaceAll("և", "եվ");
  if (/^[\0-\x7F]*$/.test(lower)) return lower;
  const decomposed = normalizeText(lower, "NFKD").toLowerCase();
  const folded = toAsciiDigits(decomposed)
    .replaceAll(INVISIBLE, "")
    .replaceAll(MARKS, "$1")
    .replaceAll(LETTER, (letter) => LETTERS[letter] ?? letter)
    .replaceAll(DEVANAGARI_NASAL, "\u0902")
    .replaceAll(DECOMPOSED_AM, (letters) => (letters[0] === "\u0E4D" ? "\u0E33" : "\u0EB3"));
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

/** Traditional characters, and behind each the simplified one, made by `npm run word-forms`. */
export interface TraditionalHanData {
  pairs: string[];
}

let simplified: Map<string, string> | null = null;

function readPairs(): Map<string, string> {
  const { pairs }: TraditionalHanData = data;
  const letters = Array.from(pairs.join(""));
  return new Map(letters.flatMap((letter, i) => (i % 2 ? [] : [[letter, letters[i + 1]!]])));
}

/** Folds a letter of an unsegmented script: katakana and traditional characters, too. */
export function foldLetter(letter: string): string {
  simplified ??= readPairs();
  const kana = fold(letter).replaceAll(KATAKANA, (one) =>
    String.fromCodePoint(one.codePointAt(0)! - KATAKANA_TO_HIRAGANA),
  );
  return simplified.get(kana) ?? kana;
}

/** Returns the value of a decimal digit: Unicode encodes the ten of a script in a row. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0)!;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (code - zero) % 10;
}
