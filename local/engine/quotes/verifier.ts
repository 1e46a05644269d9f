import { stemmer } from "stemmer";
import { contentWords } from "../../../src/search/query.ts";
import { fold } from "../../../src/text/fold.ts";
import { isNumber, isTime } from "./answer-kinds.ts";
import type { Lexicon } from "./lexicon.ts";
import type { QuestionParts } from "./question.ts";
import { RELATION, type SentenceWord } from "./sentence.ts";
import { isTyped, statesAnswer } from "./stated-answer.ts";

/** Evidence for and against a sentence as the answer to a question. Shares are 0–1. */
export interface QuoteEvidence {
  /** Share of the question's terms that the sentence has by stem, and by meaning only. */
  stems: number;
  meanings: number;
  /** Terms that the sentence has in no way, and how many of them are nouns or unknown words. */
  missing: number;
  missingNouns: number;
  /** Whether it states what is asked for; null if that can't be told. */
  stated: boolean | null;
  isTyped: boolean;
  isOpen: boolean;
  /** Whether who is asked for may be something other than a person: "sells butter to schools". */
  mayBeAgent: boolean;
  /** Whether it has a word that the lexicon doesn't know, which may be anything. */
  hasUnknown: boolean;
  hasNames: boolean;
  /** Whether it lacks the question's main verb, and any that is related. */
  lacksVerb: boolean;
  /** Share of the question's names and terms that the sentence has itself, not the one before. */
  own: number;
}

/** Relation of words that are synonyms, or derived from one another: "ship", "to ship". */
const MIN_DERIVED = 0.8;
/** Length of titles, which differ by their ending: "Mr", "Mrs". */
const TITLE_LENGTH = 3;
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’.,:][\p{L}\p{M}\p{N}]+)*/gu;

/** What a sentence may refer to that is named elsewhere. */
export interface SentenceContext {
  /** The sentences before. */
  before: string;
  /** What is written beside it: the title of a slide, of the file. */
  titles: string;
}

export const NO_CONTEXT: SentenceContext = { before: "", titles: "" };

/** Words that stand for what the sentence before names. */
const REFERS =
  /^(?:now|then)\b|\b(?:he|him|his|she|hers?|it|its|they|them|their|theirs|this|that|these|those|there)\b/i;

/** Returns the sentences before one that it refers to; empty if it refers to none. */
export function refersTo(sentence: string, context: SentenceContext | undefined): string {
  return context && REFERS.test(sentence) ? context.before : "";
}

/**
 * Compares a sentence with a question. What the question names may stand in its context. Returns
 * null if it lacks a name or a number of it, and if all of a question for yes or no isn't in it.
 */
