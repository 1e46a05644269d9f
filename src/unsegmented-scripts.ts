/**
 * Source of a regular expression (flag `u`) for one letter of a script without spaces between words
 * (UAX #29), or of Hangul, where particles follow a word without one.
 */
export const UNSEGMENTED_SCRIPT =
  "[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}" +
  "\\p{scx=Hangul}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}]";
const UNSEGMENTED_LETTER = new RegExp(UNSEGMENTED_SCRIPT, "u");

/** Tests whether a text has a letter of such a script. */
export function hasUnsegmentedScript(text: string): boolean {
  return UNSEGMENTED_LETTER.test(text);
}
