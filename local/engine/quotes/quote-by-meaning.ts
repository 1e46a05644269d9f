import type { Quote } from "../../../src/answer/extractive.ts";
import model from "./quote-model.json" with { type: "json" };
import {
  type Contrast,
  similarityLeads,
  answerProbability,
  findCandidates,
  type QuoteCandidate,
} from "./quote-model.ts";
import type { QuoteEvidence } from "./verifier.ts";

/** Which sentences in other words are quoted. */
export const BY_MEANING = {
  maxSentences: 3,
  minProbability: 0.88,
  /** Sentences that are less probable than the best one by more than this are left out. */
  maxLess: 0.01,
  /** Sentences whose similarity to the question is computed. */
  maxEmbedded: 4,
};

/** Fits of a sentence before its embedding is known: what is usual, and what few exceed. */
const FIT = {
  usual: { similarity: 0.5, similarityLead: 0.05 },
  high: { similarity: 0.8, similarityLead: 0.3 },
};
type Fit = Omit<Contrast, "overlapLead">;

/** A question, and what compares sentences with it. */
export interface QuestionReader {
  question: string;
  /** Null if the sentence lacks a name or a number of the question. */
  compare: (sentence: string) => QuoteEvidence | null;
  /** Returns a sentence behind what it refers to. */
  inContext: (sentence: string) => string;
  /** Returns the unit vectors of texts. */
  embed: (texts: readonly string[]) => Promise<number[][]>;
}

/**
 * Returns the sentences that answer a question with a probability of at least
 * `BY_MEANING.minProbability`, best first: at most one of each source, and none that is much less
 * likely than the best. If none has all the question's terms and states what is asked for, embeds
 * the most likely ones in one call.
 */
export async function quoteByMeaning(
  { question, compare, inContext, embed }: QuestionReader,
  quotes: readonly Quote[],
): Promise<Quote[]> {
  const markers = new Map(quotes.toReversed().map(({ sentence, marker }) => [sentence, marker]));
  const likely = findCandidates(question, [...markers.keys()].toReversed(), compare, inContext)
    .filter((one) => probabilityOf(one, FIT.high) >= BY_MEANING.minProbability)
    .toSorted((a, b) => probabilityOf(b, FIT.usual) - probabilityOf(a, FIT.usual))
    .slice(0, BY_MEANING.maxEmbedded);
  const certain = likely.filter((one) => {
    const { missing, stated } = one.evidence;
    return missing === 0 && stated && probabilityOf(one, FIT.usual) >= BY_MEANING.minProbability;
  });
  const rate = (one: QuoteCandidate, fit: Fit): RatedQuote => {
    const { sentence } = one;
    return { sentence, marker: markers.get(sentence)!, probability: probabilityOf(one, fit) };
  };
  if (certain.length > 0) return best(certain.map((one) => rate(one, FIT.usual)));
  if (likely.length === 0) return [];
  const texts = likely.map(({ sentence }) => inContext(sentence));
  const [asked, ...stated] = await embed([question, ...texts]);
  const similarities = stated.map((vector) => cosine(asked!, vector));
  const simLeads = similarityLeads(similarities);
  return best(
    likely.map((one, i) =>
      rate(one, { similarity: similarities[i]!, similarityLead: simLeads[i]! }),
    ),
  );
}

interface RatedQuote extends Quote {
  probability: number;
}

function probabilityOf({ evidence, overlapLead }: QuoteCandidate, fit: Fit): number {
  return answerProbability(evidence, { ...fit, overlapLead }, model);
}

function best(quotes: readonly RatedQuote[]): Quote[] {
  const rated = quotes
    .filter(({ probability }) => probability >= BY_MEANING.minProbability)
    .toSorted((a, b) => b.probability - a.probability || a.marker - b.marker);
  const markers = new Set<number>();
  return rated
    .filter(({ probability }) => probability >= rated[0]!.probability - BY_MEANING.maxLess)
    .filter(({ marker }) => !markers.has(marker) && markers.add(marker))
    .slice(0, BY_MEANING.maxSentences)
    .map(({ sentence, marker }) => ({ sentence, marker }));
}

/** Returns the cosine of two unit vectors. */
function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}
