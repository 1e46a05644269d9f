import { hasUnspaced } from "../unspaced.ts";

/** Words that say nothing by themselves: they alone make no match. */
const STOP_WORDS = new Set(
  `a an and are as at be been but by did do does for from had has have he her his how i if in into is it
   its me my no not of on or our she so some that the their them then there these they this to was we
   were what when where which who whom whose why will with you your
   的 了 在 是 の は が を に で と も へ か です ます กับ และ ใน ที่ เป็น`.split(/\s+/),
);

/** What a person typed, understood. */
export interface ParsedQuery {
  /** Without what is left out, and without quotes: what is meant. Empty where nothing is. */
  plain: string;
  /** Words that can tell one passage from another. */
  words: string[];
  /** What must be said or written just so: words in order. */
  phrases: string[][];
  /** What must not be: likewise. */
  excluded: string[][];
}

const TERM = /(?<![\p{L}\p{N}])(-)?(?:["“”«»]([^"“”«»]*)["“”«»]|(\S+))/gu;

/**
 * Reads `"a phrase"` and `-word` (or `-"a phrase"`); all else is plain. A query that is all there is, and only
 * leaves out, is taken for plain text.
 */
export function parseQuery(text: string, isAlone = true): ParsedQuery {
  const phrases: string[][] = [];
  const excluded: string[][] = [];
  const plain = text.replaceAll(TERM, (term, minus?: string, quoted?: string, bare?: string) => {
    const words = wordsIn(quoted ?? bare ?? "");
    if (words.length === 0) return term;
    if (minus !== undefined) excluded.push(words);
    else if (quoted !== undefined) phrases.push(words);
    return minus === undefined ? (quoted ?? term) : " ";
  });
  const left = plain.replaceAll(/\s+/g, " ").trim();
  if (wordsIn(left).length === 0) {
    if (!isAlone && excluded.length > 0) return { plain: "", words: [], phrases: [], excluded };
    return { plain: text, words: tellingWords(text), phrases: [], excluded: [] };
  }
  return { plain: left, words: tellingWords(left), phrases, excluded };
}

/** The distinct words of a text, folded. */
export function wordsOf(text: string): string[] {
  return [...new Set(wordsIn(text))];
}

/** In lower case, Latin letters without diacritics. */
export function fold(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/(\p{Script=Latin})\p{M}+/gu, "$1")
    .normalize("NFC");
}

/** Knows the words of scripts that put no spaces between them, by dictionaries (UAX #29). */
const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });

/** The words of a text in order, folded. */
function wordsIn(text: string): string[] {
  const runs = fold(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const words = runs.flatMap((run) => {
    return hasUnspaced(run) ? Array.from(SEGMENTER.segment(run), ({ segment }) => segment) : run;
  });
  return words.filter((word) => /[\p{L}\p{N}]/u.test(word));
}

/** The words of a query that can tell one passage from another; all of them where none can. */
export function tellingWords(query: string): string[] {
  const words = wordsOf(query);
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return telling.length > 0 ? telling : words;
}

/** Words that ask for pictures, or say that there is one, not what is in it. */
const FRAMING = new Set(
  "clip clips find frame frames image images moment moments photo photos picture pictures please scene scenes show video videos".split(
    " ",
  ),
);

/** A name of more words is a story. */
const MOST_WORDS = 12;

/** What a text names, so that it can be pointed at ("where is the red cup?" → "red cup"); null for nothing. */
export function thingNamedBy(text: string): string | null {
  const words = text
    .split(/\s+/)
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""))
    .filter(Boolean);
  const tells = (word: string) =>
    !wordsIn(word).every((one) => STOP_WORDS.has(one) || FRAMING.has(one));
  const named = words.slice(words.findIndex(tells), words.findLastIndex(tells) + 1);
  return named.length > 0 && named.length <= MOST_WORDS ? named.join(" ") : null;
}

/** Singular and plural as one: a light S-stemmer (Harman, "How effective is suffixing?", JASIS 1991). */
export function foldPlural(word: string): string {
  return word.replace(/(?<=s|x|ch|sh)es$|(?<![su])s$/, "");
}
