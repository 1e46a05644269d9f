import { normalizeText } from "../normalize-text.ts";

/** Characters that don't show: format and joining characters, variation selectors, fillers. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const DOT = String.raw`[.。‧∙⋅·・⸱۔܁]`;
/** Slashes that NFKC leaves: fraction slash, division slash, big solidus and diagonals. */
const SLASHES = /[⁄∕⧸⧶⟋╱]/gu;
/** A letter of a script that hosts and codes are mostly written in, or a digit. */
const ALPHABETIC = String.raw`[\p{scx=Latin}\p{scx=Cyrillic}\p{scx=Greek}\d]`;
/** The word "dot", also with look-alike or accented letters, or spaces between them. */
const DOT_WORD = String.raw`[dԁḋďđḍ]\s?[oоοօ0òóôõöøō]\s?[tтτťţṫṭŧ]`;
const OTHER_DOT_WORDS = "punkt|point|punto|ponto|punt|kropka|nokta|точка|period|full\\s?stop";
const HIDDEN_AT =
  /(?<!\s)\s*[([{<【〔]\s*(?:@|at|ät|arroba)\s*[)\]}>】〕]\s*|(?<=\S)\s+@\s+(?=\S)|[＠﹫]/giu;
/** Top-level domains that aren't words of a sentence. */
const CODES = `ai|app|biz|blog|cc|cn|co|com|cyou|dev|edu|eu|example|gov|icu|info|invalid|io|jp|lol|
  mobi|mov|net|nl|onion|org|pl|ru|shop|site|tv|uk|vip|website|xyz|zip|ком|рф`.replaceAll(/\s/g, "");
/** All that are recognised after words such as "point". */
const TOP_LEVEL = `${CODES}|ch|click|cloud|club|de|digital|es|finance|fr|fun|it|link|live|me|online|
  page|pro|space|store|support|tech|test|top|us|win|work|world|zone|нет|ру`.replaceAll(/\s/g, "");
/** A dot between the labels of a host, in brackets or joined (`[.]`, `(dot)`), or a sign for it. */
const HIDDEN_DOT = new RegExp(
  [
    String.raw`(?<!\s)\s*[([{<【〔]\s*(?:${DOT}|${DOT_WORD}|${OTHER_DOT_WORDS})\s*[)\]}>】〕]\s*`,
    String.raw`(?<=${ALPHABETIC})[-_*~]+(?:${DOT_WORD})[-_*~]+(?=${ALPHABETIC})`,
    String.raw`(?<=${ALPHABETIC})(?:${DOT}|\s?(?:点|點|ドット|닷)\s?)(?=${ALPHABETIC})`,
    String.raw`(?<=${ALPHABETIC})(?:[,;:]|\s?[\p{S}•◦]\uFE0F?\s?)(?=(?:${CODES})(?![\p{L}\p{N}]))`,
  ].join("|"),
  "giu",
);
/** A dot that is seen, "a red dot on the wall": words before and after it. */
const SEEN = String.raw`(?<![\p{L}\p{N}])(?:an?|the|this|that|each|every|one|single|small|big|large|tiny|little|red|green|blue|yellow|orange|white|black|gr[ae]y|pink|purple|polka|bright|dark|flashing|moving)`;
const BESIDE = String.raw`(?:above|and|appears?|at|behind|below|beside|between|blinks?|flashes|for|from|in|inside|is|marks?|moves?|near|of|on|or|over|pattern|shows?|that|to|under|was|which|with)(?![\p{L}\p{N}])`;
/** A spelled-out "dot" between words that isn't one that is seen. */
const SPOKEN_DOT = new RegExp(
  [
    String.raw`(?<=[\p{L}\p{N}])(?!(?<=${SEEN})\s+${DOT_WORD}\s+${BESIDE})\s+${DOT_WORD}\s+(?=[\p{L}\p{N}])`,
    String.raw`(?<=[\p{L}\p{N}])\s+(?:${OTHER_DOT_WORDS})\s+(?=(?:${TOP_LEVEL})(?![\p{L}\p{N}]))`,
  ].join("|"),
  "giu",
);

/** A spelled-out slash after a host. */
const SPOKEN_SLASH = /(?<=\.[\p{L}-]{2,63})\s+(?:forward\s+)?slash\s+(?=\S)/giu;
/** A dot with a space beside it, before a lower-case letter. */
const SPACED_DOT = new RegExp(
  String.raw`(?<=[\p{L}\d])(?:\s+\.\s*(?=[\p{Ll}\d])|\.\s+(?=(?:${CODES})(?![\p{L}\p{N}])))`,
  "gu",
);
/** Four letters or more that are spelled one by one. */
const SPELLED = /(?<![\p{L}\p{N}])\p{L}(?:[ .-]\p{L}(?![\p{L}\p{N}])){3,}/gu;
const CHINESE_DIGITS = "零一二三四五六七八九";
/** Three Chinese digits or more that are dictated one by one. */
const DICTATED_CHINESE = new RegExp(`[〇${CHINESE_DIGITS}]{3,}`, "gu");
const SPOKEN_AT =
  /(?<=[\p{L}\p{N}])\s+(?:at|ät|arroba|arobase|chiocciola|klammeraffe)\s+(?=[\p{L}\p{N}-]{1,63}\.\p{L})/giu;

