/** A letter of a script that puts no spaces between words, as a regular expression has it. */
export const UNSPACED =
  "[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}]";
const HAS_UNSPACED = new RegExp(UNSPACED, "u");

/** Whether any of a text is in such a script. */
export function hasUnspaced(text: string): boolean {
  return HAS_UNSPACED.test(text);
}
