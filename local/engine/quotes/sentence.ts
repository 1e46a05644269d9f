import { stemmer } from "stemmer";
import type { Lexicon } from "./lexicon.ts";
import { DETERMINER, PREPOSITION, type QuestionParts } from "./question.ts";

/** A word of a sentence. */
export interface SentenceWord {
  text: string;
  /** The text in lower case, without diacritics and without "'s". */
  folded: string;
  /** Whether the word has a meaning of its own that no word of the question has. */
  isNew: boolean;
}

export const isName = ({ text }: SentenceWord) => /^\p{Lu}/u.test(text);

/** Whether a word is a noun: also one that mostly isn't, after a verb, an adjective and so on. */
export function isNounHere(
  word: SentenceWord,
  words: readonly SentenceWord[],
  lexicon: Lexicon,
): boolean {
  if (lexicon.mainClass(word.folded) === "noun") return true;
  if (!lexicon.canBeNoun(word.folded)) return false;
  const at = words.indexOf(word);
  if (lexicon.mainClass(words[at + 1]?.folded ?? "") === "noun") return false;
  const before = words[at - 1]?.folded ?? "";
  if (DETERMINER.test(before) || PREPOSITION.test(before)) return true;
  if (lexicon.mainClass(before) === "adjective") return true;
  return !ENDS_PHRASE.test(before) && lexicon.canBeVerb(before) && /(?:s|ed)$/.test(before);
}

const ENDS_PHRASE =
  /^(?:after|and|are|as|because|before|but|by|for|from|had|has|have|is|or|so|that|until|was|were|when|where|which|while|who|with)$/;

/** Whether a word isn't part of the noun phrase before it: a verb, or "for", "and" and the like. */
export function endsPhrase(
  word: SentenceWord,
  words: readonly SentenceWord[],
  lexicon: Lexicon,
): boolean {
  if (ENDS_PHRASE.test(word.folded)) return true;
  if (isFiniteVerb(word, words, lexicon)) return true;
  const isVerb = !isName(word) && lexicon.mainClass(word.folded) === "verb";
  return isVerb && !isNounHere(word, words, lexicon);
}

/** Whether a word between nouns is a verb, though it could be a noun: "a lady feeds pigeons". */
function isFiniteVerb(
  word: SentenceWord,
  words: readonly SentenceWord[],
  lexicon: Lexicon,
): boolean {
  if (isName(word) || !/(?:s|ed)$/.test(word.folded) || !lexicon.canBeVerb(word.folded))
    return false;
  const at = words.indexOf(word);
  const isNoun = (one?: SentenceWord) =>
    one !== undefined && (isName(one) || lexicon.mainClass(one.folded) === "noun");
  const next = words[at + 1];
  return isNoun(words[at - 1]) && next !== undefined && (isNoun(next) || !lexicon.has(next.folded));
}

/**
 * Returns the words of the noun phrases around the names of a question: all of "the captain of the
 * ferry to Oban". They say what the sentence is about, and answer nothing. After the verb, only the
 * names do.
 */
export function findTopic(
  words: readonly SentenceWord[],
  { names, verb }: QuestionParts,
  lexicon: Lexicon,
): Set<SentenceWord> {
  const stems = new Set(names.map((name) => stemmer(name)));
  const isNamed = ({ folded }: SentenceWord) => stems.has(stemmer(folded));
  const isVerb = ({ folded }: SentenceWord) => verb !== null && stemmer(folded) === stemmer(verb);
  const ends = (word: SentenceWord) =>
    !isNamed(word) && (isVerb(word) || endsPhrase(word, words, lexicon));
  const topic = new Set<SentenceWord>();
  for (const [i, word] of words.entries()) {
    if (!isNamed(word)) continue;
    const end = words.slice(0, i).findLastIndex(ends);
    const isObject = end >= 0 && !ENDS_PHRASE.test(words[end]!.folded);
    const start = isObject ? i - 1 : end;
    for (const part of words.slice(start + 1, i + 1)) topic.add(part);
    const next = words[i + 1];
    if (next && !isName(next) && !ends(next)) topic.add(next);
  }
  return topic;
}

export const LINKS = /^(?:is|are|was|were|painted|dyed|coloured|colored)$/;

/** Whether a text isn't a sentence, such as the words of a poster. */
export function isVerbless(words: readonly SentenceWord[], lexicon: Lexicon): boolean {
  return !words.some(({ folded }) => LINKS.test(folded) || lexicon.mainClass(folded) === "verb");
}

/** Relations of words that name the same thing, and that may. */
export const RELATION = { same: 0.65, possible: 0.5 };

/** Whether two words have a stem in common, or are related at least so closely. */
export function isRelated(a: string, b: string, minRelation: number, lexicon: Lexicon): boolean {
  return stemmer(a) === stemmer(b) || lexicon.relation(a, b) >= minRelation;
}