export function gatherEvidence(
  sentence: string,
  question: QuestionParts,
  lexicon: Lexicon,
  { before, titles }: SentenceContext = NO_CONTEXT,
): QuoteEvidence | null {
  const texts = sentence.match(WORD) ?? [];
  const foldWords = (words: readonly string[]) =>
    words.map((text) => fold(text).replace(/['’]s$/, ""));
  const folded = foldWords(texts);
  const ownStems = new Set(folded.map((word) => stemmer(word)));
  const around = foldWords(`${before} ${titles}`.match(WORD) ?? []);
  const stems = new Set([...ownStems, ...around.map((word) => stemmer(word))]);
  const isNamed = (words: readonly string[], own: ReadonlySet<string>) => (name: string) =>
    words.includes(name) || (name.length > TITLE_LENGTH && own.has(stemmer(name)));
  const isOwnName = isNamed(folded, ownStems);
  const hasName = isNamed([...folded, ...around], stems);
  if (!question.names.every(hasName)) return null;
  const content = new Set(contentWords(folded.join(" ")));
  const candidates = [...new Set(folded)].filter((word) => content.has(word));
  const termStems = new Set(question.terms.map((term) => stemmer(term)));
  /** Whether a word that has another term counts for this one too: as in "drinks coffee". */
  const isFree = (term: string, word: string) =>
    !termStems.has(stemmer(word)) || lexicon.relation(term, word) < MIN_DERIVED;
  const relate = (term: string, word: string) =>
    isFree(term, word) ? lexicon.relation(term, word) : 0;
  const terms = question.terms.filter((term) => !question.names.includes(term));
  const isStated = (term: string) => stems.has(stemmer(term));
  const isOwnStem = (term: string) => ownStems.has(stemmer(term));
  const others = terms.filter((term) => !isStated(term));
  const matches = [
    ...terms.filter(isStated).map((term) => matchStem(term, candidates)),
    ...matchMeanings(others, candidates, relate, question.isPolar ? RELATION.same : MIN_RELATION),
  ];
  const known = new Set([
    ...matches.flatMap(({ words }) => words),
    ...candidates.filter((word) => question.names.some((name) => stemmer(name) === stemmer(word))),
  ]);
  const words: SentenceWord[] = texts.map((text, i) => {
    const word = folded[i]!;
    return { text, folded: word, isNew: content.has(word) && !known.has(word) };
  });
  const count = (kind: "stem" | "meaning" | null) =>
    matches.filter((one) => one.kind === kind).length;
  const isNoun = (term: string) => !lexicon.has(term) || lexicon.mainClass(term) === "noun";
  const isSpoken = texts.some((text) => /^(?:I|me|my|we|us|our)$/i.test(text));
  const isSpeaker = (term: string) =>
    isSpoken && lexicon.isKindOf(term, "person") && !lexicon.isKindOf(term, "relative");
  const missing = matches.flatMap(({ kind, term }) => {
    return kind === null && !isSpeaker(term) ? [term] : [];
  });
  const stated = question.isPolar || statesAnswer(words, question, lexicon);
  const { verb } = question;
  const isRelated = (word: string) => verb !== null && relate(verb, word) >= MIN_RELATION;
  const hasVerb = verb !== null && (isOwnStem(verb) || candidates.some(isRelated));
  const lacksVerb = verb !== null && !hasVerb;
  if (question.isPolar && (missing.length > 0 || lacksVerb)) return null;
  const hasNames = question.names.length > 0;
  const isOwn = matches.some((one) => one.words.length > 0) || question.names.some(isOwnName);
  const isBorrowed =
    !question.names.every(isOwnName) || terms.some((term) => isStated(term) && !isOwnStem(term));
  if (isBorrowed && !isOwn && (missing.length > 0 || stated !== true)) return null;
  const all = [...question.names, ...terms];
  const isOwnTerm = (term: string) =>
    isOwnName(term) || matches.some((one) => one.term === term && one.words.length > 0);
  return {
    own: all.filter(isOwnTerm).length / Math.max(1, all.length),
    stems: count("stem") / Math.max(1, terms.length),
    meanings: count("meaning") / Math.max(1, terms.length),
    missing: missing.length,
    missingNouns: missing.filter(isNoun).length,
    stated,
    isTyped: isTyped(question),
    isOpen: question.kind === "thing",
    mayBeAgent:
      question.kind === "person" &&
      words.some(
        (word, i) => word.isNew && isThing(word.folded, lexicon) && mayDoOrGet(i, words, hasVerb),
      ),
    hasUnknown: words.some(({ isNew, folded }) => isNew && !lexicon.has(folded)),
    hasNames,
    lacksVerb,
  };
}

/** Words between a preposition and who did or got something: "from a pastry cook". */
const AGENT_WORDS = 3;

function mayDoOrGet(at: number, words: readonly SentenceWord[], hasVerb: boolean): boolean {
  const before = words.slice(Math.max(0, at - AGENT_WORDS), at);
  return (
    before.some(({ folded }) => /^(?:after|by|for|from|to|with)$/.test(folded)) ||
    (hasVerb && at < 2)
  );
}

function isThing(word: string, lexicon: Lexicon): boolean {
  return lexicon.mainClass(word) === "noun" && !isNumber(word) && !isTime(word);
}

/** Relation of two words at which one stands for the other. */
const MIN_RELATION = 0.5;

/** How a sentence has a term, and the words of it that do. */
interface StemMatch {
  term: string;
  kind: "stem" | "meaning" | null;
  words: string[];
}

function matchStem(term: string, words: readonly string[]): StemMatch {
  return { term, kind: "stem", words: words.filter((word) => stemmer(word) === stemmer(term)) };
}

/**
 * Finds the words that are most closely related to each term. A word counts for one term only: for
 * that to which it is related most.
 */
function matchMeanings(
  terms: readonly string[],
  words: readonly string[],
  relate: (term: string, word: string) => number,
  minRelation: number,
): StemMatch[] {
  const [pending, free] = [new Set(terms), new Set(words)];
  const pairs = terms
    .flatMap((term) => words.map((word) => ({ term, word, relation: relate(term, word) })))
    .filter(({ relation }) => relation >= minRelation)
    .toSorted((a, b) => b.relation - a.relation);
  const matches: StemMatch[] = [];
  for (const { term, word, relation } of pairs) {
    if (!pending.has(term) || !free.has(word)) continue;
    const related = [...free].filter((other) => relate(term, other) >= relation);
    for (const other of related) free.delete(other);
    pending.delete(term);
    matches.push({ term, kind: "meaning", words: related });
  }
  return [...matches, ...[...pending].map((term) => ({ term, kind: null, words: [] }))];
}
