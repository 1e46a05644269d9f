import { stemmer } from "stemmer";
import { contentWords } from "../../../src/search/query.ts";
import { dot } from "../../retrieval.ts";

/** Rank after which a sentence gains little (reciprocal rank fusion). */
const RANK_OFFSET = 10;

/**
 * Returns the sentences that a search would find for a question, best first: by the embeddings'
 * cosine and by the shared words, with reciprocal rank fusion. `vectors` has unit vectors of all
 * texts.
 */
export function findSentences(
  question: string,
  sentences: readonly string[],
  vectors: ReadonlyMap<string, readonly number[]>,
  count: number,
): string[] {
  const stems = new Set(contentWords(question).map((word) => stemmer(word)));
  const shared = (sentence: string) =>
    contentWords(sentence).filter((word) => stems.has(stemmer(word))).length;
  const rankings = [
    rank(sentences, (sentence) => dot(vectors.get(question)!, vectors.get(sentence)!)),
    rank(
      sentences.filter((sentence) => shared(sentence) > 0),
      shared,
    ),
  ];
  const score = (sentence: string) =>
    rankings.reduce((sum, ranks) => {
      const at = ranks.get(sentence);
      return sum + (at === undefined ? 0 : 1 / (RANK_OFFSET + at));
    }, 0);
  return [...rank(sentences, score).keys()].slice(0, count);
}

/** Returns the position of each sentence when sorted by a score, highest first. */
function rank(
  sentences: readonly string[],
  scoreOf: (sentence: string) => number,
): Map<string, number> {
  const scored = sentences.map((sentence) => ({ sentence, score: scoreOf(sentence) }));
  scored.sort((a, b) => b.score - a.score);
  return new Map(scored.map(({ sentence }, i) => [sentence, i]));
}
