import { stemmer } from "stemmer";
import { AMOUNTS, isNumber, isTime, PATTERNS, TIMES } from "./answer-kinds.ts";
import type { Lexicon } from "./lexicon.ts";
import type { QuestionParts } from "./question.ts";
import {
  findTopic,
  isName,
  isNounHere,
  isRelated,
  RELATION,
  type SentenceWord,
} from "./sentence.ts";
import { statesColour, statesCount } from "./stated-attribute.ts";
import { namesPerson, statesName, statesPossessor } from "./stated-person.ts";
import { findLocations, statesLocation } from "./stated-location.ts";
import { statesTime } from "./stated-time.ts";

/** Kinds of which only a noun that can be anything is known. */
const UNTYPED = new Set<QuestionParts["kind"]>(["any", "person", "place", "thing", "topic"]);

/** Whether the kind of the answer is one that a pattern recognises. */
export const isTyped = ({ kind }: QuestionParts) => !UNTYPED.has(kind);

/**
 * Tests whether a sentence states what a question asks for: something of its kind that the question
 * doesn't say itself. Null if that can't be told.
 */
export function statesAnswer(
  words: readonly SentenceWord[],
  question: QuestionParts,
  lexicon: Lexicon,
): boolean | null {
  const { kind } = question;
  if (kind === "any" || kind === "topic") return null;
  if (kind === "count") return statesCount(words, question, lexicon);
  if (kind === "colour") return statesColour(words, question, lexicon);
  const sentence = words.map(({ text }) => text).join(" ");
  if (kind === "time") return statesTime(sentence, words, lexicon);
  if (kind === "reason" && statesPurpose(words, lexicon)) return true;
  const pattern = PATTERNS[kind];
  if (kind === "measure") return pattern!.test(sentence.replaceAll(TIMES, ""));
  if (pattern) return pattern.test(sentence);
  const topic = findTopic(words, question, lexicon);
  const fresh = words.filter((word) => word.isNew && !topic.has(word));
  if (kind === "name") return statesName(fresh, words, lexicon);
  if (kind === "person") return fresh.some((word) => namesPerson(word, words, lexicon));
  if (kind === "owner") return statesPossessor(fresh, words, lexicon);
  if (kind === "place") return statesLocation(fresh, words, question, lexicon);
  const things = findThings(fresh, words, sentence, lexicon);
  const others = words.filter((word) => !topic.has(word));
  if (namesKind(things, others, question, lexicon)) return true;
  return things.length === 0 || isOtherKind(things, question, lexicon) ? false : null;
}

/** Returns the words of things: no numbers, times and amounts, and no names of places or people. */
function findThings(
  fresh: readonly SentenceWord[],
  words: readonly SentenceWord[],
  sentence: string,
  lexicon: Lexicon,
): SentenceWord[] {
  const places = findLocations(words, lexicon);
  const amounts = new Set(sentence.match(AMOUNTS)?.flatMap((text) => text.split(/\W+/)));
  return fresh.filter((word) => {
    const { folded, text } = word;
    if (isNumber(folded) || isTime(folded) || amounts.has(text)) return false;
    if (isName(word) && words.indexOf(word) > 0) {
      return !places.has(word) && !namesPerson(word, words, lexicon);
    }
    return !lexicon.has(folded) || isNounHere(word, words, lexicon);
  });
}

/** Whether a thing is of the kind that is asked for, or a new word specifies it: "red bus". */
function namesKind(
  things: readonly SentenceWord[],
  words: readonly SentenceWord[],
  { noun }: QuestionParts,
  lexicon: Lexicon,
): boolean {
  if (noun === null || !lexicon.isSpecific(noun)) return false;
  const isNoun = ({ folded }: SentenceWord) => isRelated(folded, noun, RELATION.same, lexicon);
  const isKind = (thing: SentenceWord) =>
    lexicon.isKindOf(thing.folded, noun) || thing.folded.endsWith(stemmer(noun)); // "surfboard"
  if (things.some((thing) => !isNoun(thing) && isKind(thing))) return true;
  return words.some((word, i) => {
    const before = words[i - 1];
    return isNoun(word) && before?.isNew === true && lexicon.mainClass(before.folded) !== "verb";
  });
}

/** Kinds of which the lexicon knows nearly all: what is none of them is something else. */
const KNOWN_KINDS = ["animal", "vehicle"];

/** Whether none of the things, all of which the lexicon knows, can be of the kind that is asked. */
function isOtherKind(
  things: readonly SentenceWord[],
  { noun }: QuestionParts,
  lexicon: Lexicon,
): boolean {
  if (noun === null || things.some((word) => isName(word) || !lexicon.has(word.folded)))
    return false;
  if (KNOWN_KINDS.some((kind) => lexicon.isKindOf(noun, kind))) return true;
  return lexicon.isAbstract(noun) && !things.some(({ folded }) => lexicon.isAbstract(folded));
}

/** Verbs after which "to" and a verb are no purpose: "she wants to become a pilot". */
const BEFORE_INFINITIVE =
  /^(?:able|beg(?:in|ins|an)|go(?:es|ing)?|ha(?:ve|s|d)|hopes?|hoped|learn(?:s|ed|t)?|likes?|need(?:s|ed)?|plan(?:s|ned)?|start(?:s|ed)?|tr(?:y|ies|ied)|used|want(?:s|ed)?)$/;

/** Tests whether a sentence states what something is for: "bees dance to tell the others". */
function statesPurpose(words: readonly SentenceWord[], lexicon: Lexicon): boolean {
  return words.some(({ folded }, i) => {
    const next = words[i + 1];
    if (folded !== "to" || !next?.isNew || BEFORE_INFINITIVE.test(words[i - 1]?.folded ?? "")) {
      return false;
    }
    return lexicon.mainClass(next.folded) === "verb";
  });
}
