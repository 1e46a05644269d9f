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

/** Cosine of an average sentence with a question, for a first choice without embeddings. */
const USUAL_SIMILARITY = 0.5;
/** Cosine of a sentence that says nearly the same: no sentence needs a higher one. */
const HIGH_SIMILARITY = 0.85;

/**
 * Returns the sentences that answer a question with a probability of at least
 * `QUOTES.minProbability`, best first: at most one of each hit, and none that is much less likely
 * than the best. Embeds the most likely ones in one call. While embeddings fail, none is similar.
 */
export async function quoteByMeaning(
  ai: Ai,
  { question, compare }: QuestionReader,
  candidates: readonly Quote[],
): Promise<Quote[]> {
  const bySentence = new Map(candidates.map((quote) => [quote.sentence, quote]));
  const likely = [...bySentence.values()]
    .flatMap((quote) => {
      const evidence = compare(quote.sentence);
      return evidence && mayAnswer(evidence) ? [{ quote, evidence }] : [];
    })
    .toSorted((a, b) => probabilityOf(b.evidence) - probabilityOf(a.evidence))
    .slice(0, QUOTES.maxEmbedded);
  if (likely.length === 0) return [];
  const similarities = await embedAll(
    ai,
    question,
    likely.map(({ quote }) => quote.sentence),
  );
  const rated = likely
    .map(({ quote: { sentence, hit }, evidence }, i) => {
      return { sentence, hit, probability: probabilityOf(evidence, similarities?.[i] ?? 0) };
    })
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
  const isLikely = probabilityOf(evidence, HIGH_SIMILARITY) >= QUOTES.minProbability;
  return evidence.stated !== false && isLikely;
}

function probabilityOf(evidence: QuoteEvidence, similarity = USUAL_SIMILARITY): number {
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
