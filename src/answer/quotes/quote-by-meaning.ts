import { AppError, traceOf } from "../../errors.ts";
import { log } from "../../log.ts";
import { embedText } from "../../models/embed-text.ts";
import { QUOTES } from "../../parameters.ts";
import type { Hit } from "../../search/hits.ts";
import { Lexicon } from "./lexicon.ts";
import { analyzeQuestion } from "./question.ts";
import model from "./quote-model.json" with { type: "json" };
import {
  type Contrast,
  similarityLeads,
  answerProbability,
  findCandidates,
  type QuoteCandidate,
} from "./quote-model.ts";
import { agreesWithLabels } from "./stated-answer.ts";
import { gatherEvidence, type QuoteEvidence } from "./verifier.ts";

/** A verbatim sentence of a hit. */
export interface Quote {
  sentence: string;
  hit: Hit;
}

/** Fits of a sentence before its embedding is known: what is usual, and what few exceed. */
const FIT = {
  usual: { similarity: 0.5, similarityLead: 0.05 },
  high: { similarity: 0.8, similarityLead: 0.3 },
};
type Fit = Omit<Contrast, "overlapLead">;

/**
 * Returns the sentences that answer a question with a probability of at least
 * `QUOTES.minProbability`, best first: at most one of each hit, and none that is much less likely
 * than the best. If none has all the question's terms and states what is asked for, embeds the most
 * likely ones in one call.
 */
export async function quoteByMeaning(
  ai: Ai,
  { question, compare }: QuestionReader,
  quotes: readonly Quote[],
): Promise<Quote[]> {
  const hits = new Map(quotes.toReversed().map(({ sentence, hit }) => [sentence, hit]));
  const likely = findCandidates(question, [...hits.keys()], compare)
    .filter((one) => probabilityOf(one, FIT.high) >= QUOTES.minProbability)
    .toSorted((a, b) => probabilityOf(b, FIT.usual) - probabilityOf(a, FIT.usual))
    .slice(0, QUOTES.maxEmbedded);
  const certain = likely.filter((one) => {
    const { missing, stated } = one.evidence;
    return missing === 0 && stated && probabilityOf(one, FIT.usual) >= QUOTES.minProbability;
  });
  const rate = (one: QuoteCandidate, fit: Fit): RatedQuote => {
    const { sentence } = one;
    return { sentence, hit: hits.get(sentence)!, probability: probabilityOf(one, fit) };
  };
  if (certain.length > 0) return best(certain.map((one) => rate(one, FIT.usual)));
  if (likely.length === 0) return [];
  const sentences = likely.map(({ sentence }) => sentence);
  const similarities = (await embedAll(ai, question, sentences)) ?? sentences.map(() => 0);
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
    .filter(({ probability }) => probability >= QUOTES.minProbability)
    .toSorted((a, b) => b.probability - a.probability || a.hit.rank - b.hit.rank);
  const hits = new Set<Hit>();
  return rated
    .filter(({ probability }) => probability >= rated[0]!.probability - QUOTES.maxLess)
    .filter(({ hit }) => !hits.has(hit) && hits.add(hit))
    .slice(0, QUOTES.maxSentences)
    .map(({ sentence, hit }) => ({ sentence, hit }));
}

/** Returns the cosines of sentences with a question; null if the model fails. */
async function embedAll(ai: Ai, question: string, sentences: string[]): Promise<number[] | null> {
  try {
    const [vector, ...vectors] = await embedText(ai, [question, ...sentences]);
    return vectors.map((other) => cosine(vector!, other));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log("warn", "answer.embeddings_unavailable", { code: error.code, cause: traceOf(error) });
    return null;
  }
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

/** Compares sentences with a question. */
export interface QuestionReader {
  question: string;
  /** Null if the sentence lacks a name or a number of the question. */
  compare: (sentence: string) => QuoteEvidence | null;
  /**
   * Whether a caption doesn't count otherwise than a detector, whose labels are given, one for each
   * object. True if the question asks for no number, or the detector found no such object.
   */
  agreesWithLabels: (caption: string, labels: readonly string[]) => boolean;
}

let lexicon: Promise<Lexicon> | null = null;

/** Takes a question in English apart, to compare sentences with it. */
export async function readQuestion(question: string): Promise<QuestionReader> {
  lexicon ??= loadLexicon();
  const words = await lexicon;
  const analyzed = analyzeQuestion(question, words);
  return {
    question,
    compare: (sentence) => gatherEvidence(sentence, analyzed, words),
    agreesWithLabels: (caption, labels) => agreesWithLabels(caption, labels, analyzed, words),
  };
}

/** Reads the lexicon, half a megabyte, once it is needed. */
async function loadLexicon(): Promise<Lexicon> {
  const { default: data } = await import("./lexicon.json", { with: { type: "json" } });
  return new Lexicon(data);
}
