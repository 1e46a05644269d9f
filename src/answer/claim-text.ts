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
/** A dot with a space beside it, before a lower-case letter. */
const SPACED_DOT =
  /(?<=[\p{L}\d])(?:\s+\.\s*(?=[\p{Ll}\d])|\.\s+(?=(?:app|biz|com|dev|edu|example|gov|info|io|net|org|shop|xyz)\b))/gu;
/** Four letters or more that are spelled one by one. */
const SPELLED = /(?<![\p{L}\p{N}])\p{L}(?:[ .-]\p{L}(?![\p{L}\p{N}])){3,}/gu;
const CHINESE_DIGITS = "零一二三四五六七八九";
/** Three Chinese digits or more that are dictated one by one. */
const DICTATED_CHINESE = new RegExp(`[〇${CHINESE_DIGITS}]{3,}`, "gu");
const SPOKEN_AT = /(?<=[\p{L}\p{N}])\s+at\s+(?=[\p{L}\p{N}-]+\.\p{L})/giu;

/**
 * Normalises the text of a claim or a source, so that disguised contact details and numbers are
 * recognised: compatibility forms (NFKC), invisible characters, digits of all scripts, spelled
 * words, dots and at signs in brackets, spaced or spelled out.
 */
export function normalizeClaimText(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(INVISIBLE, "")
    .replaceAll(/\p{Nd}/gu, toAsciiDigit)
    .replaceAll(DICTATED_CHINESE, (run) => {
      return run.replaceAll(/./gu, (digit) => String(Math.max(0, CHINESE_DIGITS.indexOf(digit))));
    })
    .replaceAll(SPELLED, (run) => run.replaceAll(/[ .-]/g, ""))
    .replaceAll(HIDDEN_DOT, ".")
    .replaceAll(SPACED_DOT, ".")
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
