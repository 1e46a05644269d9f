import type { Language } from "./function-words.ts";

/** Letters of Vietnamese that no other language has. */
const VIETNAMESE = /[ơư\u1EA1-\u1EB7\u1EB9-\u1EF7]/iu;

/** Tests for letters that only Vietnamese has. */
export function isVietnamese(text: string): boolean {
  return VIETNAMESE.test(text.normalize("NFC"));
}

/**
 * Marks that tell words apart by language, as decomposed: a word with others is another word. Not
 * where forms of a word differ in them, as in "Apfel" and "Äpfel" or "achète" and "acheté".
 */
const TELLING: Partial<Record<Language | "vi", RegExp>> = {
  es: /n\u0303/g,
  pt: /[aeo][\u0302\u0303\u0301]$|[ao]\u0303/g,
  tr: /ı|[cgosu][\u0327\u0306\u0308]/g,
  hu: /[ou][\u0308\u030B]/g,
  fi: /[ao]\u0308/g,
  vi: /[\u0300-\u0302\u0303\u0306\u0309\u031B\u0323]|đ/g,
};

/** "ő" is a long "ö". */
const decompose = (word: string) =>
  word.toLowerCase().normalize("NFD").replaceAll("\u030B", "\u0308");

/**
 * Tests whether a word of a text is another than one of a query, though they are the same without
 * marks: "avó" and "avô". A word without marks may mean any, but for "i" in a text that has "ı".
 */
export function isOtherWord(
  query: string,
  word: string,
  { text, language }: { text: string; language: Language },
): boolean {
  if (/^[\0-\x7F]*$/.test(query)) return false;
  const telling = TELLING[isVietnamese(query + text) ? "vi" : language];
  if (telling === undefined) return false;
  const marksOf = (own: string) => {
    const marks = [...decompose(own).matchAll(telling)].map(([mark]) => mark.at(-1)!);
    return marks.toSorted().join("");
  };
  const [own, other] = [marksOf(query), marksOf(word)];
  const hasDotless = query.includes("ı") && text.includes("ı");
  return own !== other && own !== "" && (other !== "" || hasDotless);
}

/**
 * Tests whether a German word of a text has an umlaut and is shorter than one of a query without
 * any: umlauts are of longer forms, so that "Küche" is no form of "Kuchen".
 */
export function isShorterWithUmlaut(query: string, word: string, language: Language): boolean {
  return language === "de" && word.length < query.length && /[äöü]/i.test(word.normalize("NFC"));
}
