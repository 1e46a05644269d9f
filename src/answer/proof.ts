import { fold } from "../search/query.ts";
import { quotationsIn } from "./quotes.ts";

/** Shorter quotations are names and turns of phrase. */
const QUOTED_WORDS = 3;

/** So many words in a row are no chance. */
const SECRET_WORDS = 8;

const ADDRESS = /\b(?:[a-z][a-z\d+.-]*:\/\/|www\.)([^\s<>()[\]"“”|*]+)/giu;
const SEGMENTER = new Intl.Segmenter("en", { granularity: "word" });

/** The quotations of a sentence, of three words or more. */
export function quotedIn(sentence: string): string[] {
  return quotationsIn(sentence)
    .map(({ said }) => said)
    .filter((said) => wordsIn(said).length >= QUOTED_WORDS);
}

/** The addresses in a sentence, without scheme and "www.". */
export function addressesIn(sentence: string): string[] {
  return [...sentence.matchAll(ADDRESS)].map(([, rest = ""]) => rest.replace(/^www\./i, ""));
}

/**
 * Whether a quotation is in a text, by its letters and digits alone: case, diacritics, punctuation and
 * spaces are what hearing and reading get wrong. Where it leaves something out ("…"), its parts in order.
 */
export function isQuoted(quotation: string, text: string): boolean {
  const letters = lettersOf(text);
  let from = 0;
  for (const part of quotation.split(/…|\.{3}/).map(lettersOf)) {
    const at = letters.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}

/** Tells where a text, given piece by piece, holds eight words in a row of a secret. */
export class SecretWatch {
  readonly #runs: Set<string>;
  #last: string[] = [];

  constructor(secret: string) {
    this.#runs = new Set(runsOf(wordsIn(secret)));
  }

  /** Whether a run ends in this piece, which may have begun in those before. */
  isTold(piece: string): boolean {
    const words = [...this.#last, ...wordsIn(piece)];
    this.#last = words.slice(1 - SECRET_WORDS);
    return runsOf(words).some((run) => this.#runs.has(run));
  }
}

function runsOf(words: string[]): string[] {
  return words.slice(SECRET_WORDS - 1).map((_, i) => words.slice(i, i + SECRET_WORDS).join(" "));
}

/** In order; by dictionary where a script has no spaces. */
function wordsIn(text: string): string[] {
  return [...SEGMENTER.segment(fold(text))]
    .filter((word) => word.isWordLike)
    .map(({ segment }) => segment);
}

function lettersOf(text: string): string {
  return fold(text).replaceAll(/[^\p{L}\p{N}]+/gu, "");
}
