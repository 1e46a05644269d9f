import { stemmer } from "stemmer";
import { contentWords } from "../../../src/search/query.ts";
import type { QuoteEvidence } from "./verifier.ts";

/** Weights of a logistic regression, by feature. */
export type QuoteModel = Record<Feature, number>;
type Feature = keyof ReturnType<typeof toFeatures>;

/** A sentence that may answer a question, with its evidence. */
export interface QuoteCandidate {
  sentence: string;
  evidence: QuoteEvidence;
  /** See `Contrast`. */
  overlapLead: number;
}

/**
 * Compares each sentence with a question, and returns those that may answer it. `inContext` returns
 * a sentence behind what it refers to.
 */
export function findCandidates(
  question: string,
  sentences: readonly string[],
  compare: (sentence: string) => QuoteEvidence | null,
  inContext: (sentence: string) => string = (sentence) => sentence,
): QuoteCandidate[] {
  const leads = overlapLeads(question, sentences.map(inContext));
  return sentences.flatMap((sentence, i) => {
    const evidence = compare(sentence);
    return evidence && evidence.stated !== false
      ? [{ sentence, evidence, overlapLead: leads[i]! }]
      : [];
  });
}

/** Returns the features of a sentence. */
export function toFeatures(evidence: QuoteEvidence, contrast: Contrast) {
  const { stems, meanings, missing, missingNouns, stated, hasNames } = evidence;
  const isStated = stated === true;
  return {
    bias: 1,
    meanings,
    complete: Number(missing === 0 && (hasNames || stems + meanings > 0)),
    named: Number(hasNames),
    namedStated: Number(hasNames && isStated),
    openLacksVerb: Number(evidence.isOpen && !isStated && evidence.lacksVerb),
    lacksNoun: Number(missingNouns > 0),
    // A sentence in the question's words, but for one, is about another thing.
    stemsLackNoun: missingNouns > 0 ? stems : 0,
    stemsMissing: missing > 0 ? stems : 0,
    unknownTyped: Number(stated === null && evidence.isTyped),
    ...contrast,
  };
}

/** Returns the probability that a sentence answers a question (logistic regression). */
export function answerProbability(
  evidence: QuoteEvidence,
  contrast: Contrast,
  model: QuoteModel,
): number {
  const features = Object.entries(toFeatures(evidence, contrast)) as [Feature, number][];
  const logOdds = features.reduce((sum, [feature, value]) => sum + value * model[feature], 0);
  return 1 / (1 + Math.exp(-logOdds));
}

/** How well a sentence fits a question, and how much better than the other sentences. */
export interface Contrast {
  /** Cosine of the embeddings of question and sentence. */
  similarity: number;
  /** The similarity minus the highest similarity of another sentence. */
  similarityLead: number;
  /**
   * The weight of the words shared with the question, minus the highest such weight of another
   * sentence; from -1 to 1.
   */
  overlapLead: number;
}

/** Cosine that an unrelated sentence may have: others count for at least as much. */
const UNRELATED_SIMILARITY = 0.2;
/** Weight of shared words that is a full lead. */
const FULL_OVERLAP_LEAD = 3;

/** Returns by how much each cosine exceeds the highest of the others. */
export function similarityLeads(similarities: readonly number[]): number[] {
  return leads(similarities, UNRELATED_SIMILARITY);
}

/**
 * Returns for each sentence by how much the words that it shares with the question, `inContext`,
 * weigh more than those of the best other one, without what that refers to. A word weighs by how
 * few of the sentences have it (Sparck Jones, "A statistical interpretation of term specificity",
 * 1972).
 */
export function overlapLeads(
  question: string,
  sentences: readonly string[],
  inContext: (sentence: string) => string = (sentence) => sentence,
): number[] {
  const stemsOf = (text: string) => new Set(contentWords(text).map((word) => stemmer(word)));
  const asked = stemsOf(question);
  const shared = sentences.map((sentence) =>
    [...stemsOf(sentence)].filter((one) => asked.has(one)),
  );
  const counts = new Map<string, number>();
  for (const word of shared.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  const weigh = (words: readonly string[]) =>
    words.reduce((sum, word) => sum + Math.log(1 + sentences.length / (counts.get(word) ?? 1)), 0);
  const weights = shared.map(weigh);
  return leads(weights, 0).map((lead, i) => {
    const all = [...stemsOf(inContext(sentences[i]!))].filter((one) => asked.has(one));
    const ahead = lead + weigh(all) - weights[i]!;
    return Math.max(-1, Math.min(1, ahead / FULL_OVERLAP_LEAD));
  });
}

/** Returns by how much each value exceeds the highest of the others, which is at least `min`. */
function leads(values: readonly number[], min: number): number[] {
  const [first = min, second = min] = values.toSorted((a, b) => b - a);
  return values.map((value) => value - Math.max(min, value === first ? second : first));
}
