import { stemmer } from "stemmer";
import { contentWords, fold } from "../../search/query.ts";
import type { Lexicon } from "./lexicon.ts";
import type { QuestionParts } from "./question.ts";
import { isTyped, type SentenceWord, statesAnswer } from "./stated-answer.ts";

/** What speaks for and against a sentence as the answer to a question. Shares are 0–1. */
export interface QuoteEvidence {
  /** Share of the question's terms that the sentence has by stem, and by meaning only. */
  stems: number;
  meanings: number;
  /** Terms that the sentence has in no way. */
  missing: number;
  /** Whether it states what is asked for; null if that can't be told. */
  stated: boolean | null;
  isTyped: boolean;
  isOpen: boolean;
  hasNames: boolean;
  /** Whether it lacks the question's main verb, and any that is related. */
  lacksVerb: boolean;
  hasVerb: boolean;
}

/** Relation of two words from which on one stands for the other. */
const MIN_RELATION = 0.5;
/** Relation of words that are synonyms, or derived from one another: "ship", "to ship". */
const MIN_DERIVED = 0.8;
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’.,:][\p{L}\p{M}\p{N}]+)*/gu;

/** Compares a sentence with a question. Returns null if it lacks a name or a number of it. */
export function gatherEvidence(
  sentence: string,
  question: QuestionParts,
  lexicon: Lexicon,
): QuoteEvidence | null {
  const texts = sentence.match(WORD) ?? [];
  const folded = texts.map((text) => fold(text).replace(/['’]s$/, ""));
  const stems = new Set(folded.map((word) => stemmer(word)));
  if (!question.names.every((name) => stems.has(stemmer(name)))) return null;
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
  const others = terms.filter((term) => !isStated(term));
  const matches = [
    ...terms.filter(isStated).map((term) => matchStem(term, candidates)),
    ...matchMeanings(others, candidates, relate),
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
  const { verb } = question;
  const isRelated = (word: string) => verb !== null && relate(verb, word) >= MIN_RELATION;
  const hasVerb = verb !== null && (isStated(verb) || candidates.some(isRelated));
  return {
    stems: count("stem") / Math.max(1, terms.length),
    meanings: count("meaning") / Math.max(1, terms.length),
    missing: count(null),
    stated: statesAnswer(words, question, lexicon),
    isTyped: isTyped(question),
    isOpen: question.kind === "thing",
    hasNames: question.names.length > 0,
    lacksVerb: verb !== null && !hasVerb,
    hasVerb,
  };
}

/** How a sentence has a term, and the words of it that do. */
interface TermMatch {
  kind: "stem" | "meaning" | null;
  words: string[];
}

function matchStem(term: string, words: readonly string[]): TermMatch {
  return { kind: "stem", words: words.filter((word) => stemmer(word) === stemmer(term)) };
}

/**
 * Finds the words that are most closely related to each term. A word counts for one term only: for
 * that to which it is related most.
 */
function matchMeanings(
  terms: readonly string[],
  words: readonly string[],
  relate: (term: string, word: string) => number,
): TermMatch[] {
  const [pending, free] = [new Set(terms), new Set(words)];
  const pairs = terms
    .flatMap((term) => words.map((word) => ({ term, word, relation: relate(term, word) })))
    .filter(({ relation }) => relation >= MIN_RELATION)
    .toSorted((a, b) => b.relation - a.relation);
  const matches: TermMatch[] = [];
  for (const { term, word, relation } of pairs) {
    if (!pending.has(term) || !free.has(word)) continue;
    const related = [...free].filter((other) => relate(term, other) >= relation);
    for (const other of related) free.delete(other);
    pending.delete(term);
    matches.push({ kind: "meaning", words: related });
  }
  return [...matches, ...[...pending].map(() => ({ kind: null, words: [] }))];
}

/** Weights of a logistic regression, by feature. */
export type QuoteModel = Record<Feature, number>;
type Feature = keyof ReturnType<typeof toFeatures>;

/**
 * Returns the features of a sentence. `similarity` is the cosine of the embeddings of question and
 * sentence.
 */
export function toFeatures(evidence: QuoteEvidence, similarity: number) {
  const { stems, meanings, missing, stated, isOpen, hasNames, lacksVerb } = evidence;
  const isComplete = missing === 0 && (hasNames || stems + meanings > 0);
  const isOpenStill = isOpen && stated !== true;
  return {
    bias: 1,
    stems,
    meanings,
    complete: Number(isComplete),
    stated: Number(stated === true && !evidence.isTyped),
    statedTyped: Number(stated === true && evidence.isTyped),
    unstated: Number(stated === false),
    completeStated: Number(isComplete && stated === true),
    named: Number(hasNames),
    namedStated: Number(hasNames && stated === true),
    lacksVerb: Number(lacksVerb),
    lacksOnlyVerb: Number(lacksVerb && missing === 1),
    openLacksVerb: Number(isOpenStill && lacksVerb),
    similarity,
    openSimilarity: isOpenStill ? similarity : 0,
  };
}

/** Returns the probability that a sentence answers a question (logistic regression). */
export function answerProbability(
  evidence: QuoteEvidence,
  similarity: number,
  model: QuoteModel,
): number {
  const features = Object.entries(toFeatures(evidence, similarity)) as [Feature, number][];
  const logOdds = features.reduce((sum, [feature, value]) => sum + value * model[feature], 0);
  return 1 / (1 + Math.exp(-logOdds));
}
