import { AppError, traceOf } from "../../errors.ts";
import { log } from "../../log.ts";
import { embedText } from "../../models/embed-text.ts";
import { QUOTES } from "../../parameters.ts";
import type { Hit } from "../../search/hits.ts";
import type { QuestionReader } from "./question-reader.ts";
import model from "./quote-model.json" with { type: "json" };
import { answerProbability, type QuoteEvidence } from "./verifier.ts";

/** A verbatim sentence of a hit. */
export interface Quote {
  sentence: string;
  hit: Hit;
}

/**
 * Cosines of a sentence with a question: what is usual, the highest that any sentence needs, and
 * one so low that a sentence which needs no more answers without embeddings.
 */
const SIMILARITY = { usual: 0.5, high: 0.85, low: 0.3 };

/**
 * Returns the sentences that answer a question with a probability of at least
 * `QUOTES.minProbability`, best first: at most one of each hit, and none that is much less likely
 * than the best. If none has all the question's terms, embeds the most likely ones in one call.
 */
export async function quoteByMeaning(
  ai: Ai,
  { question, compare }: QuestionReader,
  candidates: readonly Quote[],
): Promise<Quote[]> {
  const distinct = new Map(candidates.toReversed().map((quote) => [quote.sentence, quote]));
  const likely = [...distinct.values()]
    .flatMap(({ sentence, hit }) => {
      const evidence = compare(sentence);
      return evidence && mayAnswer(evidence) ? [{ sentence, hit, evidence }] : [];
    })
    .toSorted((a, b) => probabilityOf(b.evidence) - probabilityOf(a.evidence))
    .slice(0, QUOTES.maxEmbedded);
  const certain = likely.filter(({ evidence }) => {
    return evidence.missing === 0 && isAnswer(evidence, SIMILARITY.low);
  });
  if (certain.length > 0) return best(certain.map((one) => rate(one, SIMILARITY.usual)));
  if (likely.length === 0) return [];
  const sentences = likely.map(({ sentence }) => sentence);
  const similarities = await embedAll(ai, question, sentences);
  return best(likely.map((one, i) => rate(one, similarities?.[i] ?? 0)));
}

interface RatedQuote extends Quote {
  probability: number;
}

function rate(
  { sentence, hit, evidence }: Quote & { evidence: QuoteEvidence },
  similarity: number,
): RatedQuote {
  return { sentence, hit, probability: probabilityOf(evidence, similarity) };
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

/** Whether a sentence answers a question if it is similar enough. */
function mayAnswer(evidence: QuoteEvidence): boolean {
  return evidence.stated !== false && isAnswer(evidence, SIMILARITY.high);
}

function isAnswer(evidence: QuoteEvidence, similarity: number): boolean {
  return probabilityOf(evidence, similarity) >= QUOTES.minProbability;
}

function probabilityOf(evidence: QuoteEvidence, similarity = SIMILARITY.usual): number {
  return answerProbability(evidence, similarity, model);
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
