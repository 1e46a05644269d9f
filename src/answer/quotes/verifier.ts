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
  /** A word that has another term counts for this one only as in "drinks coffee". */
  const matchOther = (term: string) => {
    const isFree = (word: string) =>
      !termStems.has(stemmer(word)) || lexicon.relation(term, word) < MIN_DERIVED;
    return matchMeaning(term, candidates.filter(isFree), lexicon);
  };
  const terms = question.terms.filter((term) => !question.names.includes(term));
  const matches = terms.map((term) => {
    return stems.has(stemmer(term)) ? matchStem(term, candidates) : matchOther(term);
  });
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
  const hasVerb = verb !== null && (stems.has(stemmer(verb)) || matchOther(verb).kind !== null);
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

/** Finds the words that are most closely related to a term. */
function matchMeaning(term: string, words: readonly string[], lexicon: Lexicon): TermMatch {
  const relations = words.map((word) => lexicon.relation(term, word));
  const best = Math.max(MIN_RELATION, ...relations);
  const related = words.filter((_, i) => relations[i]! >= best);
  return { kind: related.length > 0 ? "meaning" : null, words: related };
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
