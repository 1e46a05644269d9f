import { fold } from "../search/query.ts";
import { findQuotations } from "./quotation-marks.ts";

/** Minimum length of a quotation that is verified: shorter ones are names and idioms. */
const MIN_QUOTED_WORDS = 3;

/** Number of consecutive words of the prompt that are a leak, not chance. */
const LEAK_WORDS = 8;

const SEGMENTER = new Intl.Segmenter("en", { granularity: "word" });

/** Returns the quotations of at least three words. */
export function quotationsToVerify(sentence: string): string[] {
  return findQuotations(sentence)
    .map(({ text }) => text)
    .filter((quoted) => wordsIn(quoted).length >= MIN_QUOTED_WORDS);
}

/**
 * Tests whether a text contains a quotation, comparing letters and digits only: speech recognition
 * and OCR get case, diacritics, punctuation and spaces wrong. The parts of a quotation with an
 * ellipsis ("…") must follow in order.
 */
export function isQuotedFrom(quotation: string, text: string): boolean {
  const letters = lettersOf(text);
  let from = 0;
  for (const part of quotation.split(/…|\.{3}/).map(lettersOf)) {
    const at = letters.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}

/** Finds eight consecutive words of a prompt in a text that is passed in chunks. */
export class PromptLeakDetector {
  readonly #promptShingles: Set<string>;
  #lastWords: string[] = [];

  constructor(prompt: string) {
    this.#promptShingles = new Set(toShingles(wordsIn(prompt)));
  }

  /** Tests whether a leak ends in this chunk; it may start in earlier ones. */
  hasLeak(chunk: string): boolean {
    const words = [...this.#lastWords, ...wordsIn(chunk)];
    this.#lastWords = words.slice(1 - LEAK_WORDS);
    return toShingles(words).some((shingle) => this.#promptShingles.has(shingle));
  }
}

/** Returns all sequences of `LEAK_WORDS` consecutive words. */
function toShingles(words: string[]): string[] {
  return words.slice(LEAK_WORDS - 1).map((_, i) => words.slice(i, i + LEAK_WORDS).join(" "));
}

/** Returns the words of a text in order; segments scripts without spaces by dictionary. */
function wordsIn(text: string): string[] {
  return [...SEGMENTER.segment(fold(text))]
    .filter((word) => word.isWordLike)
    .map(({ segment }) => segment);
}

function lettersOf(text: string): string {
  return fold(text).replaceAll(/[^\p{L}\p{N}]+/gu, "");
}