/**
 * Normalises the text of a claim or a source, so that disguised contact details and numbers are
 * recognised: compatibility forms (NFKC), invisible characters, digits of all scripts, spelled
 * words, dots and at signs in brackets, spaced or spelled out.
 */
export function normalizeClaimText(text: string): string {
  return normalizeText(text, "NFKC")
    .replaceAll(INVISIBLE, "")
    .replaceAll(SLASHES, "/")
    .replaceAll(/\p{Nd}/gu, toAsciiDigit)
    .replaceAll(DICTATED_CHINESE, (run) => {
      return run.replaceAll(/./gu, (digit) => String(Math.max(0, CHINESE_DIGITS.indexOf(digit))));
    })
    .replaceAll(SPELLED, (run) => run.replaceAll(/[ .-]/g, ""))
    .replaceAll(HIDDEN_DOT, ".")
    .replaceAll(SPACED_DOT, ".")
    .replaceAll(SPOKEN_DOT, ".")
    .replaceAll(SPOKEN_SLASH, "/")
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

/** A label of a host has 63 characters at most (RFC 1035), a host 127 labels. */
const LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}_-]{0,61}[\p{L}\p{M}\p{N}])?`;
const HOST = String.raw`${LABEL}(?:\.${LABEL}){0,126}\.\p{L}[\p{L}\p{M}\p{N}-]+`;
const ADDRESS = String.raw`(?:\d{1,3}(?:\.\d{1,3}){3}|(?=[\d:]{0,39}(?:[a-f]|::))(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4})`;
const PATH = String.raw`(?::\d+)?(?:[/?#][^\s<>()[\]"“”|*]*)?`;
/** Schemes whose rest has no slashes, such as `bitcoin:` and `tel:`. */
const SCHEME = String.raw`(?<![\p{L}\p{N}])[a-z][a-z\d+.-]{1,30}:(?=[^\s\d])[^\s<>()[\]"“”|*]+`;

const LETTER = String.raw`[\p{scx=Latin}\p{scx=Cyrillic}\p{scx=Greek}]`;

/** What is a contact detail or an address by its form. */
const FORMS: readonly RegExp[] = [
  // Character references of HTML, which Markdown shows as the character: `evil&period;com`.
  /(?<![\p{L}\p{N}.-])[\p{L}\p{N}.-]{0,63}&(?:#x?[\da-f]{1,7}|[a-z][a-z\d]{1,31});[\p{L}\p{N}.-]{0,63}/giu,
  new RegExp(SCHEME, "giu"),
  new RegExp(String.raw`(?<![\p{L}\p{M}\p{N}._%+-])[\p{L}\p{M}\p{N}._%+-]+@${HOST}`, "giu"),
  new RegExp(String.raw`(?<![\p{L}\p{N}@.])${ADDRESS}(?![\p{L}\p{N}.:])${PATH}`, "giu"),
  new RegExp(String.raw`(?<![\p{L}\p{M}\p{N}@_-])${HOST}${PATH}`, "giu"),
  /(?<![\p{L}\p{N}])[@#][\p{L}_][\p{L}\p{N}_.]+/gu,
  // Codes, such as wallets, keys and passwords: a digit follows a letter, or no word is as long.
  new RegExp(String.raw`(?<![\p{L}\p{N}])(?=[\p{L}\d]*${LETTER}\d)[\p{L}\d]+`, "gu"),
  /(?<![\p{L}\p{N}])[a-z]{26,}(?![\p{L}\p{N}])/giu,
];

/** Names and lower-case abbreviations that look like hosts. */
const NOT_HOSTS = /^(?:\p{L}\.)+\p{L}+$|^\d+(?:\.\d+)*\.?\p{L}{0,2}$/u;

/**
 * Returns web, e-mail and IP addresses, URIs, handles, tags and codes of letters and digits (a
 * password) in a normalised text, as they stand there, without "www.". Phone numbers and postal
 * addresses are found as numbers and names.
 */
export function findContactDetails(text: string): string[] {
  let rest = text.replaceAll(/(?<![\p{L}\p{N}])(?:https?:\/\/)?www\./giu, "");
  const details: string[] = [];
  for (const form of FORMS) {
    rest = rest.replaceAll(form, (found) => {
      if (NOT_HOSTS.test(found)) return found;
      details.push(found.replace(/[.,;:!?…]+$/u, "").replace(/^https?:\/\//i, ""));
      return " ";
    });
  }
  return details;
}
