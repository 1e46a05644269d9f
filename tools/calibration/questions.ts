import { contentWords } from "../../src/search/query.ts";
import { isStopWord } from "../../src/text/languages.ts";
import type { Random } from "../random-numbers.ts";
import type { Corpus, GroundTruth } from "./judgments.ts";
import { createRelevance } from "./relevance.ts";

/**
 * Form of a query made of a caption: all of it, every second word unless they are all stop words,
 * or one to three content words in a row.
 */
const FORMS = ["sentence", "half", "words"] as const;
export type QueryForm = (typeof FORMS)[number];

/** A query of an evaluation. */
export interface EvalQuery {
  text: string;
  form: QueryForm;
  /** Caption that the query was made of. */
  caption: string;
  /** Whether the caption describes something in the corpus. */
  isPresent: boolean;
}

const MAX_WORDS = 3;

/**
 * Samples queries; every fourth is about something that isn't in the corpus. The same random
 * numbers give the same queries.
 */
export function sampleQueries(corpus: Corpus, count: number, random: Random): EvalQuery[] {
  const pickOne = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)]!;
  return Array.from({ length: count }, (_, i) => {
    const isPresent = i % 4 !== 3;
    const caption = isPresent
      ? pickOne(pickOne(corpus.truths).captions)
      : pickOne(corpus.absentCaptions);
    const form = pickOne(FORMS);
    return { text: shortenCaption(caption, form, random), form, caption, isPresent };
  });
}

export function shortenCaption(caption: string, form: QueryForm, random: Random): string {
  if (form === "sentence") return caption;
  if (form === "half") {
    const half = caption
      .split(/\s+/)
      .filter((_, i) => i % 2 === 1)
      .join(" ");
    return contentWords(half).every(isStopWord) ? caption : half;
  }
  const words = contentWords(caption);
  const length = Math.min(words.length, 1 + Math.floor(random() * MAX_WORDS));
  const start = Math.floor(random() * (words.length - length + 1));
  return words.slice(start, start + length).join(" ");
}

/** What is relevant to a query, and what may be: its captions leave it open. */
export interface Judgment {
  relevant: GroundTruth[];
  unknown: GroundTruth[];
}

/**
 * Creates a judge that returns the relevant items of a query: its target, and every item whose
 * captions answer it (`createRelevance`).
 */
export function createJudge(truths: readonly GroundTruth[]): (question: EvalQuery) => Judgment {
  const relevance = createRelevance(truths.map(({ captions }) => captions));
  return ({ text, caption }) => {
    const presenceOf = relevance(text);
    const isTarget = ({ captions }: GroundTruth) => captions.includes(caption);
    return {
      relevant: truths.filter((truth, i) => isTarget(truth) || presenceOf(i) === "present"),
      unknown: truths.filter((truth, i) => !isTarget(truth) && presenceOf(i) === "unknown"),
    };
  };
}
