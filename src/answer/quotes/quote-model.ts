import { type Contrast, overlapLeads } from "./contrast.ts";
import type { QuoteEvidence } from "./verifier.ts";

/** Weights of a logistic regression, by feature. */
export type QuoteModel = Record<Feature, number>;
type Feature = keyof ReturnType<typeof toFeatures>;

/** Whether a sentence may answer: one in the question's words must state the kind that is asked. */
function mayAnswer({ stated, isOtherKind, missing, meanings }: QuoteEvidence): boolean {
  return stated !== false && !(isOtherKind && missing === 0 && meanings === 0);
}

/** A sentence that may answer a question, with what speaks for it. */
export interface QuoteCandidate {
  sentence: string;
  evidence: QuoteEvidence;
  /** See `Contrast`. */
  overlapLead: number;
}

/** Compares each sentence with a question, and returns those that may answer it. */
export function findCandidates(
  question: string,
  sentences: readonly string[],
  compare: (sentence: string) => QuoteEvidence | null,
): QuoteCandidate[] {
  const leads = overlapLeads(question, sentences);
  return sentences.flatMap((sentence, i) => {
    const evidence = compare(sentence);
    return evidence && mayAnswer(evidence) ? [{ sentence, evidence, overlapLead: leads[i]! }] : [];
  });
}

/** Share of a question's terms from which on a sentence counts as one in the question's words. */
const MOST_STEMS = 0.75;
/** Number of words of a question that a sentence seldom has by chance. */
const MANY_SHARED = 3;

/** Returns the features of a sentence. */
export function toFeatures(evidence: QuoteEvidence, contrast: Contrast) {
  const { stems, meanings, missing, stated, isOpen, hasNames, lacksVerb } = evidence;
  const isComplete = missing === 0 && (hasNames || stems + meanings > 0);
  const lacksNoun = evidence.missingNouns > 0;
  const isStated = stated === true;
  const isLiteral = stems >= MOST_STEMS;
  const shared = Math.min(1, evidence.shared / MANY_SHARED);
  return {
    bias: 1,
    stems,
    meanings,
    complete: Number(isComplete),
    stated: Number(isStated),
    statedTyped: Number(isStated && evidence.isTyped),
    completeStated: Number(isComplete && isStated),
    named: Number(hasNames),
    namedStated: Number(hasNames && isStated),
    lacksVerb: Number(lacksVerb),
    openLacksVerb: Number(isOpen && !isStated && lacksVerb),
    vague: Number(evidence.isVague),
    lacksNoun: Number(lacksNoun),
    // A sentence in the question's words, but for one, is about another thing.
    stemsLackNoun: lacksNoun ? stems : 0,
    literalLacksNoun: Number(isLiteral && lacksNoun),
    literalLacksVerb: Number(isLiteral && lacksVerb),
    sibling: Number(evidence.hasSibling),
    stemsMissing: missing > 0 ? stems : 0,
    sharedMissing: missing > 0 ? shared : 0,
    sharedLacksVerb: lacksVerb ? shared : 0,
    unknownTyped: Number(stated === null && evidence.isTyped),
    literalOtherKind: Number(isLiteral && evidence.isOtherKind),
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
