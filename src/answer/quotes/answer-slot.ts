import { stemmer } from "stemmer";
import type { Lexicon } from "./lexicon.ts";
import { PREPOSITION, type QuestionParts } from "./question.ts";
import { isName, type SentenceWord } from "./sentence.ts";

/** Words between a verb or a preposition and the head of its noun phrase. */
const PHRASE_WORDS = 3;

/**
 * Whether a sentence has a new noun where the answer to a question would stand: after the
 * question's preposition, or else next to its verb.
 */
export function fillsSlot(
  words: readonly SentenceWord[],
  { preposition, verb }: QuestionParts,
  lexicon: Lexicon,
): boolean {
  const isThing = (word: SentenceWord) =>
    word.isNew && (isName(word) || lexicon.canBeNoun(word.folded) || !lexicon.has(word.folded));
  if (preposition !== null) {
    return words.some(({ folded }, i) => {
      return folded === preposition && phraseAfter(words, i).some(isThing);
    });
  }
  if (verb === null) return false;
  const at = words.findIndex(({ folded }) => stemmer(folded) === stemmer(verb));
  if (at < 0) return false;
  return phraseAfter(words, at).some(isThing) || words.slice(Math.max(0, at - 2), at).some(isThing);
}

/** Returns the next words, up to a preposition. */
function phraseAfter(words: readonly SentenceWord[], at: number): SentenceWord[] {
  const next = words.slice(at + 1, at + 1 + PHRASE_WORDS);
  const end = next.findIndex(({ folded }) => PREPOSITION.test(folded));
  return end < 0 ? next : next.slice(0, end);
}
