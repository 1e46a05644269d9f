const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Emoji that take two columns, also as sequences: flags, families, keycaps. */
const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u;
/** Combining marks, invisible characters, and the Hangul vowels and finals of a syllable. */
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}\p{Cf}\u1160-\u11FF]$/u;
/** Characters that UAX 11 calls wide or fullwidth. */
const WIDE = new RegExp(
  "^[\\u1100-\\u115F\\u2E80-\\u303E\\u3041-\\u33FF\\u3400-\\u4DBF\\u4E00-\\uA4CF\\uA960-\\uA97F" +
    "\\uAC00-\\uD7A3\\uF900-\\uFAFF\\uFE10-\\uFE19\\uFE30-\\uFE6F\\uFF01-\\uFF60\\uFFE0-\\uFFE6" +
    "\\u{16FE0}-\\u{18D08}\\u{1B000}-\\u{1B2FB}\\u{1F200}-\\u{1F265}\\u{20000}-\\u{3FFFD}]$",
  "u",
);
const RIGHT_TO_LEFT =
  /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/** Returns the number of terminal columns that a line of text takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** Cuts text to `width` columns, with an ellipsis as the last one. */
export function truncateToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let result = "";
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    used += graphemeWidth(segment);
    if (used > width - 1) break;
    result += segment;
  }
  return width > 0 ? `${result}…` : "";
}

/** Cuts or fills text to exactly `width` columns, and isolates right-to-left text. */
export function fitToWidth(text: string, width: number, align: "left" | "right" = "left"): string {
  const cut = truncateToWidth(text, width);
  const padding = " ".repeat(Math.max(0, width - displayWidth(cut)));
  const cell = RIGHT_TO_LEFT.test(cut) ? `\u2068${cut}\u2069` : cut;
  return align === "right" ? padding + cell : cell + padding;
}

function graphemeWidth(grapheme: string): number {
  if (EMOJI.test(grapheme)) return 2;
  let width = 0;
  for (const character of grapheme) {
    if (WIDE.test(character)) width += 2;
    else if (!ZERO_WIDTH.test(character)) width += 1;
  }
  return width;
}
