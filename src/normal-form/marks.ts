import { fold } from "./fold.ts";
import { isMissingMarks, type Language } from "./function-words.ts";

/** Letters of Vietnamese that no other language has. */
const VIETNAMESE = /[ơư\u1EA1-\u1EB7\u1EB9-\u1EF7]/iu;

/** Tests for letters that only Vietnamese has. */
export function isVietnamese(text: string): boolean {
  return VIETNAMESE.test(text.normalize("NFC"));
}

/**
 * Marks that tell words apart by language, as decomposed: a word with others is another word. Not
 * where forms of a word differ in them, as in "achète" and "acheté".
 */
const TELLING: Partial<Record<Language | "vi", RegExp>> = {
  es: /n\u0303/g,
  fr: /[aeo]\u0302|c\u0327/g,
  pt: /[aeo][\u0302\u0303\u0301]$|[ao]\u0303/g,
  scandinavian: /a\u030A|[ao]\u0308|[øæ]/g,
  ro: /[st]\u0327/g,
  tr: /ı|[cgosu][\u0327\u0306\u0308]/g,
  hu: /[ou][\u0308\u030B]/g,
  fi: /[ao]\u0308/g,
  vi: /[\u0300-\u0302\u0303\u0306\u0309\u031B\u0323]|đ/g,
};

/**
 * Marked letters of each language, as decomposed, which its writers seldom leave out. A diaeresis
 * that only tells how a word is spoken isn't one: "Noel" is "Noël".
 */
const LETTERS: Partial<Record<Language, RegExp>> = {
  de: /[aou]\u0308/,
  fr: /[ae]\u0300|e\u0301|[aeiou]\u0302|c\u0327/,
  es: /[aeiou]\u0301|n\u0303/,
  it: /[aeiou][\u0300\u0301]/,
  pt: /[aeiou][\u0300-\u0303]|c\u0327/,
  scandinavian: /a\u030A|[aou]\u0308|[øæ]/,
  fi: /[ao]\u0308/,
  hu: /[aeiou]\u0301|[ou]\u0308/,
  ro: /a[\u0302\u0306]|i\u0302|[st]\u0327/,
  tr: /ı|[cs]\u0327|g\u0306|[ou]\u0308/,
};
/** Languages whose texts are taken to have all marks, if no function word lacks one. */
const COMPLETE: ReadonlySet<Language> = new Set([
  "de",
  "es",
  "pt",
  "scandinavian",
  "fi",
  "hu",
  "ro",
  "tr",
]);

/**
 * Forms of one word that differ in nothing but a mark, by language, as a query has them: German
 * plurals ("Äpfel", "Apfel"), French participles ("aimé", "aime") and vowels whose circumflex the
 * reform of 1990 took away ("coût"), and the Romanian article ("casă", "casa").
 */
const SAME_WITHOUT: Partial<Record<Language, RegExp>> = {
  de: /(?:el|er|en)$/,
  fr: /e\u0301e?s?$|[iu]\u0302/,
  ro: /a\u0306$/,
};

const GREEK = /\p{Script=Greek}/u;
const MARKED_LETTER = /[\p{Script=Latin}\p{Script=Greek}]\p{M}|[ıøæłđ]/u;

/** Decomposes a word. "ő" is a long "ö", and Romanian "ș" is often written with a cedilla. */
const decompose = (word: string) =>
  word
    .toLowerCase()
    .normalize("NFD")
    .replaceAll("\u030B", "\u0308")
    .replaceAll(/(?<=[st])\u0326/g, "\u0327");

/**
 * Tests whether a word of a text is another than one of a query, though they are the same without
 * marks: "avó" and "avô", "Bär" and "Bar". A query without marks may mean any word, and a text
 * without them may have left them out, unless its language or its other words say that it hasn't.
 */
export function isOtherWord(
  query: string,
  word: string,
  { text, language }: { text: string; language: Language },
): boolean {
  const [own, other] = [query, word].map(decompose) as [string, string];
  if (!MARKED_LETTER.test(own) || own === other) return false;
  const key = isVietnamese(query + text) ? "vi" : language;
  if (MARKED_LETTER.test(other)) return hasOtherMarks(own, other, key);
  const hasMarksOfText = key === "vi" || GREEK.test(own) || LETTERS[language]?.test(own) === true;
  if (!hasMarksOfText || fold(query) !== fold(word) || SAME_WITHOUT[language]?.test(own)) {
    return false;
  }
  // A word with marks of two kinds hardly ever has a twin without any.
  const kinds = new Set([...own.matchAll(/[\p{M}ıøæł]/gu)].map(([mark]) => mark));
  if (kinds.size > 1 || isName(word, { text, language })) return false;
  const words = decompose(text).match(/[\p{L}\p{M}]+/gu) ?? [];
  if (words.some((one) => MARKED_LETTER.test(one))) return true;
  return COMPLETE.has(language) && !words.some((one) => isMissingMarks(one, language));
}

/** Tests whether two decomposed words with marks have other ones where these tell words apart. */
function hasOtherMarks(own: string, other: string, language: Language | "vi"): boolean {
  // Words in Greek have one stress, whose place tells them apart: "νόμος" and "νομός".
  if (GREEK.test(own)) return stressOf(own) !== stressOf(other);
  const telling = TELLING[language];
  if (telling === undefined) return false;
  const marksOf = (word: string) => {
    const marks = [...word.matchAll(telling)].map(([mark]) => mark.at(-1)!);
    return marks.toSorted().join("");
  };
  return marksOf(own) !== marksOf(other);
}

const stressOf = (word: string) => {
  return word.replaceAll(/[\u0308\u0313\u0314]/g, "").search(/[\u0300\u0301\u0342]/);
};

/**
 * Tests whether a word is written in capitals, whose accents are often left out, or as a name: with
 * a capital in the middle of a sentence. German nouns have one, too.
 */
function isName(word: string, { text, language }: { text: string; language: Language }): boolean {
  if (word.length > 1 && word === word.toUpperCase()) return true;
  if (language === "de" || !/^\p{Lu}/u.test(word)) return false;
  return /[\p{L},’']\s*$/u.test(text.slice(0, text.indexOf(word)));
}

/**
 * Tests whether a German word of a text has an umlaut and is shorter than one of a query without
 * any: umlauts are of longer forms, so that "Küche" is no form of "Kuchen".
 */
export function isShorterWithUmlaut(query: string, word: string, language: Language): boolean {
  return language === "de" && word.length < query.length && /[äöü]/i.test(word.normalize("NFC"));
}
