import { stemmer } from "stemmer";
import { isKnownStem } from "./known-words.ts";
import { APOSTROPHE, CONTRACTIONS, ELISIONS, GERSHAYIM } from "./token-patterns.ts";

/** A word with an apostrophe, and where it and what belongs to it end in the text. */
interface ApostropheWord {
  /** Null for an article or a pronoun that is left out: "l'" of "l'eau". */
  word: string | null;
  wordEnd: number;
  end: number;
}

/** Reads the word whose first letters, `run`, end where an apostrophe may be. */
export function readApostrophe(text: string, run: string, end: number): ApostropheWord | null {
  const mark = text[end] ?? "";
  const [rest = ""] = /^[\p{L}\p{M}]+/u.exec(text.slice(end + 1, end + 41)) ?? [];
  if (rest === "" || /\p{N}/u.test(run)) return null;
  const [first, second] = [run.toLowerCase(), rest.toLowerCase()];
  const wholeEnd = end + 1 + rest.length;
  const whole: ApostropheWord = { word: run + rest, wordEnd: wholeEnd, end: wholeEnd };
  const isAbbreviation = GERSHAYIM.test(mark) && /^\p{Script=Hebrew}+$/u.test(run + rest);
  const isApostrophe = APOSTROPHE.test(mark);
  if (isAbbreviation || (isApostrophe && /^\p{Script=Cyrillic}+$/u.test(run + rest))) return whole;
  if (!isApostrophe) return null;
  const isEnd = !APOSTROPHE.test(text[wholeEnd] ?? "");
  if (second === "s" && isEnd) return { word: run, wordEnd: end, end: end + 2 };
  if (CONTRACTIONS.has(second) && isEnd && (first === "i" || first.length > 1)) {
    // "she'll" is no "shell".
    const isOther = second !== "t" && isKnownStem(stemmer(first + second));
    return isOther ? { word: run, wordEnd: end, end: wholeEnd } : whole;
  }
  return ELISIONS.has(first) ? { word: null, wordEnd: end, end: end + 1 } : null;
}
