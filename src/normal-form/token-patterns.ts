import { UNSEGMENTED_SCRIPT } from "../unsegmented-scripts.ts";

/** A text of which every word is a token by itself, or has an apostrophe within. */
export const ONLY_WORDS = /^(?:[a-z\s,;:?()"…“”«»¿¡’'À-ɏ]|[.!](?![a-z]))*$/i;
/** A Korean syllable that is written as its letters: an initial, a vowel, perhaps a final. */
const JAMO = "[\\u1100-\\u115E][\\u1161-\\u11A7][\\u11A8-\\u11FF]?";
/** A letter of an unsegmented script with its marks, or a run of other letters or of digits. */
export const PART = new RegExp(
  `${JAMO}|(?=${UNSEGMENTED_SCRIPT})\\p{L}[\\p{M}\\uFF9E\\uFF9F]*|\\p{N}+|` +
    `(?:(?!${UNSEGMENTED_SCRIPT})[\\p{L}\\p{M}])+`,
  "gu",
);
export const ACRONYM = /(?:[a-z]|[A-Z][a-z])\.(?:[a-z]\.)*[a-z](?![\p{L}\p{N}])\.?/iuy;
/** A word that a capital letter or a digit begins, or capital letters alone. */
export const HASHTAG_WORD = /\p{Lu}+(?!\p{Ll})|\p{L}[\p{Ll}\p{M}]*|\p{N}+/gu;
/** A percent sign before a number, as Turkish writes it: "%50". */
export const PERCENT_BEFORE = /(?:^|\s)%\s?$/;
export const APOSTROPHE = /['’ʼ‘`´]/;
/** Quotation marks that Hebrew has in abbreviations. */
export const GERSHAYIM = /["״'׳’]/;
const HYPHEN = /[-‐‑]/;
export const CURRENCIES: Record<string, string> = { $: "dollar", "£": "pound", "¥": "yen" };
export const CONTRACTIONS = new Set(["t", "re", "ve", "ll", "d", "m"]);
export const ELISIONS = new Set("l d j t m s c qu jusqu lorsqu puisqu".split(" "));

/** Tests for a character that joins two words if it is alone between them. */
export function isJoint(character: string): boolean {
  if (character === " ") return false;
  return HYPHEN.test(character) || APOSTROPHE.test(character);
}

/** Tests for a character behind a word that may change how it is read. */
export function isSpecial(next: string): boolean {
  if (next === " " || next === "") return false;
  if (next === "!" || next === "$") return true;
  return next === "+" || next === "#" || next === "&" || APOSTROPHE.test(next) || next === '"';
}
