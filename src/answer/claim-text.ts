/** Characters that don't show: format and joining characters, variation selectors, fillers. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const DOT = String.raw`[.。‧∙⋅·・]`;
/** A letter of a script that hosts and codes are mostly written in, or a digit. */
const ALPHABETIC = String.raw`[\p{scx=Latin}\p{scx=Cyrillic}\p{scx=Greek}\d]`;
/** A dot between the labels of a host, also in brackets or spelled out: `[.]`, `(dot)`. */
const HIDDEN_DOT = new RegExp(
  String.raw`(?<!\s)\s*[([{<]\s*(?:${DOT}|dot|punkt|point|punto)\s*[)\]}>]\s*|(?<=${ALPHABETIC})${DOT}(?=${ALPHABETIC})`,
  "giu",
);
const HIDDEN_AT =
  /(?<!\s)\s*[([{<]\s*(?:@|at|ät|arroba)\s*[)\]}>]\s*|(?<=\S)\s+@\s+(?=\S)|[＠﹫]/giu;
/** Top-level domains before which a spelled-out "dot" is one. */
const SPOKEN_DOMAIN =
  /(?<=\S)\s+dot\s+(?=(?:ai|app|biz|cc|cn|co|com|de|dev|edu|es|eu|example|fr|gov|info|invalid|io|it|me|net|org|ru|shop|site|test|tv|uk|us|xyz)\b)/giu;
const SPOKEN_AT = /(?<=[\p{L}\p{N}])\s+at\s+(?=[\p{L}\p{N}-]+\.\p{L})/giu;

/**
 * Normalises the text of a claim or a source, so that disguised contact details and numbers are
 * recognised: compatibility forms (NFKC), invisible characters, digits of all scripts, dots and at
 * signs in brackets or spelled out.
 */
export function normalizeClaimText(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(INVISIBLE, "")
    .replaceAll(/\p{Nd}/gu, toAsciiDigit)
    .replaceAll(HIDDEN_DOT, ".")
    .replaceAll(SPOKEN_DOMAIN, ".")
    .replaceAll(HIDDEN_AT, "@")
    .replaceAll(SPOKEN_AT, "@");
}

/** Converts a decimal digit. The ten digits of a script start at a code point …0 or …6. */
function toAsciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  const offset = code % 16;
  const startsAtZero = /\p{Nd}/u.test(String.fromCodePoint(code - offset));
  return String(startsAtZero ? offset : offset - 6);
}
