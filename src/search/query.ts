/** Words that say nothing by themselves: they alone make no match. */
const STOP_WORDS = new Set(
  `a an and are as at be been but by did do does for from had has have he her his how i if in into is it
   its me my no not of on or our she so some that the their them then there these they this to was we
   were what when where which who whom whose why will with you your`.split(/\s+/),
);

/** The distinct words of a text, folded: lower case, without diacritics. */
export function wordsOf(text: string): string[] {
  const folded = text.toLowerCase().normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return [...new Set(folded.match(/[\p{L}\p{N}]+/gu) ?? [])];
}

/** The words of a query that can tell one passage from another; all of them where none can. */
export function tellingWords(query: string): string[] {
  const words = wordsOf(query);
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return telling.length > 0 ? telling : words;
}

/** Singular and plural as one: a light S-stemmer (Harman, "How effective is suffixing?", JASIS 1991). */
export function foldPlural(word: string): string {
  return word.replace(/(?<=s|x|ch|sh)es$|(?<![su])s$/, "");
}

/** An FTS5 expression that any of the words matches; null where there are none. */
export function anyOf(words: string[]): string | null {
  return words.length === 0 ? null : words.map((word) => `"${word}"`).join(" OR ");
}
