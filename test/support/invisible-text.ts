/** Characters that end a line for some reader, don't show, or turn the text around them. */
const HARMFUL =
  /[\p{Zl}\p{Zp}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]|(?![\n\t])\p{Cc}/u;

/** All that some reader takes for the end of a line: Unicode, and `splitlines` of Python. */
export const LINE_END = new RegExp(
  `\r\n|[\n\r\v\f\u0085\u2028\u2029${String.fromCodePoint(0x1c, 0x1d, 0x1e)}]`,
);

/** Texts with such characters, each with the word "cat" on both sides. */
export const INVISIBLE_TEXTS: readonly string[] = [
  ...Array.from("\u2028\u2029\u0085\v\f\u001C\u001D\u001E\u0000\u0007\u001B\u007F\u009B"),
  ...Array.from(
    "\u061C\u200B\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2060\u2063\u2066\u2069\uFEFF\uFFF9\u3164",
  ),
  "\u{E0041}",
  "\u{E0001}\u{E007F}",
  "\u{1F3F4}\u{E0069}\u{E0067}\u{E006E}\u{E007F}",
].map((character) => `cat${character}cat`);

/** Whether a text has no harmful character, and ends lines with "\n" only. */
export function isVisible(text: string): boolean {
  return !HARMFUL.test(text);
}
